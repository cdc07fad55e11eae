package sessions_test

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/proc"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

// gate is a [consent.Cage] of which hosts are opened: so many openings stand.
type gate struct{ open atomic.Int32 }

func (*gate) Hold(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func (*gate) Open(*os.File, proc.Access) (func() error, error) { return nil, errors.ErrUnsupported }

func (*gate) HostOf(named string) (string, error) { return named, nil }

func (*gate) Sync() {}

func (g *gate) OpenHost(string) (func() error, error) {
	g.open.Add(1)
	return func() error { g.open.Add(-1); return nil }, nil
}

// A host is asked about in all sessions of a workspace with a call that runs. What one of them
// allows once is open until the calls of all of them have ended.
func TestHostAllowedOnceInOneOfTwo(t *testing.T) {
	g := &gate{}
	var release chan struct{}
	play(t, func(r *rig, c *sessions.Config) {
		c.Room = func(string) (sessions.Room, error) { return sessions.Room{Cage: g}, nil }
		release = make(chan struct{})
		r.backend.prompt = func(context.Context) error { <-release; return nil }
	}, func(r *rig) {
		both := []*session.Session{r.s, r.create(sessions.Options{})}
		var hosts []agent.Host
		for _, s := range both {
			r.send(s)
			synctest.Wait()
			hosts = append(hosts, r.backend.host)
			r.report(hosts[len(hosts)-1], event.ToolExecutionStart{
				ToolCallID: "c",
				ToolName:   "bash",
				By:         event.ByAgent,
			})
		}
		allowed := make(chan bool)
		go func() { allowed <- r.m.AskHost(r.Context(), r.s.Summary().Workspace, "a.example", "") }()
		synctest.Wait()
		r.asked(both[0])
		asked := r.asked(both[1])
		if err := both[1].Decide(r.Context(), asked, consent.Decision{
			Decision: event.Allow,
			Scope:    event.Once,
		}); err != nil {
			t.Fatal(err)
		}
		equal(t, "allowed", <-allowed, true)
		synctest.Wait()
		equal(t, "open", g.open.Load() > 0, true)
		r.report(hosts[1], event.ToolExecutionComplete{ToolCallID: "c", Success: true})
		synctest.Wait()
		equal(t, "open while the other's call runs", g.open.Load() > 0, true)
		r.report(hosts[0], event.ToolExecutionComplete{ToolCallID: "c", Success: true})
		synctest.Wait()
		equal(t, "open after both", g.open.Load(), 0)
		close(release)
	})
}

func (r *rig) report(h agent.Host, d event.Data) {
	r.Helper()
	if err := h.Report(r.Context(), d); err != nil {
		r.Fatal(err)
	}
}

// asked is the id of the question that was logged last of a session.
func (r *rig) asked(s *session.Session) string {
	r.Helper()
	all := r.disk.entries(r, s.ID())
	d, ok := all[len(all)-1].Event.Data.(event.PermissionRequested)
	if !ok {
		r.Fatalf("not asked in %s: %s", s.ID(), r.types(s.ID()))
	}
	return d.RequestID
}

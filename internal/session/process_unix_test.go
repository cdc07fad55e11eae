//go:build unix

package session

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/proc"
)

// program is a Backend whose conversations are processes that do nothing; a prompt
// asks for leave and ends when the process does.
type program struct {
	scripted
	pids chan int
}

func (b *program) Open(_ context.Context, _ agent.Options, h agent.Host) (agent.Conn, error) {
	child, err := proc.Start(proc.Command{
		Args:  []string{"sleep", "1000"},
		Env:   os.Environ(),
		Grace: time.Millisecond,
	})
	if err != nil {
		return nil, err
	}
	c := &programConn{
		scriptedConn: scriptedConn{&b.scripted, h},
		child:        child,
		over:         make(chan struct{}),
	}
	go func() {
		defer close(c.over)
		_, _ = child.Wait()
	}()
	b.pids <- child.PID()
	return c, nil
}

type programConn struct {
	scriptedConn
	child *proc.Child
	over  chan struct{}
}

func (c *programConn) Prompt(ctx context.Context, p agent.Prompt) error {
	go c.h.AskPermission(ctx, agent.Permission{
		ToolName: "bash",
		Kind:     agent.KindShell,
		Action:   "run a command",
		Resource: p.Content,
	})
	select {
	case <-c.over:
		return fmt.Errorf("%w: its process is gone", agent.ErrDied)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *programConn) Close() error {
	_, err := c.child.Stop(context.Background())
	<-c.over
	return err
}

// eventually looks until ok, for what another process brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("never came: %s", what)
		}
	}
}

// THREATS F2: the agent is killed while somebody is asked. The question is closed,
// the user is notified, and the next prompt starts another agent.
func TestFaultF2AgentKilled(t *testing.T) {
	b := &program{pids: make(chan int, 2)}
	r := newRig(t, newMemory(), func(_ *rig, c *Config) { c.Backend = b })
	var err error
	if r.s, err = r.create(t.Context()); err != nil {
		t.Fatal(err)
	}
	asked := func(n int) func() bool {
		return func() bool {
			return len(all[event.PermissionRequested](r)) == n && r.s.Summary().Pending == 1
		}
	}
	id := r.send("make")
	pid := <-b.pids
	eventually(t, "the question", asked(1))
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	res := r.wait(id)
	equal(t, "outcome", res.Outcome, event.Failed)
	equal(t, "error", res.Error, "Agent ended: its process is gone")
	d := all[event.PermissionCompleted](r)
	equal(t, "decisions", len(d), 1)
	equal(t, "decision", d[0].Decision, event.Deny)
	equal(t, "by", d[0].By, event.DecidedByAbort)
	equal(t, "type", all[event.SessionError](r)[0].ErrorType, "died")
	is(t, r.s.Decide(t.Context(), d[0].RequestID, consent.Decision{Decision: event.Allow}),
		consent.ErrGone)
	equal(t, "status", r.s.Summary().Status, event.Idle)

	id = r.send("again")
	if next := <-b.pids; next == pid {
		t.Error("no other agent was started")
	}
	eventually(t, "the next question", asked(2))
	if err := r.s.Abort(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	equal(t, "outcome", r.wait(id).Outcome, event.Aborted)
	r.stop()
	checkLog(t, r.mem.entries(r.s.ID()), true)
}

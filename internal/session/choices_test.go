package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// choosing is a backend whose conversations have choices.
type choosing struct {
	*scripted
	all    agent.Choices
	chosen []string
}

func (b *choosing) Offers(context.Context) agent.Choices { return b.all }

func (b *choosing) Open(ctx context.Context, o agent.Options, h agent.Host) (agent.Conn, error) {
	c, err := b.scripted.Open(ctx, o, h)
	return choosingConn{c, b}, err
}

type choosingConn struct {
	agent.Conn
	b *choosing
}

func (c choosingConn) Choices() agent.Choices { return c.b.all }
func (c choosingConn) SetMode(_ context.Context, id string) error {
	c.b.chosen = append(c.b.chosen, "mode "+id)
	return nil
}

func (c choosingConn) SetEffort(_ context.Context, id string) error {
	c.b.chosen = append(c.b.chosen, "effort "+id)
	return nil
}

func withChoices(r *rig, c *Config) {
	c.Backend = &choosing{scripted: r.backend, all: agent.Choices{
		Mode:    "ask",
		Efforts: []agent.Effort{{ID: "high", Name: "High"}},
		Modes: []agent.Mode{{ID: "ask", Name: "Ask"}, {ID: "plan", Name: "Plan"},
			{ID: "wild", Name: "Wild", Unasked: true}},
	}}
}

func TestChoices(t *testing.T) {
	play(t, withChoices, func(r *rig) {
		b, _ := r.cfg.Backend.(*choosing)
		if c := r.s.Choices(r.Context()); len(c.Modes) != 2 || c.Mode != "ask" || len(c.Models) != 1 {
			r.Errorf("before the agent was started the choices are %+v", c)
		}
		if err := r.s.SetMode(r.Context(), "plan"); err != nil {
			r.Error(err)
		}
		if err := r.s.SetMode(r.Context(), "wild"); !errors.Is(err, eventlog.ErrInvalid) ||
			strings.HasSuffix(err.Error(), "wild") {
			r.Errorf("a mode that does not ask: %v", err)
		}
		r.ask("hello")
		if o := r.backend.opened[0]; o.Mode != "plan" || o.Effort != "" || o.Unasked {
			r.Errorf("it is opened with %+v", o)
		}
		if err := errors.Join(r.s.SetMode(r.Context(), "ask"), r.s.SetEffort(r.Context(), "high"),
			r.s.SetEffort(r.Context(), "high")); err != nil {
			r.Error(err)
		}
		if got := strings.Join(b.chosen, ", "); got != "mode ask, effort high" {
			r.Errorf("the agent is told %s", got)
		}
		if err := r.s.SetEffort(r.Context(), "low"); !errors.Is(err, eventlog.ErrInvalid) {
			r.Errorf("an unknown effort: %v", err)
		}
		if sum := r.s.Summary(); sum.Open.Mode != "ask" || sum.Open.Effort != "high" {
			r.Errorf("the row says %+v", sum.Open)
		}
	})
	play(t, nil, func(r *rig) { // an agent without choices
		if err := r.s.SetMode(r.Context(), "plan"); !errors.Is(err, agent.ErrUnsupported) {
			r.Error(err)
		}
	})
}

func TestAnAgentThatStopsAsking(t *testing.T) {
	stray := event.SessionModeChanged{Mode: "wild", Name: "Wild", Unasked: true}
	for _, within := range []bool{true, false} {
		play(t, withChoices, func(r *rig) {
			r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
				if !within || p.Content != "stray" {
					return nil
				}
				if err := h.Report(ctx, stray); err != nil {
					return err
				}
				<-ctx.Done()
				return context.Cause(ctx)
			}
			if err := r.s.SetMode(r.Context(), "plan"); err != nil {
				r.Fatal(err)
			}
			res := r.ask("stray")
			if within != strings.Contains(res.Error, "the mode Wild, in which it acts without asking you") {
				r.Errorf("the turn ends with %q", res.Error)
			}
			if !within {
				if err := r.backend.host.Report(r.Context(), stray); err != nil {
					r.Error(err)
				}
			}
			synctest.Wait()
			if modes := all[event.SessionModeChanged](r); len(modes) != 3 || modes[1].Mode != "wild" ||
				modes[2].Mode != "plan" {
				r.Errorf("the log says %+v", modes)
			}
			if told := all[event.SessionError](r); len(told) != 1 || told[0].Kind != event.KindDenied {
				r.Errorf("the user is told %+v", told)
			}
			r.ask("hello")
			if n := len(r.backend.opened); n != 2 || r.backend.opened[1].Mode != "plan" {
				r.Errorf("%d conversations were opened, the last with %+v", n, r.backend.opened[n-1])
			}
		})
	}
	play(t, func(r *rig, c *Config) {
		withChoices(r, c)
		c.Permissions = consent.ModeAllow
	}, func(r *rig) {
		r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
			return h.Report(ctx, stray)
		}
		if res := r.ask("stray"); res.Error != "" || r.s.Summary().Open.Mode != "wild" ||
			len(r.s.Choices(r.Context()).Modes) != 3 {
			r.Errorf("with everything allowed: %+v, %+v", res, r.s.Choices(r.Context()))
		}
	})
}

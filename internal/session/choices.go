package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Choices returns what the session's agent lets its user choose: of the open
// conversation, else as far as it is known without one. Modes in which the agent acts
// without asking are left out unless the user allows everything.
func (s *Session) Choices(ctx context.Context) agent.Choices {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	var c agent.Choices
	if chooser, ok := s.chooser(conn); ok {
		c, _ = contain.Call(s.log(), "asking for choices", func() (agent.Choices, error) { return chooser.Choices(), nil })
	} else if b, ok := s.cfg.Backend.(agent.Offerer); ok {
		c, _ = contain.Call(s.log(), "asking for choices", func() (agent.Choices, error) { return b.Offers(ctx), nil })
	}
	if s.cfg.Backend != nil && len(c.Models) == 0 {
		c.Models, _ = contain.Call(s.log(), "asking for models", func() ([]agent.Model, error) { return s.cfg.Backend.Models(ctx) })
	}
	if s.cfg.Permissions != consent.ModeAllow {
		c.Modes = slices.DeleteFunc(slices.Clone(c.Modes), func(m agent.Mode) bool { return m.Unasked })
	}
	sum := s.Summary()
	c.Model, c.Mode = cmp.Or(sum.Model, c.Model), cmp.Or(sum.Open.Mode, c.Mode)
	if slices.ContainsFunc(c.Efforts, func(e agent.Effort) bool { return e.ID == sum.Open.Effort }) {
		c.Effort = sum.Open.Effort // the model may be another by now
	}
	return c
}

func (s *Session) chooser(conn *liveConn) (agent.Chooser, bool) {
	if conn == nil {
		return nil, false
	}
	c, ok := conn.Conn.(agent.Chooser)
	return c, ok
}

// SetMode changes how the agent works. It returns [eventlog.ErrInvalid] for a mode that is not
// among the choices, and [agent.ErrUnsupported] for an agent without any.
func (s *Session) SetMode(ctx context.Context, id string) error {
	mode, err := s.mode(ctx, id)
	if err != nil {
		return err
	}
	return s.choose(ctx, "changing the mode", id == s.Summary().Open.Mode, func(c agent.Chooser) error { return c.SetMode(ctx, id) }, mode)
}

// mode returns what the log says of a mode that may be chosen.
func (s *Session) mode(ctx context.Context, id string) (d event.SessionModeChanged, err error) {
	all := s.Choices(ctx).Modes
	i := slices.IndexFunc(all, func(m agent.Mode) bool { return m.ID == id })
	if i < 0 {
		names := make([]string, 0, len(all))
		for _, m := range all {
			names = append(names, m.ID)
		}
		return d, s.noChoice("mode", id, names)
	}
	return event.SessionModeChanged{Mode: id, Name: all[i].Name, Unasked: all[i].Unasked}, nil
}

// SetEffort changes how hard the model thinks; empty: as hard as it does by itself.
// Errors as of [Session.SetMode].
func (s *Session) SetEffort(ctx context.Context, id string) error {
	all := s.Choices(ctx).Efforts
	if id != "" && !slices.ContainsFunc(all, func(e agent.Effort) bool { return e.ID == id }) {
		names := make([]string, 0, len(all))
		for _, e := range all {
			names = append(names, e.ID)
		}
		return s.noChoice("effort", id, names)
	}
	return s.choose(ctx, "changing the effort", id == s.Summary().Open.Effort, func(c agent.Chooser) error { return c.SetEffort(ctx, id) },
		event.SessionModelChange{NewModel: s.Summary().Model, Effort: id})
}

// noChoice refuses what is not among the choices.
func (s *Session) noChoice(what, id string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("%w: %s has no %s to choose, or says which only once it was started: send it a prompt first", agent.ErrUnsupported, s.Summary().Backend, what)
	}
	return fmt.Errorf("%w: %s has no %s %q that may be chosen; there are %s", eventlog.ErrInvalid, s.Summary().Backend, what, id, strings.Join(names, ", "))
}

// choose tells the open conversation of a choice, and the log.
func (s *Session) choose(ctx context.Context, what string, same bool, tell func(agent.Chooser) error, said event.Data) error {
	s.mu.Lock()
	err := s.checkUsable()
	conn := s.conn
	s.mu.Unlock()
	if err != nil || same {
		return err
	}
	if c, ok := s.chooser(conn); ok {
		if _, err := contain.Call(s.log(), what, func() (struct{}, error) { return struct{}{}, tell(c) }); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return s.events.Change(ctx, func() error { return s.events.Append(said) })
}

// stopUnaskedLocked stops an agent that went over to a mode in which it does not ask, unless
// the user allows everything. before is the mode it had.
func (h *host) stopUnaskedLocked(d event.SessionModeChanged, before string) {
	s := h.s
	if !d.Unasked || s.cfg.Permissions == consent.ModeAllow {
		return
	}
	why := unaskedMode{Agent: s.events.Summary().Backend, Mode: cmp.Or(d.Name, d.Mode)}
	told := false // by the end of the turn, which may come before what follows
	if t := s.turn; t != nil && !t.ended {
		t.stop(why)
		told = errors.Is(context.Cause(t.whole), why)
	}
	conn := s.conn
	s.wg.Go(func() {
		if conn != nil && conn.host == h {
			s.disconnect(conn) // the next one begins in a mode that asks
		}
		err := s.events.Persist(s.ctx, func() error {
			back := []event.Data{event.SessionModeChanged{Mode: before}}
			if !told {
				back = append(back, sessionErrorOf(why))
			}
			return s.events.Append(back...)
		})
		if err != nil && !errors.Is(err, eventlog.ErrClosed) && s.ctx.Err() == nil {
			s.log().Warn("that an agent goes back to its mode was not logged", "error", err)
		}
	})
}

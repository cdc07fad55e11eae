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

// chooser is what the user may choose of the agent: a model, a mode, an effort, a title.
type chooser struct {
	*core
	*conversation
}

// Choices returns what the session's agent lets its user choose: of the open conversation, else as
// far as it is known without one. Modes in which the agent acts without asking are left out unless
// the user allows everything.
func (s *chooser) Choices(ctx context.Context) agent.Choices {
	var c agent.Choices
	if chooser, ok := can[agent.Chooser](s.current()); ok {
		c, _ = contain.Call(s.log(), "asking for choices", func() (agent.Choices, error) {
			return chooser.Choices(), nil
		})
	} else if b, ok := s.cfg.Backend.(agent.Offerer); ok {
		c, _ = contain.Call(s.log(), "asking for choices", func() (agent.Choices, error) {
			return b.Offers(ctx), nil
		})
	}
	if s.cfg.Backend != nil && len(c.Models) == 0 {
		c.Models, _ = contain.Call(s.log(), "asking for models", func() ([]agent.Model, error) {
			return s.cfg.Backend.Models(ctx)
		})
	}
	if s.cfg.Permissions != consent.ModeAllow {
		c.Modes = slices.DeleteFunc(slices.Clone(c.Modes), func(m agent.Mode) bool { return m.Unasked })
	}
	sum := s.events.Summary()
	c.Model, c.Mode = cmp.Or(sum.Model, c.Model), cmp.Or(sum.Open.Mode, c.Mode)
	if slices.ContainsFunc(c.Efforts, func(e agent.Effort) bool { return e.ID == sum.Open.Effort }) {
		c.Effort = sum.Open.Effort // the model may be another by now
	}
	return c
}

// current returns the open conversation; nil if there is none.
func (s *conversation) current() *liveConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// choice is one that a user makes.
type choice struct {
	what string                      // for errors: "change the mode"
	made func(eventlog.Summary) bool // whether it is made already
	hand func(conn *liveConn) error  // to the open conversation
	log  func() event.Data           // what the log says of it
}

// choose hands a choice to the open conversation, if there is one, and logs it, unless it is made
// already.
func (s *chooser) choose(ctx context.Context, c choice) error {
	s.mu.Lock()
	err, conn := s.checkUsable(), s.conn
	s.mu.Unlock()
	if err != nil || c.made(s.events.Summary()) {
		return err
	}
	if conn != nil {
		if err := s.contained(c.what, func() error { return c.hand(conn) }); err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
	}
	return s.events.Change(ctx, func() error {
		if c.made(s.events.Summary()) { // the agent reported it already
			return nil
		}
		return s.events.Append(c.log())
	})
}

// byChooser hands a choice to a conversation that takes it.
func byChooser(hand func(agent.Chooser) error) func(*liveConn) error {
	return func(conn *liveConn) error {
		if c, ok := can[agent.Chooser](conn); ok {
			return hand(c)
		}
		return nil
	}
}

// SetMode changes how the agent works. It returns [eventlog.ErrInvalid] for a mode that is not
// among the choices, and [agent.ErrUnsupported] for an agent without any.
func (s *chooser) SetMode(ctx context.Context, id string) error {
	d, err := s.mode(ctx, id)
	if err != nil {
		return err
	}
	return s.choose(ctx, choice{"change the mode", func(sum eventlog.Summary) bool {
		return id == sum.Open.Mode
	},
		byChooser(func(c agent.Chooser) error {
			return c.SetMode(ctx, id)
		}), func() event.Data { return d }})
}

// mode returns what the log says of a mode that may be chosen.
func (s *chooser) mode(ctx context.Context, id string) (d event.SessionModeChanged, err error) {
	var ids []string
	for _, m := range s.Choices(ctx).Modes {
		if ids = append(ids, m.ID); m.ID == id {
			return event.SessionModeChanged{Mode: id, Name: m.Name, Unasked: m.Unasked}, nil
		}
	}
	return d, s.noChoice("mode", id, ids)
}

// SetEffort changes how hard the model thinks; empty means as hard as it does by itself. Errors as
// of [Session.SetMode].
func (s *chooser) SetEffort(ctx context.Context, id string) error {
	var ids []string
	for _, e := range s.Choices(ctx).Efforts {
		ids = append(ids, e.ID)
	}
	if id != "" && !slices.Contains(ids, id) {
		return s.noChoice("effort", id, ids)
	}
	return s.choose(ctx, choice{"change the effort", func(sum eventlog.Summary) bool {
		return id == sum.Open.Effort
	},
		byChooser(func(c agent.Chooser) error { return c.SetEffort(ctx, id) }),
		func() event.Data {
			return event.SessionModelChange{NewModel: s.events.Summary().Model, Effort: id}
		}})
}

// SetModel changes the model from the next turn on. A backend that cannot change it refuses with
// [agent.ErrUnsupported].
func (s *chooser) SetModel(ctx context.Context, model string) error {
	effort := s.events.Summary().Open.Effort
	return s.choose(ctx, choice{fmt.Sprintf("change the model to %q", model),
		func(sum eventlog.Summary) bool { return model == sum.Model },
		func(conn *liveConn) error {
			err := conn.SetModel(ctx, model)
			// what the new model does not have is given up
			if c, ok := can[agent.Chooser](conn); ok && err == nil {
				effort = c.Choices().Effort
			}
			return err
		}, func() event.Data { return event.SessionModelChange{NewModel: model, Effort: effort} }})
}

// noChoice refuses what is not among the choices.
func (s *chooser) noChoice(what, id string, ids []string) error {
	if len(ids) == 0 {
		return fmt.Errorf(
			"%w: %s has no %s to choose, or says which only once it was started: send it a prompt first",
			agent.ErrUnsupported, s.events.Summary().Backend, what)
	}
	return fmt.Errorf("%w: %s has no %s %q that may be chosen; there are %s", eventlog.ErrInvalid,
		s.events.Summary().Backend, what, id, strings.Join(ids, ", "))
}

// stopUnaskedLocked stops an agent that went over to a mode in which it does not ask, unless the
// user allows everything. before is the mode it had.
func (h *host) stopUnaskedLocked(d event.SessionModeChanged, before string) {
	s := h.s
	if !d.Unasked || s.cfg.Permissions == consent.ModeAllow {
		return
	}
	why := unaskedMode{Agent: s.events.Summary().Backend, Mode: cmp.Or(d.Name, d.Mode)}
	reported := false // by the end of the turn, which may come before what follows
	if t := s.turn; t != nil && !t.ended {
		t.stop(why)
		reported = errors.Is(context.Cause(t.whole), why)
	}
	conn := s.conn
	s.wg.Go(func() {
		if conn != nil && conn.host == h {
			s.disconnect(conn) // the next one begins in a mode that asks
		}
		err := s.events.Persist(s.ctx, func() error {
			back := []event.Data{event.SessionModeChanged{Mode: before}}
			if !reported {
				back = append(back, sessionErrorOf(why))
			}
			return s.events.Append(back...)
		})
		if err != nil && !errors.Is(err, eventlog.ErrClosed) && s.ctx.Err() == nil {
			s.log().Warn("that an agent goes back to its mode was not logged", "error", err)
		}
	})
}

// Note logs what the user did with the session outside of its turns.
func (s *core) Note(ctx context.Context, d event.Data) error {
	return s.change(ctx, func() error { return s.events.Append(d) })
}

// Rename gives the session a title, which its agent gets as well; [eventlog.ErrInvalid] for an
// empty or too long one.
func (s *chooser) Rename(ctx context.Context, title string) error {
	title, err := eventlog.CleanTitle(title)
	if err != nil {
		return err
	}
	if title == "" {
		return fmt.Errorf("%w: the title is empty", eventlog.ErrInvalid)
	}
	var conn *liveConn
	err = s.change(ctx, func() (err error) {
		conn = s.conn
		if title != s.events.Summary().Title {
			err = s.events.Append(event.SessionTitleChanged{Title: title})
		}
		s.titleChosen = s.titleChosen || err == nil
		return err
	})
	if err != nil || conn == nil {
		return err
	}
	err = s.contained("giving the agent its title", func() error { return conn.SetTitle(ctx, title) })
	if err != nil && !errors.Is(err, agent.ErrUnsupported) {
		s.log().Warn("the agent did not take the title", "error", err)
	}
	return nil
}

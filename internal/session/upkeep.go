package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/wording"
)

// Compact has the agent replace what was said by a summary, in a turn of its own, which
// waits for the one that runs. focus says what the summary must not lose; it may be
// empty. It returns [agent.ErrUnsupported] where the agent cannot.
func (s *Session) Compact(ctx context.Context, focus string) error {
	if err := s.able(ctx, agent.CanCompact); err != nil {
		return err
	}
	focus = strings.ToValidUTF8(strings.TrimSpace(focus), "\uFFFD")
	cause := "You had the conversation summed up."
	if focus != "" {
		cause = "You had the conversation summed up, with an eye to: " + wording.FirstLine(focus, 200)
	}
	own := &ownWork{ctx: s.ctx, by: event.ByUser, cause: eventlog.Brief(cause), with: func(ctx context.Context, conn *liveConn) error {
		c, ok := conn.Conn.(agent.Compacter)
		if !ok {
			return s.cannot(agent.CanCompact)
		}
		return c.Compact(ctx, focus)
	}}
	return s.events.Change(ctx, func() error {
		switch err := s.checkUsable(); {
		case err != nil:
			return err
		case s.rewinding:
			return fmt.Errorf("%w: the agent goes back to an earlier prompt; try again in a moment", ErrWorking)
		}
		if err := s.beginLocked(); err != nil {
			return err
		}
		s.enqueueLocked(&prompt{own: own, done: make(chan struct{})})
		return nil
	})
}

// Clear has the agent forget the whole conversation, and logs that it did. Files stay as
// they are. [ErrWorking] while something runs, [agent.ErrUnsupported] where the agent
// cannot.
func (s *Session) Clear(ctx context.Context) error {
	if err := s.able(ctx, agent.CanClear); err != nil {
		return err
	}
	if len(s.Tasks()) > 0 {
		return fmt.Errorf("%w in the background; stop it, or wait for its end, then clear the conversation", ErrWorking)
	}
	return s.aside(ctx, func(ctx context.Context) error {
		left := s.Summary().Open.Left
		first, after := "", int64(0)
		err := s.events.Scan(ctx, 0, func(e event.Entry) bool {
			if d, ok := e.Event.Data.(event.UserMessage); ok && !eventlog.IsLeft(left, e.Seq) {
				first, after = d.MessageID, e.Seq-1
			}
			return first == ""
		})
		if err != nil || first == "" { // nothing was said
			return err
		}
		err = s.withAgent(ctx, "clearing the conversation", func(conn *liveConn) error {
			c, ok := conn.Conn.(agent.Clearer)
			if !ok {
				return s.cannot(agent.CanClear)
			}
			return c.Clear(ctx)
		})
		if err != nil {
			return fmt.Errorf("clear the conversation: %w", err)
		}
		s.mu.Lock()
		s.taken = ""
		s.mu.Unlock()
		return s.logRewound(first, after)
	})
}

// Inside asks the agent what it works with; one that rests is started.
// [agent.ErrUnsupported] where it tells of nothing.
func (s *Session) Inside(ctx context.Context) (agent.Inside, error) {
	var all agent.Inside
	s.mu.Lock()
	err := s.checkUsable()
	if err == nil {
		s.wg.Add(1)
	}
	s.mu.Unlock()
	if err != nil {
		return all, err
	}
	defer s.wg.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	err = s.withAgent(ctx, "asking what the agent works with", func(conn *liveConn) error {
		d, ok := conn.Conn.(agent.Describer)
		if !ok {
			return fmt.Errorf("%s does not tell what it works with: %w", s.Summary().Backend, agent.ErrUnsupported)
		}
		all, err = d.Describe(ctx)
		return err
	})
	return all, err
}

// able returns why the agent cannot do something, or nil.
func (s *Session) able(ctx context.Context, what agent.Ability) error {
	if !slices.Contains(s.Choices(ctx).Can, what) {
		return s.cannot(what)
	}
	return nil
}

func (s *Session) cannot(what agent.Ability) error {
	does := map[agent.Ability]string{agent.CanCompact: "sum up its conversation", agent.CanClear: "forget its conversation"}[what]
	return fmt.Errorf("%s cannot %s: %w; begin a new session instead", s.Summary().Backend, does, agent.ErrUnsupported)
}

package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/calls"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/wording"
)

// recall is what the agent remembers: clearing, and summing up.
type recall struct {
	*core
	*conversation
	*chooser
	*prompts
}

// withAgent has the agent do what is asked of it, named by what. One whose end was not noticed yet
// is asked again: another process remembers as much.
func (s *conversation) withAgent(ctx context.Context, what string, do func(*liveConn) error) error {
	for again := false; ; again = true {
		conn, err := s.connect(ctx)
		if err != nil {
			return err
		}
		err = s.contained(what, func() error { return do(conn) })
		if !errors.Is(err, agent.ErrDied) {
			return err
		}
		if s.disconnect(conn); again {
			return err
		}
	}
}

// readTaken reads what a branch took over from another session, to be given to its agent with the
// next prompt. forgot says that the agent knows nothing of the session; else it knows that from the
// first prompt on that it can go back to.
func (s *conversation) readTaken(ctx context.Context, forgot bool) error {
	sum := s.events.Summary()
	if !sum.Open.Branched {
		return nil
	}
	var all []event.Entry
	knows := false
	err := s.events.Scan(ctx, 0, func(e event.Entry) bool {
		d, _ := e.Event.Data.(event.AssistantTurnStart)
		knows = knows || d.PromptID != "" && !forgot && !eventlog.IsLeft(sum.Open.Left, e.Seq)
		all = append(all, e)
		return true
	})
	if knows {
		s.setTaken("")
	} else {
		s.setTaken(branchText(branchHead, BranchEvents(all, sum.Open.Left)))
	}
	return err
}

func (s *conversation) setTaken(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = text
}

// withTaken returns the prompt of a turn with what its agent still has to be given.
func (s *conversation) withTaken(p agent.Prompt, owed string) agent.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, text := range map[string]string{"the conversation so far": s.taken,
		"what was brought back": owed} {
		if text != "" {
			p.Attachments = append(slices.Clone(p.Attachments),
				agent.Attachment{Name: name, MimeType: "text/markdown", Data: []byte(text)})
		}
	}
	return p
}

// Clear has the agent forget the whole conversation, and logs that it did. Files stay as they are.
// [ErrWorking] while something runs, [agent.ErrUnsupported] where the agent cannot.
func (s *recall) Clear(ctx context.Context) error {
	if err := s.able(ctx, agent.CanClear); err != nil {
		return err
	}
	if len(s.Tasks()) > 0 {
		return fmt.Errorf(
			"%w in the background; stop it, or wait for its end, then clear the conversation", ErrWorking)
	}
	return s.aside(ctx, func(ctx context.Context) error {
		left := s.events.Summary().Open.Left
		var prompts []calls.Prompt
		err := s.events.Index(ctx, func(x *calls.Index) { prompts = x.Prompts() })
		i := slices.IndexFunc(prompts, func(p calls.Prompt) bool { return !eventlog.IsLeft(left, p.Seq) })
		if err != nil || i < 0 { // the conversation is empty
			return err
		}
		err = s.withAgent(ctx, "clearing the conversation", func(conn *liveConn) error {
			if c, ok := can[agent.Clearer](conn); ok {
				return c.Clear(ctx)
			}
			return s.cannot(agent.CanClear)
		})
		if err != nil {
			return fmt.Errorf("clear the conversation: %w", err)
		}
		s.setTaken("")
		d := event.SessionRewound{ToMessageID: prompts[i].ID, After: prompts[i].Seq - 1}
		return s.events.Persist(s.ctx, func() error { return s.beginLocked(d) })
	})
}

// Compact has the agent replace the conversation by a summary, in a turn of its own, which waits for
// the one that runs. focus says what the summary must not lose; it may be empty. It returns
// [agent.ErrUnsupported] where the agent cannot.
func (s *recall) Compact(ctx context.Context, focus string) error {
	if err := s.able(ctx, agent.CanCompact); err != nil {
		return err
	}
	focus = strings.ToValidUTF8(strings.TrimSpace(focus), "\uFFFD")
	cause := "You had the conversation summarized."
	if focus != "" {
		cause = "You had the conversation summarized, with a focus on: " + wording.FirstLine(focus, 200)
	}
	p := newOwnWork(s.ctx, event.ByUser, cause, func(ctx context.Context, conn *liveConn) error {
		if c, ok := can[agent.Compacter](conn); ok {
			return c.Compact(ctx, focus)
		}
		return s.cannot(agent.CanCompact)
	})
	return s.change(ctx, func() error {
		if s.rewinding {
			return fmt.Errorf("%w: the agent goes back to an earlier prompt; try again in a moment",
				ErrWorking)
		}
		if err := s.beginLocked(); err != nil {
			return err
		}
		s.enqueueLocked(p)
		return nil
	})
}

// Inside asks the agent what it works with; one that was closed for being idle is started.
// [agent.ErrUnsupported] where it reports nothing.
func (s *recall) Inside(ctx context.Context) (all agent.Inside, err error) {
	ctx, leave, err := s.join(ctx)
	if err != nil {
		return all, err
	}
	defer leave()
	err = s.withAgent(ctx, "asking what the agent works with", func(conn *liveConn) (err error) {
		d, ok := can[agent.Describer](conn)
		if !ok {
			return fmt.Errorf("%s does not report what it works with: %w", s.events.Summary().Backend,
				agent.ErrUnsupported)
		}
		all, err = d.Describe(ctx)
		return err
	})
	return all, err
}

// able returns why the agent cannot do something, or nil.
func (s *chooser) able(ctx context.Context, what agent.Ability) error {
	if !slices.Contains(s.Choices(ctx).Can, what) {
		return s.cannot(what)
	}
	return nil
}

func (s *chooser) cannot(what agent.Ability) error {
	does := map[agent.Ability]string{agent.CanCompact: "sum up its conversation",
		agent.CanClear: "forget its conversation"}[what]
	return fmt.Errorf("%s cannot %s: %w; begin a new session instead", s.events.Summary().Backend,
		does, agent.ErrUnsupported)
}

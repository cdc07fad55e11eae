package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Rewind has the agent forget a prompt and all that came after it, and logs that it did.
// Files stay as they are. [ErrWorking] while a turn runs or waits, [eventlog.ErrNotFound] for a
// prompt that the log does not have, and [agent.ErrUnsupported] where the agent cannot go
// back to it.
func (s *Session) Rewind(ctx context.Context, messageID string) error {
	prompt, err := s.Prompt(ctx, messageID)
	if err != nil {
		return err
	}
	if prompt.Name == "" {
		return s.noRewind()
	}
	return s.aside(ctx, func(ctx context.Context) error {
		err := s.withAgent(ctx, "going back", func(conn *liveConn) error {
			rewinder, ok := conn.Conn.(agent.Rewinder)
			if !ok {
				return s.noRewind()
			}
			return rewinder.Rewind(ctx, prompt.Name)
		})
		if err != nil {
			return fmt.Errorf("go back to that prompt: %w", err)
		}
		if err := s.logRewound(messageID, prompt.Seq-1); err != nil {
			return err
		}
		return s.readTaken(ctx, false)
	})
}

// aside has the agent do something while no turn runs and none begins.
func (s *Session) aside(ctx context.Context, do func(context.Context) error) error {
	if err := s.events.Change(ctx, s.beginRewindLocked); err != nil {
		return err
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rewinding = false
		s.wg.Done()
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	return do(ctx)
}

// logRewound logs that the agent forgot a prompt and all that came after a place.
func (s *Session) logRewound(messageID string, after int64) error {
	return s.events.Persist(s.ctx, func() error {
		return s.beginLocked(event.SessionRewound{ToMessageID: messageID, After: after})
	})
}

// readTaken reads what a branch took over from another session, to be given to its agent
// with the next prompt. forgot says that the agent knows nothing of the session; else it
// knows that from the first prompt on that it can go back to.
func (s *Session) readTaken(ctx context.Context, forgot bool) error {
	sum := s.Summary()
	if !sum.Open.Branched {
		return nil
	}
	var taken BranchText
	knows := false
	err := s.events.Scan(ctx, 0, func(e event.Entry) bool {
		if eventlog.IsLeft(sum.Open.Left, e.Seq) {
			return true
		}
		d, _ := e.Event.Data.(event.AssistantTurnStart)
		knows = knows || d.PromptID != "" && !forgot
		taken.Take(e)
		return true
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken = taken.String(); knows {
		s.taken = ""
	}
	return err
}

// withTaken returns the prompt of a turn with what its agent still has to be given.
func (s *Session) withTaken(p agent.Prompt) agent.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken != "" {
		p.Attachments = append(slices.Clone(p.Attachments), agent.Attachment{Name: "the conversation so far", MimeType: "text/markdown", Data: []byte(s.taken)})
	}
	return p
}

// withAgent has the agent do what is asked of it, named by what. One whose end was not
// noticed yet is asked again: another process remembers as much.
func (s *Session) withAgent(ctx context.Context, what string, do func(*liveConn) error) error {
	for again := false; ; again = true {
		conn, err := s.connect(ctx)
		if err != nil {
			return err
		}
		_, err = contain.Call(s.log(), what, func() (struct{}, error) { return struct{}{}, do(conn) })
		if !errors.Is(err, agent.ErrDied) {
			return err
		}
		if s.disconnect(conn); again {
			return err
		}
	}
}

// beginRewindLocked keeps turns from beginning until the agent went back.
func (s *Session) beginRewindLocked() error {
	switch err := s.checkUsable(); {
	case err != nil:
		return err
	case s.turn != nil || s.rewinding:
		return fmt.Errorf("%w; stop it, or wait for its end, then go back", ErrWorking)
	}
	if len(s.queue) > 0 {
		return fmt.Errorf("%w, or waits to be sent: send what waits, or take it back, then go back", ErrWorking)
	}
	s.rewinding = true
	s.wg.Add(1)
	return nil
}

func (s *Session) noRewind() error {
	return fmt.Errorf("%s cannot go back to that prompt: %w; branch there instead", s.Summary().Backend, agent.ErrUnsupported)
}

package session

import (
	"context"
	"errors"
	"fmt"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Rename gives the session a title, which its agent is told; [eventlog.ErrInvalid] for an empty
// or too long one.
func (s *Session) Rename(ctx context.Context, title string) error {
	title, err := eventlog.CleanTitle(title)
	if err != nil {
		return err
	}
	if title == "" {
		return fmt.Errorf("%w: the title is empty", eventlog.ErrInvalid)
	}
	var conn *liveConn
	err = s.events.Change(ctx, func() error {
		conn = s.conn
		err := s.checkUsable()
		if err == nil && title != s.events.Summary().Title {
			err = s.events.Append(event.SessionTitleChanged{Title: title})
		}
		s.titleChosen = s.titleChosen || err == nil
		return err
	})
	if err != nil || conn == nil {
		return err
	}
	_, err = contain.Call(s.log(), "telling the agent its title", func() (struct{}, error) { return struct{}{}, conn.SetTitle(ctx, title) })
	if err != nil && !errors.Is(err, agent.ErrUnsupported) {
		s.log().Warn("the agent did not take the title", "error", err)
	}
	return nil
}

// SetModel changes the model from the next turn on. A backend that cannot change it
// refuses with [agent.ErrUnsupported].
func (s *Session) SetModel(ctx context.Context, model string) error {
	s.mu.Lock()
	err := s.checkUsable()
	conn, same, effort := s.conn, model == s.events.Summary().Model, s.events.Summary().Open.Effort
	s.mu.Unlock()
	if err != nil || same {
		return err
	}
	if conn != nil {
		_, err := contain.Call(s.log(), "changing the model", func() (struct{}, error) { return struct{}{}, conn.SetModel(ctx, model) })
		if err != nil {
			return fmt.Errorf("change the model to %q: %w", model, err)
		}
		if c, ok := s.chooser(conn); ok { // what the new model does not have is given up
			effort = c.Choices().Effort
		}
	}
	return s.events.Change(ctx, func() error {
		if model == s.events.Summary().Model { // the agent reported it already
			return nil
		}
		return s.events.Append(event.SessionModelChange{NewModel: model, Effort: effort})
	})
}

package session

import (
	"context"
	"fmt"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// WaitTurn waits until the turn of a message has ended, or the turn it joined, and
// returns what came of it, read from the log. [eventlog.ErrNotFound] for a message this
// session never accepted.
func (s *Session) WaitTurn(ctx context.Context, messageID string) (eventlog.TurnResult, error) {
	s.mu.Lock()
	p := s.prompts[messageID]
	after := s.places[messageID] // 0: of an earlier process, or of none
	s.mu.Unlock()
	if p != nil {
		select {
		case <-p.done:
		case <-ctx.Done():
			return eventlog.TurnResult{}, ctx.Err()
		}
	}
	r := eventlog.NewResult(messageID)
	accepted, whole := false, false
	err := s.events.Scan(ctx, after, func(e event.Entry) bool {
		if m, ok := e.Event.Data.(event.UserMessage); ok && m.MessageID == messageID {
			accepted = true
		}
		whole = r.Add(e.Event.Data)
		return !whole
	})
	switch {
	case err != nil:
		return eventlog.TurnResult{}, err
	case whole:
		return r.TurnResult(), nil
	case accepted:
		return eventlog.TurnResult{}, fmt.Errorf("the end of the turn of message %s is not in the log: %w", messageID, eventlog.ErrClosed)
	}
	return eventlog.TurnResult{}, fmt.Errorf("message %s: %w", messageID, eventlog.ErrNotFound)
}

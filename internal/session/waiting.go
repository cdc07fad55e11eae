package session

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"webchat/internal/consent"
	"webchat/internal/event"
)

// The order of the log is the order of sending, so a prompt that waits is edited or moved
// by taking it back and logging it again, with those that come after it.

// EditWaiting gives a prompt that waits another text and returns the id it has from then
// on; those that wait for the end of the old id wait for this one. [consent.ErrGone] for
// a prompt that does not wait, and the errors of [Session.Send] for the text.
func (s *Session) EditWaiting(ctx context.Context, messageID, content string) (newID string, err error) {
	err = s.changeWaiting(ctx, messageID, func(waits []*prompt, i int) ([]*prompt, error) {
		if err := validate(Message{Content: content, Attachments: waits[i].given}); err != nil {
			return nil, err
		}
		edited := *waits[i]
		edited.content = content
		waits[i] = &edited
		return waits[i:], nil
	}, &newID)
	return newID, err
}

// SendEarlier has a prompt that waits change places with the one before it, or goes on with
// the queue at the first one after a stop, and returns the id it has from then on. [consent.ErrGone] for a prompt that does not wait.
func (s *Session) SendEarlier(ctx context.Context, messageID string) (newID string, err error) {
	err = s.changeWaiting(ctx, messageID, func(waits []*prompt, i int) ([]*prompt, error) {
		if i == 0 {
			s.releaseLocked()
			return nil, nil
		}
		// The one before goes behind it; it keeps its own place in the log.
		return append([]*prompt{waits[i-1]}, waits[i+1:]...), nil
	}, &newID)
	return newID, err
}

// Withdraw takes back a prompt that waits: it has no turn. [consent.ErrGone] for a prompt
// that does not wait.
func (s *Session) Withdraw(ctx context.Context, messageID string) error {
	return s.events.Change(ctx, func() error {
		p, err := s.waitingLocked(messageID)
		if err != nil {
			return err
		}
		if err := s.beginLocked(event.UserMessageWithdrawn{MessageID: p.id}); err != nil {
			return err
		}
		s.queue = slices.DeleteFunc(s.queue, func(q *prompt) bool { return q == p })
		s.doneLocked(p)
		return nil
	})
}

// changeWaiting logs the prompts again that change returns, in that order; they wait at
// the end of the queue. newID becomes the id that the prompt has then.
func (s *Session) changeWaiting(ctx context.Context, messageID string, change func(waits []*prompt, i int) (again []*prompt, err error), newID *string) error {
	return s.events.Change(ctx, func() error {
		p, err := s.waitingLocked(messageID)
		if err != nil {
			return err
		}
		waits := slices.DeleteFunc(slices.Clone(s.queue), func(q *prompt) bool { return q.own != nil })
		again, err := change(waits, slices.Index(waits, p))
		if err != nil {
			return err
		}
		*newID = p.id
		var back, anew []event.Data
		renamed := map[string]*prompt{} // by the id before
		for _, q := range again {
			next := *q
			next.id = string(event.NewID())
			renamed[q.id] = &next
			back = append(back, event.UserMessageWithdrawn{MessageID: q.id, As: next.id})
			anew = append(anew, event.UserMessage{MessageID: next.id, Content: next.content, Attachments: next.given})
			if q.id == p.id {
				*newID = next.id
			}
		}
		if len(again) == 0 {
			return nil
		}
		place := s.events.Summary().LastSeq
		if err := s.beginLocked(append(back, anew...)...); err != nil {
			return err
		}
		s.queue = slices.DeleteFunc(s.queue, func(q *prompt) bool { return renamed[q.id] != nil && q.own == nil })
		for _, q := range again {
			next := renamed[q.id]
			next.place = place
			s.queue = append(s.queue, next)
			s.places[next.id] = place
			s.prompts[next.id] = next
			for id, known := range s.prompts { // who waits for the old id
				if known.done == next.done {
					s.prompts[id] = next
				}
			}
		}
		return nil
	})
}

// waitingLocked returns a prompt of the user that waits in the queue.
func (s *Session) waitingLocked(messageID string) (*prompt, error) {
	if err := s.checkUsable(); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.queue, func(p *prompt) bool { return p.own == nil && s.prompts[messageID] == p })
	if i < 0 {
		return nil, fmt.Errorf("the prompt does not wait: it was sent or taken back: %w", consent.ErrGone)
	}
	return s.queue[i], nil
}

// doneLocked forgets a prompt, by all its ids, and tells those that wait for its end.
func (s *Session) doneLocked(p *prompt) {
	maps.DeleteFunc(s.prompts, func(_ string, q *prompt) bool { return q == p })
	close(p.done)
}

// keepWaitingLocked takes over the prompts that waited in an earlier process. They wait
// until the user goes on.
func (s *Session) keepWaitingLocked(waiting []event.UserMessage) {
	for _, m := range waiting {
		p := &prompt{id: m.MessageID, content: m.Content, given: m.Attachments, done: make(chan struct{})}
		s.queue = append(s.queue, p)
		s.prompts[p.id] = p
	}
	s.held = s.held || len(waiting) > 0
}

// releaseLocked goes on with the prompts that wait.
func (s *Session) releaseLocked() {
	s.held = false
	if s.turn == nil && len(s.queue) > 0 {
		p := s.queue[0]
		s.queue = s.queue[1:]
		s.enqueueLocked(p)
	}
}

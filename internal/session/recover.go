package session

import (
	"context"
	"fmt"

	"webchat/internal/event"
)

// recover closes what an earlier process left open, before anything else happens
// to the session: messages in flight as far as their drafts go, tool calls,
// requests, the turn, and the prompts that never had one.
func (s *Session) recover(ctx context.Context) error {
	var o open
	err := s.scan(ctx, 0, func(e event.Entry) bool { o.apply(e); return true })
	if err != nil {
		return fmt.Errorf("recover session %s: %w", s.id, err)
	}
	if s.cfg.Drafts != nil && o.turn.TurnID != "" {
		drafts, err := s.cfg.Drafts.LoadDrafts(ctx, s.id)
		if err != nil {
			return fmt.Errorf("recover session %s: load its drafts: %w", s.id, err)
		}
		for _, d := range drafts {
			f := &flight{id: d.MessageID, parent: d.ParentToolCallID, reasoning: d.Reasoning, text: []byte(d.Content)}
			if !o.done[f.key()] {
				o.flights = append(o.flights, f)
			}
		}
	}
	data := o.interrupted()
	err = s.change(ctx, func() (err error) {
		s.open = o
		if len(data) > 0 {
			err = s.appendLocked(data...)
		}
		s.open = open{}
		s.leftOpen = s.leftOpen && err != nil
		return err
	})
	if err != nil {
		return fmt.Errorf("recover session %s: %w", s.id, err)
	}
	if s.cfg.Drafts != nil {
		s.saveDrafts(nil)
	}
	return nil
}

// recoverLater recovers the session as soon as the log can be written; until then
// it can only be read.
func (s *Session) recoverLater() {
	s.mu.Lock()
	s.leftOpen = true
	s.mu.Unlock()
	s.wg.Go(func() {
		if err := Retry(s.ctx, func() error { return s.recover(s.ctx) }); err != nil && s.ctx.Err() == nil {
			s.log().Error("a session could not be recovered: it can be read until the next start", "error", err)
		}
	})
}

// interrupted returns what closes everything that is open.
func (o *open) interrupted() []event.Data {
	data := o.closing(ending{code: "interrupted", reason: reasons[event.Interrupted], all: true}, o.lastAt)
	if o.turn.TurnID != "" {
		data = append(data, event.TurnEnd{TurnID: o.turn.TurnID, MessageID: o.turn.MessageID, Outcome: event.Interrupted,
			DurationMs: max(0, o.lastAt.Sub(o.turnAt).Milliseconds())})
	}
	for _, id := range o.queued {
		turnID := string(event.NewID())
		data = append(data, event.TurnStart{TurnID: turnID, MessageID: id, By: event.ByUser},
			event.TurnEnd{TurnID: turnID, MessageID: id, Outcome: event.Interrupted})
	}
	return data
}

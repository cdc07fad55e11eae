package session

import (
	"context"
	"fmt"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// recover closes what an earlier process left open, before anything else happens
// to the session: messages in flight as far as their drafts go, tool calls,
// requests and the turn. The prompts that never had one wait for the user.
func (s *Session) recover(ctx context.Context) error {
	o, err := s.unfinished(ctx)
	if err != nil {
		return fmt.Errorf("recover session %s: %w", s.id, err)
	}
	var spent event.Usage
	if s.cfg.Drafts != nil && o.Turn.TurnID != "" {
		drafts, err := s.cfg.Drafts.LoadDrafts(ctx, s.id)
		if err != nil {
			return fmt.Errorf("recover session %s: load its drafts: %w", s.id, err)
		}
		for _, d := range drafts {
			if d.Usage != nil {
				spent = *d.Usage
				continue
			}
			f := &eventlog.Message{ID: d.MessageID, Parent: d.ParentToolCallID, Reasoning: d.Reasoning, Text: []byte(d.Content)}
			if !o.Done[f.Key()] {
				o.Messages = append(o.Messages, f)
			}
		}
	}
	data := o.Interrupted()
	for i, d := range data {
		if end, ok := d.(event.TurnEnd); ok && end.TurnID == o.Turn.TurnID {
			end.Usage = spent
			data[i] = end
		}
	}
	err = s.events.Change(ctx, func() (err error) {
		s.events.Open = o
		if len(data) > 0 {
			err = s.events.Append(data...)
		}
		s.events.Open = eventlog.Work{}
		s.leftOpen = s.leftOpen && err != nil
		if err == nil {
			s.keepWaitingLocked(o.Queued)
		}
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

// unfinished folds the end of the log, from before all that is open.
func (s *Session) unfinished(ctx context.Context) (o eventlog.Work, err error) {
	sum := s.events.Summary()
	cut := event.NewCut(1, 0)
	sum.IncludeOpen(cut)
	entries, err := s.End(ctx, cut, sum.LastSeq)
	for _, e := range entries {
		o.Apply(e)
	}
	return o, err
}

// recoverLater recovers the session as soon as the log can be written; until then
// it can only be read.
func (s *Session) recoverLater() {
	s.mu.Lock()
	s.leftOpen = true
	s.mu.Unlock()
	s.wg.Go(func() {
		if err := eventlog.Retry(s.ctx, func() error { return s.recover(s.ctx) }); err != nil && s.ctx.Err() == nil {
			s.log().Error("a session could not be recovered: it can be read until the next start", "error", err)
		}
	})
}

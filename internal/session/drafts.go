package session

import (
	"cmp"
	"context"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// draftKeeper saves messages in flight.
type draftKeeper struct{ *core }

// keepDrafts saves the messages in flight until the returned function is called, which removes
// them.
func (s *draftKeeper) keepDrafts(t *turn) (stop func()) {
	if s.cfg.Drafts == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	s.wg.Go(func() {
		defer close(done)
		tick := time.NewTicker(cmp.Or(s.cfg.DraftPause, 250*time.Millisecond))
		defer tick.Stop()
		saved, kept := 0, false
		for {
			select {
			case <-quit:
				if kept {
					s.saveDrafts(nil)
				}
				return
			case <-tick.C:
			}
			if all, version := s.drafts(t); version != saved {
				saved, kept = version, len(all) > 0
				s.saveDrafts(all)
			}
		}
	})
	return func() { close(quit); <-done }
}

func (s *draftKeeper) drafts(t *turn) (all []eventlog.Draft, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.events.Open().Messages {
		all = append(all, eventlog.Draft{
			MessageID:        f.ID,
			Reasoning:        f.Reasoning,
			ParentToolCallID: f.Parent,
			Content:          string(f.Text),
		})
	}
	spent := t.usage.Plus(s.unbilled)
	version = s.events.Open().Version + 2*int(spent.Calls+spent.Turns)
	if cut := s.bill.cut(s.events.Summary().Open); cut != (event.Usage{}) {
		spent = spent.Plus(cut)
		version++
	}
	if spent.Calls+spent.Turns > 0 {
		all = append(all, eventlog.Draft{Usage: &spent})
	}
	return all, version
}

func (s *draftKeeper) saveDrafts(all []eventlog.Draft) {
	if err := s.cfg.Owner.Wrote(s.cfg.Drafts.SaveDrafts(context.WithoutCancel(s.ctx), s.id, all),
		0); err != nil {
		s.log().Warn("drafts were not saved", "error", err)
	}
}

package outputs

import (
	"errors"
	"fmt"
	"time"
)

// PinLimit is how long a pin holds at most.
const PinLimit = 8 * time.Hour

// pinShare is the part of the budget that pinned outputs may hold together: one in pinShare.
const pinShare = 4

// ErrPins is wrapped by [Store.Pin] when pinned outputs hold their share of the budget.
var ErrPins = errors.New("pinned outputs may hold a quarter of the memory for outputs")

// Pin keeps an output from expiring and from being evicted, until it is unpinned or for
// [PinLimit]. It fails with ErrExpired and wraps [ErrPins].
func (s *Store) Pin(id ID) error { return s.setPinned(id, true) }

// Unpin leaves an output what is left of its life. It fails with ErrExpired.
func (s *Store) Unpin(id ID) error { return s.setPinned(id, false) }

func (s *Store) setPinned(id ID, pinned bool) error {
	o, err := s.Get(id)
	if err == nil {
		err = s.pin(o, pinned)
	}
	if err == nil && s.keeper != nil {
		s.keeper.pinned(o)
	}
	return err
}

func (s *Store) pin(o *Output, pinned bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case o.gone:
		return ErrExpired
	case pinned == o.pinned:
		return nil
	case pinned && s.pinned+o.cost > s.budget/pinShare:
		return fmt.Errorf("pin an output of %d bytes: %w; unpin another first", o.cost, ErrPins)
	}
	o.mu.Lock()
	if o.pin = (time.Time{}); pinned {
		o.pin = time.Now()
	}
	o.mu.Unlock()
	s.fix(o, o.grows, pinned)
	if !o.grows {
		s.setLife(o)
	}
	return nil
}

// until is when o's life in memory ends. The caller holds o.mu.
func (o *Output) until() time.Time {
	end := o.completed.Add(o.store.ttl)
	if pin := o.pin.Add(PinLimit); !o.pin.IsZero() && pin.After(end) {
		return pin
	}
	return end
}

// pinnedNow reports whether a pin holds. The caller holds o.mu.
func (o *Output) pinnedNow() bool {
	return !o.pin.IsZero() && time.Now().Before(o.pin.Add(PinLimit))
}

// Pinned reports whether the user pinned the output.
func (o *Output) Pinned() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pinnedNow()
}

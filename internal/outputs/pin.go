package outputs

import (
	"errors"
	"fmt"
	"time"

	"github.com/jellydator/ttlcache/v3"
)

// PinLimit is how long a pin holds at most.
const PinLimit = 8 * time.Hour

// pinShare is which part of the budget pinned outputs may hold together.
const pinShare = 4

// ErrPins is wrapped by [Store.Pin] when pinned outputs hold their share of the budget.
var ErrPins = errors.New("pinned outputs may hold a quarter of the memory for outputs")

// Pin keeps an output from expiring and from being evicted, until it is unpinned or for [PinLimit].
// Unpinned, it has what is left of its life. It fails with ErrExpired and wraps [ErrPins].
func (s *Store) Pin(id ID, pinned bool) error {
	o, err := s.Get(id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, grows := s.growing.Load(id)
	switch {
	case o.gone:
		return ErrExpired
	case pinned == (s.pins[id] != nil):
		return nil
	case !pinned:
		s.unpin(o, grows)
		return nil
	case s.held(true)+o.cost > s.budget/pinShare:
		return fmt.Errorf("pin an output of %d bytes: %w; unpin another first", o.cost, ErrPins)
	}
	o.mu.Lock()
	o.pin = time.Now()
	o.mu.Unlock()
	s.pins[id] = o
	if !grows {
		s.expiry.Remove(o.elem)
		o.elem = nil
		s.cache.Set(id, o, PinLimit+s.ttl)
	}
	return nil
}

// unpin takes a pin back. The caller holds s.mu.
func (s *Store) unpin(o *Output, grows bool) {
	delete(s.pins, o.id)
	o.mu.Lock()
	o.pin = time.Time{}
	completed := o.completed
	o.mu.Unlock()
	if grows {
		return
	}
	s.cache.Set(o.id, o, max(s.ttl-time.Since(completed), time.Millisecond))
	at := s.expiry.Back()
	for at != nil && at.Value.(*Output).completedAt().After(completed) {
		at = at.Prev()
	}
	if at == nil {
		o.elem = s.expiry.PushFront(o)
	} else {
		o.elem = s.expiry.InsertAfter(o, at)
	}
	s.awake()
}

// lifeInCache is the life of an output in the cache from now on. The caller holds s.mu.
func (s *Store) lifeInCache(o *Output) time.Duration {
	if s.pins[o.id] != nil {
		return PinLimit + s.ttl
	}
	return ttlcache.DefaultTTL
}

// held is how many bytes pinned outputs hold, growing ones included or not: those are counted as
// growing already. The caller holds s.mu.
func (s *Store) held(growing bool) (n int64) {
	for id, o := range s.pins {
		if _, grows := s.growing.Load(id); growing || !grows {
			n += o.cost
		}
	}
	return n
}

// sweepPins removes pinned outputs whose pin and life have ended. The caller holds s.mu.
func (s *Store) sweepPins() {
	for _, o := range s.pins {
		if s.expired(o) {
			s.remove(o)
		}
	}
}

// awake tells Run that there is something to expire.
func (s *Store) awake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// pinnedNow reports whether a pin holds. The caller holds o.mu.
func (o *Output) pinnedNow(wall time.Time) bool {
	return !o.pin.IsZero() && time.Since(o.pin) < PinLimit && wall.Sub(o.pin.Round(0)) < PinLimit
}

// Pinned reports whether the user pinned the output.
func (o *Output) Pinned() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pinnedNow(o.store.wall().Round(0))
}

func (o *Output) completedAt() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.completed
}

// Drop ends the life of an output now, with what its file was, on disk as well.
func (s *Store) Drop(id ID) {
	if s.keeper != nil {
		defer s.keeper.forget(id) // after the lock is given back
	}
	o, err := s.Get(id)
	if err != nil {
		return
	}
	if was := o.Meta().Was; was != "" {
		defer s.Drop(was)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(o)
}

// forget deletes what is kept of an output.
func (k *keeper) forget(id ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.files[id]
	if !ok {
		return
	}
	delete(k.files, id)
	k.delete(id, f)
}

package outputs

import (
	"context"
	"runtime"
	"time"
)

// expired says whether o's life in memory has ended by either clock. One that was read back from
// the disk ends with its file at the latest.
func (s *Store) expired(o *Output) bool {
	o.mu.Lock()
	now := s.wall().Round(0)
	t, w, ends, pinned := o.completed, o.wall, o.ends, o.pinnedNow(now)
	o.mu.Unlock()
	if t.IsZero() || pinned {
		return false
	}
	return time.Since(t) >= s.ttl || now.Sub(w) >= s.ttl || !ends.IsZero() && !now.Before(ends)
}

// Held reports whether o is still in the store, growing or within its life. Who keeps something
// made of o lets go of it when it is not.
func (o *Output) Held() bool {
	if o.of != nil {
		o = o.of
	}
	o.store.mu.Lock()
	gone := o.gone
	o.store.mu.Unlock()
	return !gone && !o.store.expired(o)
}

// sweepBatch is how many outputs expire under one hold of the locks: when a million end together,
// no reader waits for more than these.
const sweepBatch = 64

// sweep removes up to n expired outputs and says whether there may be more. The caller holds s.mu.
func (s *Store) sweep(n int) bool {
	s.sweepPins()
	for ; n > 0; n-- {
		front := s.expiry.Front()
		if front == nil || !s.expired(front.Value.(*Output)) {
			return false
		}
		s.remove(front.Value.(*Output))
	}
	return true
}

// wallCheck is how often Run looks at the wall clock, which may jump.
const wallCheck = time.Minute

// Run frees outputs whose life has ended, until ctx ends. It returns nil.
func (s *Store) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var old <-chan time.Time
	if s.keeper != nil {
		tick := time.NewTicker(sweepKept)
		defer tick.Stop()
		old = tick.C
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		case <-timer.C:
		case <-old:
			s.keeper.sweep()
		}
		for s.sweepLocked() {
			if ctx.Err() != nil {
				return nil
			}
			runtime.Gosched()
		}
		if d := s.next(); d > 0 {
			timer.Reset(d)
		}
	}
}

func (s *Store) sweepLocked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sweep(sweepBatch)
}

// next is how long Run may wait; 0 means until there is an output.
func (s *Store) next() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	front := s.expiry.Front()
	if front == nil {
		if len(s.pins) > 0 {
			return wallCheck
		}
		return 0
	}
	o := front.Value.(*Output)
	o.mu.Lock()
	defer o.mu.Unlock()
	return min(wallCheck, max(s.ttl-time.Since(o.completed), time.Millisecond))
}

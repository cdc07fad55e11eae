package session

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"webchat/internal/event"
	"webchat/internal/fold"
)

// maxUnread is how many events wait for a subscriber before the deltas among them
// are joined.
const maxUnread = 8192

// Subscription is one reader of a running session. Next is for one goroutine, which
// must not wait for a client: package sse does, and decides who is too slow.
type Subscription struct {
	s     *Session
	ready chan struct{} // has room for one signal

	mu     sync.Mutex // guards what follows
	unread []event.Entry
	full   int   // the length of unread at which deltas are joined next
	err    error // why no entry comes any more
}

// Subscribe returns the live events from now on. What came before is in the log
// and in [Session.Join]. The caller closes the subscription.
func (s *Session) Subscribe() *Subscription {
	sub := &Subscription{s: s, ready: make(chan struct{}, 1), full: maxUnread}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == stateClosed {
		sub.err = ErrClosed
		return sub
	}
	s.subs[sub] = struct{}{}
	return sub
}

// Next waits for events and returns all there are, in order. Neighbouring deltas
// of one message may come as one. The error is ctx's, or [ErrClosed], after which
// nothing comes any more. The slice is the caller's, what its events hold is shared.
func (b *Subscription) Next(ctx context.Context) ([]event.Entry, error) {
	for {
		b.mu.Lock()
		got, err := b.unread, b.err
		b.unread, b.full = nil, maxUnread
		b.mu.Unlock()
		switch {
		case len(got) > 32:
			return fold.Coalesce(got), nil
		case len(got) > 0:
			return got, nil
		case err != nil:
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-b.ready:
		}
	}
}

// Close ends the subscription. It may be called twice.
func (b *Subscription) Close() {
	b.s.mu.Lock()
	delete(b.s.subs, b)
	b.s.usedLocked()
	b.s.mu.Unlock()
	b.end(ErrClosed)
}

// push adds e. It never blocks.
func (b *Subscription) push(e event.Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.unread) >= b.full {
		b.unread = fold.Coalesce(b.unread)
		b.full = max(maxUnread, 2*len(b.unread)) // so that joining pays
	}
	b.unread = append(b.unread, e)
	b.signal()
}

// end lets the reader have what is there and then err.
func (b *Subscription) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
	b.signal()
}

func (b *Subscription) signal() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// Join returns what is in flight now. Together with the log up to its LastSeq
// and the entries of an earlier subscription above its Pos it is exactly the
// session, without gap and repeat.
func (s *Session) Join(ctx context.Context) (Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return Snapshot{}, err
	}
	s.mu.Lock()
	if s.state == stateClosed {
		s.mu.Unlock()
		return Snapshot{}, fmt.Errorf("session %s: %w", s.id, ErrClosed)
	}
	sum := *s.summary.Load()
	snap := Snapshot{LastSeq: sum.LastSeq, Pos: s.pos, Summary: sum}
	for _, t := range s.open.Tools {
		if len(t.Progress.JSON) > 0 {
			snap.Progress = append(snap.Progress, t.Progress)
		}
	}
	snap.Requests = append(snap.Requests, s.open.Requests...)
	deltas, printed := s.open.InFlight()
	if text := s.cfg.Owner.Unsaved(); text != "" {
		if e, ok := s.troubleLocked(text); ok {
			snap.Trouble = append(snap.Trouble, e)
		}
	}
	now := s.now()
	s.mu.Unlock()

	for i, d := range slices.Concat(deltas, printed) {
		e := event.Entry{Seq: snap.LastSeq, Pos: snap.Pos, Event: event.New(d, sum.Open.LastID, now)}
		if err := encode(&e); err != nil {
			return Snapshot{}, err
		}
		if i < len(deltas) {
			snap.InFlight = append(snap.InFlight, e)
		} else {
			snap.Printed = append(snap.Printed, e)
		}
	}
	return snap, nil
}

// Events returns up to limit events of the log after a sequence, a thousand at most.
func (s *Session) Events(ctx context.Context, after int64, limit int) ([]event.Entry, error) {
	if limit <= 0 || limit > 1000 {
		limit = 1000
	}
	entries, err := s.cfg.Log.After(ctx, s.id, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read the log of session %s: %w", s.id, err)
	}
	return entries, nil
}

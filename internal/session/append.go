package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"webchat/internal/event"
	"webchat/internal/fold"
)

// maxEvent is how many bytes an encoded event may have. Encoding makes at most
// six bytes of one, so the longest message fits.
const maxEvent = 7 * fold.MaxMessage

// change calls f as the only one who appends to the session, in the order of the
// callers. f holds s.mu, except while the log writes: so a log that is slow holds up
// what is to be appended next, and nobody who reads, joins or stops. What f relies
// on over a write has to change inside of change only. The error is f's, or ctx's if
// that ended while others appended.
func (s *Session) change(ctx context.Context, f func() error) error {
	select {
	case s.appending <- struct{}{}:
	default:
		select {
		case s.appending <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return s.changing(f)
}

// changing is change for a caller that has its place in s.appending already, and
// gives it up.
func (s *Session) changing(f func() error) error {
	defer func() { <-s.appending }()
	s.mu.Lock()
	defer s.mu.Unlock()
	return f()
}

// append appends data by change.
func (s *Session) append(data ...event.Data) error {
	return s.change(context.Background(), func() error { return s.appendLocked(data...) })
}

// appendLocked is the only way an event comes into being. It stamps data, makes what
// is logged durable, folds it and hands it to the subscribers, in that order. Either
// all of it happens or nothing. It is called within change, and s.mu is free while
// the log writes.
func (s *Session) appendLocked(data ...event.Data) error {
	if s.state == stateClosed {
		return fmt.Errorf("session %s: %w", s.id, ErrClosed)
	}
	sum := *s.summary.Load()
	entries := make([]event.Entry, 0, len(data))
	logged, size := 0, 0
	now := s.now()
	for _, d := range data {
		e := event.Entry{Seq: sum.LastSeq, Event: event.New(d, sum.Open.LastID, now)}
		if event.Logged(d) {
			e.Seq++
		}
		if err := encode(&e); err != nil {
			return err
		}
		if event.Logged(d) {
			sum = fold.Summarize(sum, e)
			logged++
			size += len(e.JSON)
		}
		entries = append(entries, e)
	}
	if logged > 0 {
		durable := entries
		if logged < len(entries) {
			durable = slices.DeleteFunc(slices.Clone(entries), func(e event.Entry) bool { return e.Event.Ephemeral })
		}
		if err := s.writeLocked(durable, sum, size); err != nil {
			return err
		}
		marks := s.summary.Load()
		sum.Pinned, sum.DeletedAt = marks.Pinned, marks.DeletedAt
		s.summary.Store(&sum)
	}
	for i := range entries {
		s.fanOutLocked(entries[i])
	}
	if logged > 0 {
		s.cfg.Owner.Changed(sum)
	}
	return nil
}

// writeLocked has the log write entries while s.mu is free.
func (s *Session) writeLocked(entries []event.Entry, sum fold.Summary, size int) error {
	s.mu.Unlock()
	defer s.mu.Lock()
	// A write that began is finished: no caller's context ends it.
	return s.cfg.Owner.Wrote(s.cfg.Log.Append(context.Background(), s.id, entries, sum), size)
}

// fanOutLocked gives e its position and hands it to everybody.
func (s *Session) fanOutLocked(e event.Entry) {
	s.pos++
	e.Pos = s.pos
	s.open.Apply(e)
	for sub := range s.subs {
		sub.push(e)
	}
}

func encode(e *event.Entry) error {
	b, err := event.Marshal(e.Event)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if len(b) > maxEvent {
		return fmt.Errorf("%w: %s of %d bytes, the limit is %d", ErrInvalid, e.Event.Type(), len(b), maxEvent)
	}
	e.JSON = b
	return nil
}

// now is the time events are stamped with, in whole milliseconds.
func (s *Session) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Millisecond) }

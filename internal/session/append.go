package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"webchat/internal/event"
)

// maxEvent is how many bytes an encoded event may have. Encoding makes at most
// six bytes of one, so the longest message fits.
const maxEvent = 7 * MaxMessage

// append is the only way an event comes into being. It stamps data, makes what
// is logged durable, folds it and hands it to the subscribers, in that order and
// under one lock. Either all of it happens or nothing.
func (s *Session) append(data ...event.Data) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.appendLocked(data...)
}

// appendLocked is append for callers that hold s.mu.
func (s *Session) appendLocked(data ...event.Data) error {
	if s.state == stateClosed {
		return fmt.Errorf("session %s: %w", s.id, ErrClosed)
	}
	sum := *s.summary.Load()
	entries := make([]event.Entry, 0, len(data))
	logged := make([]event.Entry, 0, len(data))
	now := s.now()
	for _, d := range data {
		e := event.Entry{Seq: sum.LastSeq, Event: event.New(d, sum.Open.LastID, now)}
		if d.Logged() {
			e.Seq++
		}
		if err := encode(&e); err != nil {
			return err
		}
		if d.Logged() {
			sum = Fold(sum, e)
			logged = append(logged, e)
		}
		entries = append(entries, e)
	}
	if len(logged) > 0 {
		// A write that began is finished: no caller's context ends it.
		if err := s.m.cfg.Log.Append(context.Background(), s.id, logged, sum); err != nil {
			err = fmt.Errorf("%w: %w", ErrLog, err)
			s.tellLogLocked(err)
			return err
		}
		s.logDown = false
		s.summary.Store(&sum)
	}
	for i := range entries {
		s.fanOutLocked(entries[i])
	}
	if len(logged) > 0 {
		s.m.changed(sum)
	}
	return nil
}

// fanOutLocked gives e its position and hands it to everybody.
func (s *Session) fanOutLocked(e event.Entry) {
	s.pos++
	e.Pos = s.pos
	s.open.apply(e)
	for sub := range s.subs {
		if !sub.push(e) {
			delete(s.subs, sub)
		}
	}
}

// tellLogLocked tells subscribers, once until the log works again, that it does not.
func (s *Session) tellLogLocked(err error) {
	if s.logDown {
		return
	}
	s.logDown = true
	s.m.cfg.Logger.Error("the log cannot be written", "session", s.id, "error", err)
	sum := s.summary.Load()
	e := event.Entry{Seq: sum.LastSeq, Event: event.New(event.SessionError{
		Message:   "What happens now cannot be saved: the log cannot be written. Look at the disk of the data folder; saving is tried again.",
		ErrorType: ErrorLog,
	}, sum.Open.LastID, s.now())}
	e.Event.Ephemeral = true
	if encode(&e) == nil {
		s.fanOutLocked(e)
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
func (s *Session) now() time.Time { return s.m.cfg.Now().UTC().Truncate(time.Millisecond) }

// persist calls f, which appends under the lock, until the log takes it. It gives
// up with the last error when the session ends or f fails for another reason.
func (s *Session) persist(f func() error) error {
	pause := 250 * time.Millisecond
	for {
		s.mu.Lock()
		err := f()
		s.mu.Unlock()
		if !errors.Is(err, ErrLog) {
			return err
		}
		select {
		case <-s.ctx.Done():
			return err
		case <-time.After(pause):
			pause = min(2*pause, 5*time.Second)
		}
	}
}

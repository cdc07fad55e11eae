package session

import (
	"context"
	"errors"
	"time"
)

// How often a log that refused something is tried again.
const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// logGrace is how long those wait for a slow log who have something else to do.
const logGrace = stopGrace / 4

// persist calls f by change until the log takes what f appends, f fails for another
// reason, or ctx has ended. It is called at least once.
func (s *Session) persist(ctx context.Context, f func() error) error {
	return Retry(ctx, func() error { return s.change(context.Background(), f) })
}

// Retry calls f until it returns no ErrLog, or ctx has ended.
func Retry(ctx context.Context, f func() error) error {
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		err := f()
		if !errors.Is(err, ErrLog) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// aside runs f, which appends, and returns what f returns, but not much later than
// after limit: then f goes on without its caller.
func (s *Session) aside(limit time.Duration, f func() error) error {
	s.mu.Lock()
	if s.state >= stateClosing {
		s.mu.Unlock()
		return f()
	}
	s.wg.Add(1)
	s.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		defer s.wg.Done()
		done <- f()
	}()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return errors.New("the log is slow")
	}
}

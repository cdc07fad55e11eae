package session

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How often a log that refused something is tried again.
const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// logGrace is how long a caller waits for a slow log after its turn has ended.
const logGrace = stopGrace / 4

// persist calls f by change until the log takes what f appends, f fails for another
// reason, or ctx has ended. It is called at least once.
func (s *Session) persist(ctx context.Context, f func() error) error {
	return retry(ctx, func() error { return s.change(context.Background(), f) })
}

// retry calls f until it returns no ErrLog, or ctx has ended.
func retry(ctx context.Context, f func() error) error {
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
// ctx has ended: then f goes on without its caller.
func aside[T any](ctx context.Context, s *Session, f func() (T, error)) (v T, err error) {
	s.mu.Lock()
	if s.state >= stateClosing {
		s.mu.Unlock()
		return f()
	}
	s.wg.Add(1)
	s.mu.Unlock()
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		defer s.wg.Done()
		v, err := f()
		done <- outcome{v, err}
	}()
	o, ok := await(ctx, done)
	if !ok {
		return v, fmt.Errorf("the log is slow: %w", context.Cause(ctx))
	}
	return o.v, o.err
}

// await receives from done; false: ctx has ended, and a grace after it.
func await[T any](ctx context.Context, done <-chan T) (v T, ok bool) {
	select {
	case v = <-done:
		return v, true
	case <-ctx.Done():
	}
	grace := time.NewTimer(logGrace)
	defer grace.Stop()
	select {
	case v = <-done:
		return v, true
	case <-grace.C:
		return v, false
	}
}

// job is an append for a caller who may leave before it is done.
type job struct {
	do   func() error
	done chan error // has room for one
}

// report is persist by aside until the turn ends. Agents report often: a goroutine
// of the turn does it, in order, so that none has to start and grow its stack.
func (h *host) report(f func() error) error {
	s := h.s
	s.mu.Lock()
	t := s.turn
	if t == nil || t.ctx.Err() != nil || s.state >= stateClosing {
		s.mu.Unlock()
		over := h.turnOver()
		_, err := aside(over, s, func() (struct{}, error) { return struct{}{}, s.persist(over, f) })
		return err
	}
	if t.jobs == nil {
		t.jobs = make(chan job)
		s.wg.Go(func() { s.doJobs(t) })
	}
	s.mu.Unlock()
	j := job{f, make(chan error, 1)}
	select {
	case t.jobs <- j:
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	}
	err, ok := await(t.ctx, j.done)
	if !ok {
		return fmt.Errorf("the log is slow: %w", context.Cause(t.ctx))
	}
	return err
}

func (s *Session) doJobs(t *turn) {
	for {
		select {
		case j := <-t.jobs:
			j.done <- s.persist(t.ctx, j.do)
		case <-t.ctx.Done():
			return
		}
	}
}

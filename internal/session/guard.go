package session

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Guard calls f and turns a panic into an error, so that a fault stays in its
// session. The value of the panic may hold content and is not logged.
func Guard[T any](log *slog.Logger, what string, f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("panic", "in", what, "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			err = fmt.Errorf("%s failed: %w", what, errPanic)
		}
	}()
	return f()
}

// runWithGrace runs f and returns what f returns, but not later than stopGrace after
// ctx ended. Then late is true, f goes on, and after is called with its result.
// The caller is counted in s.wg, and so is f.
func runWithGrace[T any](ctx context.Context, s *Session, what string, f func() (T, error), after func(T)) (v T, late bool, err error) {
	type outcome struct {
		v   T
		err error
	}
	var (
		mu   sync.Mutex // guards gone
		gone bool
		done = make(chan outcome, 1)
	)
	s.wg.Go(func() {
		v, err := Guard(s.log(), what, f)
		mu.Lock()
		defer mu.Unlock()
		done <- outcome{v, err}
		if gone && err == nil && after != nil {
			after(v)
		}
	})
	select {
	case o := <-done:
		return o.v, false, o.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case o := <-done:
		return o.v, false, o.err
	case <-grace.C:
	}
	mu.Lock()
	defer mu.Unlock()
	select {
	case o := <-done:
		return o.v, false, o.err
	default:
		gone = true
		return v, true, fmt.Errorf("%s did not stop in time: %w", what, context.Cause(ctx))
	}
}

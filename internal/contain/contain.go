// Package contain calls code of others, such as an agent or a tool, and guards what handles its
// messages: a panic becomes an error, and a call that does not stop in time is abandoned.
package contain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// ErrPanic is wrapped by the error of what panicked.
var ErrPanic = errors.New("panic")

// Call calls f and turns a panic into an error, so that a fault stays in its session. The value of
// the panic may hold content and is not logged.
func Call[T any](log *slog.Logger, what string, f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("panic", "in", what, "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			err = fmt.Errorf("%s failed: %w", what, ErrPanic)
		}
	}()
	return f()
}

// Fence guards code that handles a program's messages where no caller waits for it: in goroutines,
// timers and readers.
type Fence struct {
	Log  *slog.Logger
	What string
	// Break gets the error of each panic, in the goroutine it happened in, and ends what the panic
	// was in.
	Break func(error)
}

// Contained returns f within the fence.
func (e Fence) Contained(f func()) func() {
	return func() {
		if _, err := Call(e.Log, e.What, func() (struct{}, error) {
			f()
			return struct{}{}, nil
		}); err != nil {
			e.Break(err)
		}
	}
}

// Runner makes calls that may not stop in time.
type Runner struct {
	Log     *slog.Logger
	Running *sync.WaitGroup // counts the caller, and each call until it has returned
	Grace   time.Duration   // how long a call may take after its context ended
}

// CallWithGrace calls f and returns what f returns, but not later than the grace after ctx ended.
// Then delayed is true, f goes on, and after is called with its result.
func CallWithGrace[T any](ctx context.Context, r Runner, what string, f func() (T, error),
	after func(T)) (v T, delayed bool, err error) {
	type outcome struct {
		v   T
		err error
	}
	var (
		mu   sync.Mutex // guards gone
		gone bool
		done = make(chan outcome, 1)
	)
	r.Running.Go(func() {
		v, err := Call(r.Log, what, f)
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
	grace := time.NewTimer(r.Grace)
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

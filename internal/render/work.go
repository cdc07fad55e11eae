package render

import (
	"runtime"
	"time"
)

// Work limits what one call spends on a text. It counts the processor's time where the system
// reports that of a thread, so that what is shown does not depend on how busy the machine is, and
// the clock's time elsewhere.
type Work struct {
	limit time.Duration
	begun time.Time
	cpu   time.Duration // of this thread when the work began
	known bool          // whether the system reports cpu
}

// BeginWork ties the goroutine to its thread until end is called.
func BeginWork(limit time.Duration) *Work {
	runtime.LockOSThread()
	w := &Work{limit: limit, begun: time.Now()}
	w.cpu, w.known = threadTime()
	return w
}

// Spent is the time spent so far. It never counts more than the clock does.
func (w *Work) Spent() time.Duration {
	clock := time.Since(w.begun)
	now, known := threadTime()
	if !w.known || !known {
		return clock
	}
	return min(clock, now-w.cpu)
}

// Over reports whether the limit is exceeded. It asks the clock first, which is cheaper to ask for.
func (w *Work) Over() bool { return time.Since(w.begun) > w.limit && w.Spent() > w.limit }

// End gives the goroutine its freedom back.
func (w *Work) End() { runtime.UnlockOSThread() }

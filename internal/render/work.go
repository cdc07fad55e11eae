package render

import (
	"runtime"
	"time"
)

// work limits what one call spends on a text. It counts the processor's time where the system tells that of a thread, so
// that what is shown does not depend on how busy the machine is, and the clock's time elsewhere.
type work struct {
	limit time.Duration
	begun time.Time
	cpu   time.Duration // of this thread when the work began
	known bool          // whether the system tells cpu
}

// beginWork ties the goroutine to its thread until end is called.
func beginWork(limit time.Duration) *work {
	runtime.LockOSThread()
	w := &work{limit: limit, begun: time.Now()}
	w.cpu, w.known = threadTime()
	return w
}

// spent never counts more than the clock does.
func (w *work) spent() time.Duration {
	clock := time.Since(w.begun)
	now, known := threadTime()
	if !w.known || !known {
		return clock
	}
	return min(clock, now-w.cpu)
}

// over asks the clock first, which is cheaper to ask for.
func (w *work) over() bool { return time.Since(w.begun) > w.limit && w.spent() > w.limit }

func (w *work) end() { runtime.UnlockOSThread() }

package render

import (
	"testing"
	"time"
)

// What is shown must not depend on how busy the machine is: waiting is no work.
func TestWaitingIsNoWork(t *testing.T) {
	w := BeginWork(10 * time.Millisecond)
	defer w.End()
	if !w.known {
		t.Skip("this system does not tell the processor time of a thread")
	}
	<-time.After(5 * w.limit)
	if w.Over() {
		t.Errorf("%v of waiting counted as %v of work", 5*w.limit, w.Spent())
	}
	for n := 0; !w.Over(); n++ {
		if n%1000 == 0 && time.Since(w.begun) > time.Minute {
			t.Fatal("work is not counted")
		}
	}
}

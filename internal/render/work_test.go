package render

import (
	"testing"
	"time"
)

// What is shown must not depend on how busy the machine is: waiting is no work.
func TestWaitingIsNoWork(t *testing.T) {
	w := beginWork(10 * time.Millisecond)
	defer w.end()
	if !w.known {
		t.Skip("this system does not tell the processor time of a thread")
	}
	<-time.After(5 * w.limit)
	if w.over() {
		t.Errorf("%v of waiting counted as %v of work", 5*w.limit, w.spent())
	}
	for n := 0; !w.over(); n++ {
		if n%1000 == 0 && time.Since(w.begun) > time.Minute {
			t.Fatal("work is not counted")
		}
	}
}

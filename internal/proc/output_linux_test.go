package proc

import (
	"bytes"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// What a command wrote is read however late its reader comes to it: a busy machine runs
// the helper to its end before it runs the goroutine that reads.
func TestOutputIsReadLate(t *testing.T) {
	for name, finished := range map[string]bool{"the tree has ended": false,
		"the command, then the tree": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close() // which a process outside the tree has, too
				if _, err := w.WriteString("all of it\n"); err != nil {
					t.Fatal(err)
				}
				var got bytes.Buffer
				d := newDrain(r, &got)
				if finished {
					go func() { _ = d.finish() }()
					time.Sleep(2 * holdPatience)
				}
				ended := make(chan struct{})
				go func() { d.end(); close(ended) }()
				time.Sleep(2 * holdPatience)
				d.run()
				<-ended
				if got.String() != "all of it\n" {
					t.Errorf("read %q", got.String())
				}
			})
		})
	}
}

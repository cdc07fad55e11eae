//go:build unix

package proc_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"webchat/internal/proc"
)

func TestDetach(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	if err := proc.Detach([]string{"touch", mark}, os.Environ()); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(mark); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the program did not run")
		}
	}
}

func TestDetachNamesWhatIsMissing(t *testing.T) {
	if err := proc.Detach([]string{"no-such-program"}, []string{"PATH=/bin"}); err == nil {
		t.Error("started a program that is not there")
	}
}

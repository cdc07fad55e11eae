//go:build unix

package policy

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// THREATS 43: a pipe that took the place of a file after it was looked at is not waited for.
func TestThreat43PipesAreNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, open := range map[string]func() error{
		"of a list":  func() error { _, _, err := OpenListed(root, "pipe"); return err },
		"of a head":  func() error { _, err := headOf(filepath.Join(dir, "pipe"), 10); return err },
		"looked at":  func() error { _, _, err := Open(root, "pipe"); return err },
		"and a head": func() error { _, err := head(filepath.Join(dir, "pipe"), 10); return err },
	} {
		opened := make(chan error, 1)
		go func() { opened <- open() }()
		select {
		case err := <-opened:
			if !errors.Is(err, ErrSpecial) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s: it waits for the pipe", name)
		}
	}
}

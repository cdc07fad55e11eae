//go:build unix

package files

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// THREATS 103: what was opened is another file than was looked at, or a pipe, without the luck of a
// race: it is not read, and not waited for.
func TestThreat103AnotherFileWasOpened(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at(".env"), []byte("secret"), 0o600),
		os.WriteFile(at("plain"), []byte("plain"), 0o600),
		syscall.Mkfifo(at("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	looked, err := os.Lstat(at("plain"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for name, want := range map[string]string{"plain": "plain", ".env": "", "pipe": ""} {
			data, err := readSame(os.OpenFile, at(name), looked, 100)
			if string(data) != want || want == "" && !errors.Is(err, errUnread) {
				t.Errorf("%s is read as %q, %v", name, data, err)
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("it waits for the pipe")
	}
}

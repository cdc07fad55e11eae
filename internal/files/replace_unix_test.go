//go:build unix

package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"webchat/internal/files"
)

// What takes the place of a file while it is read is neither waited for nor read: a pipe, or a link
// to a file that may hold secrets.
func TestThreat103SwappedWhileItIsRead(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	check := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	check(os.WriteFile(at(".env"), []byte("secret"), 0o600),
		os.WriteFile(at("plain"), []byte("plain"), 0o600), syscall.Mkfifo(at("pipe"), 0o600))
	swapped, end := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swapped)
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			default:
			}
			_ = os.Remove(at("next"))
			_ = [](func() error){
				func() error { return os.Link(at("plain"), at("next")) },
				func() error { return os.Link(at("pipe"), at("next")) },
				func() error { return os.Symlink(".env", at("next")) },
			}[i%3]()
			_ = os.Rename(at("next"), at("a"))
		}
	}()
	for range 20_000 {
		data, _, err := files.Present(dir, at("a"), 100)
		if data != nil && string(data) != "plain" || err != nil && !errors.Is(err, files.ErrChanged) {
			t.Errorf("read %q, %v", data, err)
			break
		}
	}
	close(end)
	<-swapped
}

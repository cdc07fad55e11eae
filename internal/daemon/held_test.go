package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestHeld: a folder belongs to the server whose lock is in it.
func TestHeld(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not let go of a file that is open")
	}
	remove := func(t *testing.T, dir string) {
		t.Helper()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	second := func(t *testing.T, dir string) *Folder {
		t.Helper()
		f, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for name, c := range map[string]struct {
		do   func(t *testing.T, dir string)
		want error
	}{
		"nothing":    {func(*testing.T, string) {}, nil},
		"the lock":   {func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "lock")) }, nil},
		"the folder": {remove, errRemoved},
		"made anew": {func(t *testing.T, dir string) {
			remove(t, dir)
			second(t, second(t, dir).leave(t))
		}, ErrTaken},
		"let go again": {func(t *testing.T, dir string) {
			remove(t, dir)
			second(t, dir).leave(t)
		}, nil},
		"another empty": {func(t *testing.T, dir string) {
			remove(t, dir)
			_ = os.Mkdir(dir, 0o700)
		}, errReplaced},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			f := second(t, dir)
			c.do(t, dir)
			for range 2 {
				if err := f.Held(); !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
			}
			_, err := Open(dir)
			if c.want == nil && !errors.Is(err, ErrInUse) {
				t.Errorf("a second server: %v", err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(dir, "server.json")); c.want == ErrTaken && err != nil {
				t.Errorf("of the other server: %v", err)
			}
		})
	}
}

// leave closes a folder of which only the files were needed.
func (d *Folder) leave(t *testing.T) string {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return d.path
}

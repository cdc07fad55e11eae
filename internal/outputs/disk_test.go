package outputs

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// diskOf is the file as an output that is made of it now remembers it.
func diskOf(t testing.TB, name string) *Disk {
	t.Helper()
	st, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return &Disk{Name: name, Modified: st.ModTime(), Size: st.Size()}
}

func putFile(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDiskNow(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.txt")
	aside := name + ".new"
	steps := []struct {
		what string
		do   func() error
		want DiskState
	}{
		{"nothing", func() error { return nil }, Same},
		{"written longer", func() error { putFile(t, name, "one\ntwo\n"); return nil }, Changed},
		{"written as long, later", func() error {
			putFile(t, name, "two\n")
			return os.Chtimes(name, time.Time{}, time.Now().Add(time.Second))
		}, Changed},
		{"replaced by rename", func() error {
			putFile(t, aside, "three\n")
			return os.Rename(aside, name)
		}, Changed},
		{"deleted", func() error { return os.Remove(name) }, Gone},
		{"moved away", func() error { return os.Rename(name, aside) }, Gone},
		{"moved away and back", func() error {
			return os.Rename(name, aside)
		}, Gone},
		{"a folder in its place", func() error {
			_ = os.Remove(name)
			return os.Mkdir(name, 0o700)
		}, Changed},
	}
	for _, s := range steps {
		t.Run(s.what, func(t *testing.T) {
			_ = os.Remove(name)
			putFile(t, name, "one\n")
			was := diskOf(t, name)
			if err := s.do(); err != nil {
				t.Fatal(err)
			}
			if got := was.Now(); got != s.want {
				t.Errorf("the file is %v, want %v", got, s.want)
			}
			if s.what != "moved away and back" {
				return
			}
			if err := os.Rename(aside, name); err != nil {
				t.Fatal(err)
			}
			if got := was.Now(); got != Same {
				t.Errorf("back in its place the file is %v, want the same", got)
			}
		})
	}
	if got := (*Disk)(nil).Now(); got != Same {
		t.Errorf("an output of no file is %v", got)
	}
}

// What following a file costs each time it is looked at; the page looks every 2 seconds, however
// large the file is and however often it changes.
func BenchmarkDiskNow(b *testing.B) {
	name := filepath.Join(b.TempDir(), "10MB")
	putFile(b, name, "")
	if err := os.Truncate(name, 10_000_000); err != nil {
		b.Fatal(err)
	}
	d := diskOf(b, name)
	for b.Loop() {
		if d.Now() != Same {
			b.Fatal("the file has changed")
		}
	}
}

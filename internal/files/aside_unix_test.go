//go:build unix

package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/files"
)

// What is moved aside is gone from the folder, cannot be changed by what has it open, and comes
// back as it was; nothing that is there is replaced.
func TestAside(t *testing.T) {
	ws, a := t.TempDir(), &files.Aside{Dir: filepath.Join(t.TempDir(), "held"), Most: 100}
	do := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(ws, name) }
	write := func(name, text string) {
		t.Helper()
		do(os.MkdirAll(filepath.Dir(at(name)), 0o700), os.WriteFile(at(name), []byte(text), 0o700))
	}
	is := func(name, want string) {
		t.Helper()
		if b, err := os.ReadFile(at(name)); err != nil || string(b) != want {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
	take := func(name string) files.Taken {
		t.Helper()
		one, err := a.Take(files.Taken{Session: "one", Root: ws, Path: name})
		do(err)
		if _, err := os.Lstat(at(name)); err == nil {
			t.Errorf("%s is there", name)
		}
		return one
	}
	put := func(id, want string) {
		t.Helper()
		if as, err := a.Put(id); err != nil || as != want {
			t.Errorf("put back as %q, %v; not %q", as, err, want)
		}
	}
	write("sub/.envrc", "1")
	open, err := os.OpenFile(at("sub/.envrc"), os.O_WRONLY, 0)
	do(err)
	defer open.Close()
	do(os.Chmod(at("sub"), 0o500))
	file := take("sub/.envrc")
	do(os.RemoveAll(at("sub")))
	_, err = open.WriteString("evil")
	do(err)
	put(file.ID, "sub/.envrc")
	is("sub/.envrc", "1")
	put(file.ID, "sub/.envrc") // the same is there
	write("sub/.envrc", "2")
	put(file.ID, "sub/.envrc.new")
	put(file.ID, "sub/.envrc.new")
	is("sub/.envrc", "2")

	write(".vscode/a/tasks.json", "3")
	do(os.Symlink("/etc/passwd", at(".vscode/l")), os.Chmod(at(".vscode/a"), 0o100))
	folder := take(".vscode")
	if text, err := a.Text(folder.ID, 1000); err != nil ||
		string(text) != "==> a/tasks.json <==\n3\n==> l <==\na link to /etc/passwd\n" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := a.Text(file.ID, 1000); err != nil || string(text) != "1" {
		t.Errorf("%q, %v", text, err)
	}
	put(folder.ID, ".vscode")
	is(".vscode/a/tasks.json", "3")
	if st, err := os.Stat(at(".vscode/a/tasks.json")); err != nil || st.Mode()&0o100 == 0 {
		t.Errorf("it is not executable any longer: %v", err)
	}
	if to, err := os.Readlink(at(".vscode/l")); to != "/etc/passwd" {
		t.Error(to, err)
	}
	do(os.Symlink("elsewhere", at(".envrc")))
	link := take(".envrc")
	put(link.ID, ".envrc")

	write(".idea/large", string(make([]byte, 200)))
	large := take(".idea")
	if large.Beside != ".idea.held" {
		t.Errorf("what is too large is %q", large.Beside)
	}
	put(large.ID, ".idea.held")
	if n := len(a.OfSession("one")); n != 4 {
		t.Errorf("%d are kept", n)
	}
	do(a.Remove(large.ID), a.DeleteSession("one"))
	if _, err := os.Lstat(at(".idea.held")); err == nil || len(a.OfSession("one")) != 0 {
		t.Error("it was not deleted")
	}
	if _, err := a.Put(file.ID); !errors.Is(err, files.ErrMissing) {
		t.Error(err)
	}
}

// THREATS 118: folders become links to elsewhere while what is in them is moved aside and put back.
// Nothing outside is moved, written or deleted.
func TestThreat118HeldWhileFoldersBecomeLinks(t *testing.T) { heldWhileSwapped(t, 300) }

func TestSoakHeldWhileFoldersBecomeLinks(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: make soak")
	}
	heldWhileSwapped(t, 10_000)
}

func heldWhileSwapped(t *testing.T, swaps int) {
	if _, err := os.Stat("/dev/shm"); err == nil {
		t.Setenv("TMPDIR", "/dev/shm") // a disk would be asked to sync each file
	}
	ws, outside := t.TempDir(), t.TempDir()
	a := &files.Aside{Dir: filepath.Join(t.TempDir(), "held")}
	in := func(top, name string) string { return filepath.Join(top, name) }
	if err := errors.Join(os.MkdirAll(in(ws, "deep/er"), 0o700),
		os.MkdirAll(in(outside, "er/.vscode"), 0o700),
		os.WriteFile(in(outside, "er/.vscode/x"), []byte("own"), 0o600),
		os.WriteFile(in(outside, "er/.envrc"), []byte("own"), 0o600)); err != nil {
		t.Fatal(err)
	}
	deep, away := in(ws, "deep"), in(ws, "away")
	swapped := make(chan struct{})
	go func() {
		defer close(swapped)
		for range swaps {
			if err := errors.Join(os.Rename(deep, away), os.Symlink(outside, deep), os.Remove(deep),
				os.Rename(away, deep)); err != nil {
				_ = os.RemoveAll(deep) // a folder was made in its place
				_ = os.Rename(away, deep)
			}
		}
	}()
	moved := 0
	for over := false; !over; {
		select {
		case <-swapped:
			over = true
		default:
		}
		for name, write := range map[string]func(string) error{
			"deep/er/.envrc": func(p string) error { return os.WriteFile(p, []byte("made"), 0o600) },
			"deep/er/.vscode": func(p string) error {
				return errors.Join(os.MkdirAll(p, 0o700), os.WriteFile(p+"/y", []byte("made"), 0o600))
			},
		} {
			if st, err := os.Lstat(deep); err == nil && st.IsDir() && over {
				_ = write(in(ws, name))
			}
			if _, err := os.Lstat(in(away, "er")); err == nil {
				_ = write(in(ws, "away"+name[len("deep"):]))
			}
			one, err := a.Take(files.Taken{Session: "one", Root: ws, Path: name})
			if err != nil {
				continue
			}
			moved++
			if text, err := a.Text(one.ID, 100); err != nil || string(text) == "own" ||
				string(text) == "==> x <==\nown" {
				t.Fatalf("taken is %q, %v", text, err)
			}
			_, _ = a.Put(one.ID) // a link may be in its way
			_ = a.Remove(one.ID)
		}
	}
	for _, name := range []string{"er/.vscode/x", "er/.envrc"} {
		if b, err := os.ReadFile(in(outside, name)); err != nil || string(b) != "own" {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
	for _, dir := range []string{"", "er", "er/.vscode"} {
		list, err := os.ReadDir(in(outside, dir))
		if want := map[string]int{"": 1, "er": 2, "er/.vscode": 1}[dir]; err != nil || len(list) != want {
			t.Errorf("%q has %v, %v", dir, list, err)
		}
	}
	if moved == 0 {
		t.Error("nothing was moved")
	}
	t.Logf("moved %d times", moved)
}

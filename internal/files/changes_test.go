package files_test

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"webchat/internal/files"
)

// changes returns what differs from the last commit.
func (w *workspace) changes(dir string) []files.Change {
	w.t.Helper()
	x, err := files.New(files.Config{Root: filepath.Join(w.dir, dir), Env: w.env})
	if err != nil {
		w.t.Fatal(err)
	}
	defer x.Close()
	list, more, err := x.Changes(w.t.Context())
	if err != nil || more {
		w.t.Fatalf("%v, more: %v", err, more)
	}
	return list
}

func (w *workspace) commit() {
	w.t.Helper()
	w.git(".", "add", "-A")
	w.git(".", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x")
}

func TestChanges(t *testing.T) {
	w := newWorkspace(t)
	if list := w.changes("."); list != nil {
		t.Errorf("outside of a repository: %v", list)
	}
	w.git(".", "init", "-q")
	w.write("first.txt", "1\n")
	if list, want := w.changes("."), []files.Change{{Path: "first.txt", Kind: files.Created}}; !reflect.DeepEqual(list, want) {
		t.Errorf("before the first commit: %v", list)
	}
	w.write(".gitignore", "*.log\n")
	w.write("sub/a.go", "one\ntwo\nthree\n")
	w.write("staged.go", "one\n")
	w.write("gone.go", "x\n")
	w.write("touched.go", "same\n")
	w.write("ends.txt", "a\nb\n")
	w.commit()

	w.write("sub/a.go", "one\n2\nthree\nfour\n")
	w.write("staged.go", "one\ntwo\n")
	w.git(".", "add", "staged.go")
	w.write("ends.txt", "a\r\nb\r\n")
	w.write("sub/new é.go", "x\n")
	w.write("ignored.log", "x\n")
	w.remove("gone.go")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(w.dir, "touched.go"), old, old); err != nil {
		t.Fatal(err)
	}
	want := []files.Change{{"gone.go", files.Deleted, 0, 0}, {"staged.go", files.Modified, 1, 0}, {"sub/a.go", files.Modified, 2, 1}, {"sub/new é.go", files.Created, 0, 0}}
	if list := w.changes("."); !reflect.DeepEqual(list, want) {
		t.Errorf("changed: %v, want %v", list, want)
	}
	want = []files.Change{{"a.go", files.Modified, 2, 1}, {"new é.go", files.Created, 0, 0}}
	if list := w.changes("sub"); !reflect.DeepEqual(list, want) {
		t.Errorf("changed below a folder: %v, want %v", list, want)
	}
}

// What a repository's settings name does not run.
func TestChangesRunNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the planted command is for sh")
	}
	w := newWorkspace(t)
	w.git(".", "init", "-q")
	w.write("a.txt", "one\n")
	w.commit()
	ran := filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"core.fsmonitor", "filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.external", "diff.x.textconv", "diff.x.command", "core.pager"} {
		w.git(".", "config", name, "touch "+ran+"; cat")
	}
	w.write(".gitattributes", "* filter=x diff=x\n")
	w.write("a.txt", "two\n")
	list := w.changes(".")
	if _, err := os.Stat(ran); err == nil {
		t.Error("looking at what changed ran a command of the repository")
	}
	if len(list) != 2 || !strings.HasPrefix(list[1].Path, "a.txt") || list[1].Added != 1 {
		t.Errorf("changed: %v", list)
	}
}

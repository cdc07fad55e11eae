package files_test

import (
	"errors"
	"fmt"
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
func (w *workspace) changes(dir string) []change {
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
	return told(list)
}

// told is changes without the times of files.
func told(list []files.Change) (out []change) {
	for _, c := range list {
		out = append(out, change{c.Path, c.From, c.Kind, c.Added, c.Removed, c.Binary, c.Uncounted})
	}
	return out
}

type change struct {
	path, from        string
	kind              files.ChangeKind
	added, removed    int
	binary, uncounted bool
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
	if list, want := w.changes("."), []change{{
		path:  "first.txt",
		kind:  files.Created,
		added: 1,
	}}; !reflect.DeepEqual(list, want) {
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
	want := []change{{path: "gone.go", kind: files.Deleted, removed: 1},
		{path: "staged.go", kind: files.Modified, added: 1},
		{path: "sub/a.go", kind: files.Modified, added: 2, removed: 1},
		{path: "sub/new é.go", kind: files.Created, added: 1}}
	if list := w.changes("."); !reflect.DeepEqual(list, want) {
		t.Errorf("changed: %v, want %v", list, want)
	}
	want = []change{{path: "a.go", kind: files.Modified, added: 2, removed: 1},
		{path: "new é.go", kind: files.Created, added: 1}}
	if list := w.changes("sub"); !reflect.DeepEqual(list, want) {
		t.Errorf("changed below a folder: %v, want %v", list, want)
	}
}

// A copied folder has other times in all its files, and changed in none.
func TestCopiedFilesHaveNotChanged(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		w := newWorkspace(t)
		w.git(".", "init", "-q", "--object-format="+format)
		for i := range 60 {
			w.write(fmt.Sprintf("%02d.txt", i), fmt.Sprintf("%d\n", i))
		}
		w.commit()
		old := time.Now().Add(-time.Hour)
		for i := range 60 {
			if err := os.Chtimes(filepath.Join(w.dir, fmt.Sprintf("%02d.txt", i)), old, old); err != nil {
				t.Fatal(err)
			}
		}
		w.write("57.txt", "57\r\n")
		w.write("58.txt", "other\n")
		list := w.changes(".")
		if len(list) != 1 || list[0].path != "58.txt" || list[0].kind != files.Modified {
			t.Errorf("%s: %v", format, list)
		}
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
	for _, name := range []string{"core.fsmonitor", "filter.x.clean", "filter.x.smudge",
		"filter.x.process", "diff.external", "diff.x.textconv", "diff.x.command", "core.pager"} {
		w.git(".", "config", name, "touch "+ran+"; cat")
	}
	w.git(".", "config", "filter.x.required", "true") // as git-lfs has it
	w.git(".", "config", "core.trustctime", "false")
	w.write(".gitattributes", "* filter=x diff=x\n")
	at, err := os.Stat(filepath.Join(w.dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	w.write("a.txt", "two\n")
	for _, name := range []string{"a.txt", ".git/index"} { // written in one moment: git has to read it
		if err := os.Chtimes(filepath.Join(w.dir, name), at.ModTime(), at.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	list := w.changes(".")
	w.since(w.head(), ".")
	w.was(w.head(), "a.txt")
	if _, err := os.Stat(ran); err == nil {
		t.Error("looking at what changed ran a command of the repository")
	}
	if len(list) != 2 || !strings.HasPrefix(list[1].path, "a.txt") || list[1].added != 1 {
		t.Errorf("changed: %v", list)
	}
}

// head is the commit that is checked out.
func (w *workspace) head() string { return files.HeadOf(w.dir).Commit }

// since returns what differs from a commit.
func (w *workspace) since(commit, dir string) []change {
	w.t.Helper()
	x, err := files.New(files.Config{Root: filepath.Join(w.dir, dir), Env: w.env})
	if err != nil {
		w.t.Fatal(err)
	}
	defer x.Close()
	list, more, err := x.Since(w.t.Context(), commit)
	if err != nil || more {
		w.t.Fatalf("%v, more: %v", err, more)
	}
	return told(list)
}

// was returns what a commit has of a file.
func (w *workspace) was(commit, name string) (string, bool) {
	w.t.Helper()
	b, found, err := w.index().Was(w.t.Context(), commit, name, 1<<20)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b), found
}

// All that happened since a commit is listed, committed since or not.
func TestSince(t *testing.T) {
	w := newWorkspace(t)
	w.git(".", "init", "-q")
	text := strings.Repeat("a line of a file\n", 20)
	w.write("moved/old name.txt", text)
	w.write("kept.txt", "one\n")
	w.write("gone.txt", "x\ny\n")
	w.write("bin", "a\x00b")
	w.write("untracked later.txt", "1\n")
	w.commit()
	base := w.head()

	w.write("kept.txt", "two\n")
	w.commit() // in a later commit
	w.write("moved/new name.txt", text+"and more\n")
	w.remove("moved/old name.txt")
	w.remove("gone.txt")
	w.write("bin", "a\x00c")
	w.write("huge.log", strings.Repeat("x", 2<<20))
	w.write("made.txt", "1\n2\n3\n")
	w.git(".", "add", "made.txt")
	w.git(".", "rm", "-q", "--cached", "untracked later.txt")
	want := []change{
		{path: "bin", kind: files.Modified, binary: true},
		{path: "gone.txt", kind: files.Deleted, removed: 2},
		{path: "huge.log", kind: files.Created, uncounted: true},
		{path: "kept.txt", kind: files.Modified, added: 1, removed: 1},
		{path: "made.txt", kind: files.Created, added: 3},
		{path: "moved/new name.txt", from: "moved/old name.txt", kind: files.Renamed, added: 1},
	}
	if list := w.since(base, "."); !reflect.DeepEqual(list, want) {
		t.Errorf("since the commit:\n%v\nwant\n%v", list, want)
	}
	if list := w.since(base, "moved"); !reflect.DeepEqual(list,
		[]change{{path: "new name.txt", from: "old name.txt", kind: files.Renamed, added: 1}}) {
		t.Errorf("since the commit, below a folder: %v", list)
	}
	if got, ok := w.was(base, "moved/old name.txt"); !ok || got != text {
		t.Errorf("the commit has %q, %v", got, ok)
	}
	for _, name := range []string{"made.txt", "no such.txt", "moved"} {
		if got, ok := w.was(base, name); ok {
			t.Errorf("the commit has %q as %s", got, name)
		}
	}
}

// A repository without a commit has only new files.
func TestSinceNothing(t *testing.T) {
	w := newWorkspace(t)
	w.git(".", "init", "-q")
	w.write("a.txt", "1\n")
	w.git(".", "add", "a.txt")
	w.commit() // the first, made since
	w.write("b.txt", "1\n2\n")
	want := []change{{path: "a.txt", kind: files.Created, added: 1},
		{path: "b.txt", kind: files.Created, added: 2}}
	if list := w.since("", "."); !reflect.DeepEqual(list, want) {
		t.Errorf("since nothing: %v", list)
	}
	_, _, err := w.index().Since(t.Context(), strings.Repeat("0a", 20))
	if !errors.Is(err, files.ErrNoCommit) {
		t.Errorf("a commit that git does not have: %v", err)
	}
	if _, _, err = w.index().Since(t.Context(), "--output=x"); !errors.Is(err, files.ErrNoCommit) {
		t.Errorf("an id that is not of a commit: %v", err)
	}
}

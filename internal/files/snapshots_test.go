package files_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/files"
)

// snapshots are those of a workspace.
type snapshots struct {
	*workspace
	*files.Snapshots
	dir string

	taken int
}

func newSnapshots(t *testing.T) *snapshots {
	t.Helper()
	w := newWorkspace(t)
	s := &snapshots{workspace: w, dir: filepath.Join(t.TempDir(), "snapshots")}
	s.Snapshots = files.NewSnapshots(files.SnapshotsConfig{Dir: s.dir, Env: w.env, Secret: secret})
	return s
}

func secret(name string) bool { return filepath.Base(name) == ".env" }

func (s *snapshots) take() string {
	s.t.Helper()
	s.taken++
	id := fmt.Sprintf("s%d", s.taken)
	if err := s.Take(s.t.Context(), s.workspace.dir, "one", id); err != nil {
		s.t.Fatal(err)
	}
	return id
}

// changed is what differs between two snapshots: "M path", "A path", "D path".
func (s *snapshots) changed(was, left string) string {
	s.t.Helper()
	list, err := s.Differing(s.t.Context(), s.workspace.dir, "one", was, left, 1<<20, 1<<20)
	if err != nil {
		s.t.Fatal(err)
	}
	lines := func(b []byte) int { return len(slices.Collect(bytes.Lines(b))) }
	var all []string
	more := 0
	for _, c := range list {
		kind := "M"
		more += lines(c.Now) - lines(c.Was)
		switch {
		case !c.Existed:
			kind = "A"
		case !c.Exists:
			kind = "D"
		}
		all = append(all, kind+" "+c.Path)
	}
	n, err := s.Count(s.t.Context(), s.workspace.dir, "one", was, left)
	if err != nil || n.Files != int64(len(list)) || n.Added-n.Removed != int64(more) {
		s.t.Errorf("%+v, %v are counted of %v, which have %d lines more", n, err, all, more)
	}
	return strings.Join(all, ", ")
}

// Snapshots hold what git tracks or would offer to add, in a repository, in a part of one and
// without one, and nothing of what is ignored, secret, too large, special, or of other
// repositories.
func TestSnapshotsHoldTheWorkspace(t *testing.T) {
	for _, kind := range []string{"no repository", "a repository", "a part of a repository"} {
		t.Run(kind, func(t *testing.T) {
			s := newSnapshots(t)
			if kind == "a part of a repository" {
				s.write(".gitignore", "*.log\n")
				s.write("sub/a.go", "a")
				s.git(".", "init", "-q")
				s.workspace.dir = filepath.Join(s.workspace.dir, "sub")
			} else if kind == "a repository" {
				s.git(".", "init", "-q")
			}
			s.write(".gitignore", "*.log\n/forced\n")
			s.write("a.go", "package a\n")
			s.write("dir/b.go", "package b\n")
			s.write("forced", "tracked though it is ignored")
			s.write("nested/x.go", "x")
			s.git("nested", "init", "-q")
			if kind != "no repository" {
				s.git(".", "add", "-f", "forced", "a.go", ".gitignore")
			}
			first := s.take()
			if got := s.changed(first, s.take()); got != "" {
				t.Errorf("nothing was changed, and %s was", got)
			}
			s.write("a.go", "package b\n") // as long, in the same second
			s.write("forced", "changed")
			s.write("new.go", "new")
			s.write("x.log", "ignored")
			s.write(".env", "KEY=1")
			s.write("nested/x.go", "y")
			s.write("node_modules/m.js", "m")
			s.remove("dir/b.go")
			s.write("dir/b.go/c.go", "a folder where a file was")
			if err := errors.Join(os.Symlink("/etc", filepath.Join(s.workspace.dir, "link")),
				os.Truncate(filepath.Join(s.workspace.dir, "new.go"), 1)); err != nil {
				t.Fatal(err)
			}
			s.write("large", "")
			if err := os.Truncate(filepath.Join(s.workspace.dir, "large"), 1<<40); err != nil {
				t.Fatal(err)
			}
			want := []string{"M a.go", "D dir/b.go", "A dir/b.go/c.go", "A link", "A new.go"}
			if kind != "no repository" {
				want = append(want, "M forced", "A node_modules/m.js")
			}
			slices.SortFunc(want, func(a, b string) int { return strings.Compare(a[2:], b[2:]) })
			second := s.take()
			if got := s.changed(first, second); got != strings.Join(want, ", ") {
				t.Errorf("changed: %s, want %s", got, strings.Join(want, ", "))
			}
			s.write(".gitignore", "*.log\n/forced\n/new.go\n")
			if got := s.changed(second, s.take()); got != "M .gitignore, D new.go" {
				t.Errorf("now ignored: %s", got)
			}
			again := files.NewSnapshots(files.SnapshotsConfig{Dir: s.dir, Env: s.env}) // the next process
			s.Snapshots = again
			s.write("forced", "again")
			if got := s.changed(second, s.take()); !strings.Contains(got, "A .env") ||
				kind != "no repository" && !strings.Contains(got, "M forced") {
				t.Errorf("after a restart, which takes .env for no secret: %s", got)
			}
		})
	}
}

// What did not change is only looked at: git runs once.
func TestSnapshotsOfNothingNew(t *testing.T) {
	s := newSnapshots(t)
	for i := range 50 {
		s.write(fmt.Sprintf("d%d/f.go", i), "text")
	}
	s.write(".env", "left out each time")
	log := filepath.Join(t.TempDir(), "runs")
	real := ""
	for dir := range strings.SplitSeq(os.Getenv("PATH"), ":") {
		if _, err := os.Stat(filepath.Join(dir, "git")); err == nil {
			real = filepath.Join(dir, "git")
			break
		}
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "git"),
		[]byte("#!/bin/sh\necho \"$@\" >> "+log+"\nexec "+real+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := append(slices.Clone(s.env), "PATH="+bin+":"+os.Getenv("PATH"))
	s.Snapshots = files.NewSnapshots(files.SnapshotsConfig{Dir: s.dir, Env: env, Secret: secret})
	runs := func() string {
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	s.take()
	runs()
	s.take()
	if got := runs(); strings.Count(got, "\n") != 1 {
		t.Errorf("git ran:\n%s", got)
	}
	s.write("d1/f.go", "other")
	s.take()
	if got := runs(); strings.Count(got, "\n") > 4 {
		t.Errorf("for one changed file git ran:\n%s", got)
	}
}

// What a session has is deleted with it, down to the bytes; where all is too large, the oldest
// goes.
func TestSnapshotsEnd(t *testing.T) {
	s := newSnapshots(t)
	s.git(".", "init", "-q")
	s.write("kept.go", "kept")
	s.take()
	s.write("gone.go", "gone")
	s.git(".", "add", "kept.go")
	if err := s.Take(t.Context(), s.workspace.dir, "two", "s0"); err != nil {
		t.Fatal(err)
	}
	objects := func() (n int) {
		list, err := filepath.Glob(filepath.Join(s.dir, "*", "objects", "??", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if err := s.DeleteSession(t.Context(), s.workspace.dir, "two"); err != nil {
		t.Fatal(err)
	}
	s.take() // of what the deleted one had, too
	shelves, err := filepath.Glob(filepath.Join(s.dir, "*"))
	if err != nil || len(shelves) != 1 {
		t.Fatal(shelves, err)
	}
	s.git(".", "--git-dir="+shelves[0], "fsck", "--connectivity-only")
	if err := s.Take(t.Context(), s.workspace.dir, "two", "s0"); err != nil {
		t.Fatal(err)
	}
	s.write("only.go", "only the second session has it")
	if err := s.Take(t.Context(), s.workspace.dir, "two", "s1"); err != nil {
		t.Fatal(err)
	}
	s.remove("gone.go")
	s.remove("only.go")
	id := s.take()
	before := objects()
	if err := s.DeleteSession(t.Context(), s.workspace.dir, "two"); err != nil {
		t.Fatal(err)
	}
	// both snapshots and their notes, the file, and its tree
	if left := objects(); left != before-6 {
		t.Errorf("%d of %d objects are left", left, before)
	}
	if got := s.changed(id, s.take()); got != "" {
		t.Error(got)
	}
	s.Snapshots = files.NewSnapshots(files.SnapshotsConfig{Dir: s.dir, Env: s.env, Most: 1})
	last := s.take()
	if _, err := s.Differing(t.Context(), s.workspace.dir, "one", id, last, 0, 0); !errors.Is(err,
		files.ErrNoSnapshot) {
		t.Errorf("the oldest is there: %v", err)
	}
	if err := s.DeleteSession(t.Context(), s.workspace.dir, "one"); err != nil {
		t.Fatal(err)
	}
	if list, _ := filepath.Glob(filepath.Join(s.dir, "*")); len(list) > 0 {
		t.Errorf("%v is left", list)
	}
	s.take()
}

// Without git there is none.
func TestSnapshotsWithoutGit(t *testing.T) {
	s := newSnapshots(t)
	s.Snapshots = files.NewSnapshots(files.SnapshotsConfig{
		Dir: s.dir,
		Env: []string{"PATH=" + t.TempDir()},
	})
	if err := s.Take(t.Context(), s.workspace.dir, "one", "s0"); !errors.Is(err, files.ErrNoGit) {
		t.Error(err)
	}
}

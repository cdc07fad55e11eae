package files_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/files"
	"webchat/internal/proc"
)

// tree is all that a workspace has: each file with its mode and text. Folders count by what is in
// them.
func (s *snapshots) tree() (all map[string]string) {
	s.t.Helper()
	all = map[string]string{}
	err := filepath.WalkDir(s.workspace.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		rel, err := filepath.Rel(s.workspace.dir, name)
		if err != nil {
			return err
		}
		if d.Type() == fs.ModeSymlink {
			to, err := os.Readlink(name)
			all[rel] = "link " + to
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		all[rel] = fmt.Sprint(st.Mode().Perm()&0o100 != 0, " ", string(text))
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

func (s *snapshots) is(what string, want map[string]string) {
	s.t.Helper()
	got := s.tree()
	for name := range want {
		if _, there := got[name]; !there {
			s.t.Errorf("%s: %s is gone", what, name)
		}
	}
	for name, text := range got {
		if text != want[name] {
			s.t.Errorf("%s: %s is %q, want %q", what, name, text, want[name])
		}
	}
}

func nothing(files.Restored) error { return nil }

func (s *snapshots) restore(from, to string) files.Restored {
	s.t.Helper()
	r, err := s.Restore(s.t.Context(), files.RestoreOf{
		Workspace: s.workspace.dir,
		Session:   "one",
		From:      from,
		To:        to,
		ID:        fmt.Sprint("r", rand.Text()[:8]),
	}, nothing)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// output is what git prints.
func (s *snapshots) output(args ...string) string {
	s.t.Helper()
	var out bytes.Buffer
	child, err := proc.Start(proc.Command{
		Args:   append([]string{"git"}, args...),
		Dir:    s.workspace.dir,
		Env:    s.env,
		Output: &out,
	})
	s.do(err)
	_, err = child.Wait()
	_, stopErr := child.Stop(context.Background())
	s.do(err, stopErr)
	return out.String()
}

func (s *snapshots) do(errs ...error) {
	s.t.Helper()
	if err := errors.Join(errs...); err != nil {
		s.t.Fatal(err)
	}
}

// What a turn did is undone, and done again, byte by byte: what was written, made, deleted, moved,
// made executable or a link, and folders where files were. What somebody changed since stays.
func TestRestore(t *testing.T) {
	s := newSnapshots(t)
	at := func(name string) string { return filepath.Join(s.workspace.dir, name) }
	for _, name := range []string{"changed", "mode", "deep/er/deleted", "moved/a", "moved/b", "file",
		"folder/x", "linked", "both"} {
		s.write(name, "before "+name)
	}
	s.write(".gitignore", "*.old\n")
	s.write("x.old", "ignored")
	s.do(os.Symlink("changed", at("link")))
	before, was := s.take(), s.tree()
	s.write("changed", "after\x00")
	s.write("new/made", "after")
	s.do(os.Chmod(at("mode"), 0o755), os.RemoveAll(at("deep")),
		os.Rename(at("moved"), at("elsewhere")), os.Remove(at("link")), os.Symlink("mode", at("link")))
	s.do(os.Remove(at("file")), os.RemoveAll(at("folder")), os.Remove(at("linked")),
		os.Symlink("/etc/hosts", at("linked")))
	s.write("file/x", "after")
	s.write("folder", "after")
	s.write("both", "after")
	after, left := s.take(), s.tree()
	dry, err := s.Restore(t.Context(), files.RestoreOf{
		Workspace: s.workspace.dir,
		Session:   "one",
		From:      after,
		To:        before,
		Dry:       true,
	}, nil)
	s.do(err)
	s.is("only asked", left)

	done := s.restore(after, before)
	s.is("undone", was)
	if fmt.Sprint(dry) != fmt.Sprint(done) || len(done.Written) != 10 || len(done.Deleted) != 5 ||
		len(done.Kept)+len(done.NotUndone) > 0 {
		t.Errorf("restored: %+v, first %+v", done, dry)
	}
	for _, name := range []string{"new", "elsewhere"} {
		if _, err := os.Lstat(at(name)); err == nil {
			t.Errorf("the empty folder %s is left", name)
		}
	}
	if again := s.restore(after, before); len(again.Written)+len(again.Deleted)+len(again.Kept) > 0 {
		t.Errorf("once more: %+v", again)
	}
	s.restore(before, after)
	s.is("done again", left)

	s.write("both", "somebody's")
	s.write("new/other", "somebody's")
	s.write("folder2/x", "somebody's")
	s.do(os.Remove(at("folder")), os.Rename(at("folder2"), at("folder")))
	was["both"], was["new/other"], was["folder/x"] = "false somebody's", "false somebody's",
		"false somebody's"
	done = s.restore(after, before)
	s.is("with somebody's", was)
	if got := fmt.Sprint(done.Kept); got != "[{both changed} {folder/x changed}]" {
		t.Errorf("kept: %s", got)
	}
}

// Undo keeps a file that existed before the turn even if the first snapshot left it out. It names
// what changed and is in no snapshot.
func TestRestoreLeavesWhatItDoesNotKnow(t *testing.T) {
	s := newSnapshots(t)
	s.write(".gitignore", "build/\n")
	s.write("build/old", "made yesterday")
	s.write("build/grown", "made yesterday")
	s.write(".env", "KEY=1")
	s.write(".env2", "KEY=1")
	for _, name := range []string{"made", "moved"} {
		s.write(name, "before")
	}
	s.Snapshots = files.NewSnapshots(files.SnapshotsConfig{
		Dir:    s.dir,
		Env:    s.env,
		Secret: secret,
		Now:    func() time.Time { return time.Now().Add(time.Hour) },
	})
	before := s.take()
	s.Snapshots = files.NewSnapshots(files.SnapshotsConfig{
		Dir:    s.dir,
		Env:    s.env,
		Secret: secret,
		Now:    func() time.Time { return time.Now().Add(2 * time.Hour) },
	})
	s.write(".gitignore", "")
	s.write("build/grown", "made yesterday, and more")
	s.write("made", "by the turn")
	s.do(os.Rename(filepath.Join(s.workspace.dir, "moved"), filepath.Join(s.workspace.dir, "here")))
	s.write(".env", "KEY=12")
	after := s.take()
	r := s.restore(after, before)
	if fmt.Sprint(r.Kept) != "[{build/grown older} {build/old older}]" ||
		fmt.Sprint(r.Deleted) != "[here]" || len(r.NotUndone) != 1 || r.NotUndone[0].What != ".env" {
		t.Errorf("%+v", r)
	}
}

// If one file cannot be written, none is: neither where that is found before anything is changed,
// nor in the middle.
func TestRestoreAllOrNothing(t *testing.T) {
	for _, name := range []string{"lost", "gone/lost"} {
		s := newSnapshots(t)
		s.write("a", "before")
		s.write(name, "before and lost")
		before := s.take()
		s.write("a", "after")
		s.write("c/d", "after")
		s.do(os.RemoveAll(filepath.Join(s.workspace.dir, strings.Split(name, "/")[0])))
		after, left := s.take(), s.tree()
		hash := fmt.Sprintf("%x", sha256.Sum256([]byte("blob 15\x00before and lost")))
		objects, err := filepath.Glob(filepath.Join(s.dir, "*", "objects", hash[:2], hash[2:]))
		s.do(err, os.Remove(objects[0]))
		_, err = s.Restore(t.Context(), files.RestoreOf{
			Workspace: s.workspace.dir,
			Session:   "one",
			From:      after,
			To:        before,
			ID:        "x",
		}, nothing)
		if failed, ok := errors.AsType[*files.NotRestored](err); !ok || failed.Path != name {
			t.Errorf("restored: %v", err)
		}
		s.is("nothing", left)
	}
}

// Commits, branches and what is staged are brought back, where git still has the objects.
func TestRestoreOfARepository(t *testing.T) {
	s := newSnapshots(t)
	state := func() string {
		var all []string
		for _, name := range []string{"HEAD", "refs/heads/main", "refs/heads/kept", "refs/heads/work",
			"refs/tags/v1"} {
			text, _ := os.ReadFile(filepath.Join(s.workspace.dir, ".git", name))
			all = append(all, name+"="+strings.TrimSpace(string(text)))
		}
		return strings.Join(all, " ")
	}
	staged := func() string { return s.output("ls-files", "--stage") }
	s.git(".", "init", "-q", "-b", "main")
	s.write("a", "1")
	s.git(".", "add", "a")
	s.git(".", "commit", "-q", "-m", "1")
	s.git(".", "branch", "kept")
	s.write("b", "staged")
	s.git(".", "add", "b")
	before, was, wasStaged := s.take(), state(), staged()
	s.git(".", "checkout", "-q", "-b", "work")
	s.write("a", "2")
	s.git(".", "commit", "-q", "-a", "-m", "2")
	s.git(".", "tag", "v1")
	s.git(".", "branch", "-q", "-D", "kept")
	after, left, leftStaged := s.take(), state(), staged()
	s.git(".", "status") // writes the index anew
	if r := s.restore(after, before); len(r.Kept)+len(r.NotUndone) > 0 {
		t.Errorf("%+v", r)
	}
	if got := state(); got != was || staged() != wasStaged {
		t.Errorf("undone:\n%s\nwant\n%s\n%s", got, was, staged())
	}
	s.git(".", "fsck", "--strict")
	s.restore(before, after)
	if got := state(); got != left || staged() != leftStaged {
		t.Errorf("done again:\n%s\nwant\n%s\n%s", got, left, staged())
	}
	s.restore(after, before)
	s.git(".", "reflog", "expire", "--expire=now", "--all")
	s.git(".", "gc", "-q", "--prune=now")
	r := s.restore(before, after) // its commit is gone
	lost := slices.DeleteFunc(r.NotUndone, func(n files.NotUndone) bool {
		return n.What != "refs/heads/work" && n.What != "refs/tags/v1" && n.What != ".git/index"
	})
	if len(lost) != 3 {
		t.Errorf("%+v", r)
	}
	s.write(".git/index.lock", "")
	if r := s.restore(after, before); fmt.Sprint(r.Kept) != "[{.git busy}]" {
		t.Errorf("%+v", r)
	}
}

//go:build unix

package files_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"webchat/internal/files"
)

// THREATS 115: nothing runs that a workspace names, nothing is read that a link leads to, and
// nothing is waited for.
func TestThreat115HostileWorkspace(t *testing.T) {
	s := newSnapshots(t)
	s.git(".", "init", "-q")
	ran := filepath.Join(t.TempDir(), "ran")
	for key, value := range map[string]string{"filter.x.clean": "touch " + ran + "; cat",
		"filter.x.required": "true", "core.fsmonitor": "touch " + ran,
		"core.hooksPath": ".", "gpg.program": "touch " + ran, "diff.x.textconv": "touch " + ran,
		"core.attributesFile": "a", "core.excludesFile": "all"} {
		s.git(".", "config", key, value)
	}
	s.write(".gitattributes",
		"* filter=x diff=x text eol=crlf ident working-tree-encoding=UTF-16\n[attr]binary filter=x\n")
	for _, hook := range []string{"post-index-change", "pre-auto-gc", "reference-transaction"} {
		s.write(hook, "#!/bin/sh\ntouch "+ran+"\n")
		s.write(".git/hooks/"+hook, "#!/bin/sh\ntouch "+ran+"\n")
		for _, name := range []string{hook, ".git/hooks/" + hook} {
			if err := os.Chmod(filepath.Join(s.workspace.dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.write("all", "*\n")
	s.write(".gitmodules", "[submodule \"m\"]\n\tpath = m\n\turl = ext::touch "+ran+
		"\n\tupdate = !touch "+ran+"\n")
	s.write("a.txt", "$Id$\r\nline\n")
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := s.take()
	s.write("a.txt", "$Id$\r\nlines\n")
	if err := os.Symlink(outside, filepath.Join(s.workspace.dir, "out")); err != nil {
		t.Fatal(err)
	}
	second := s.take()
	if got := s.changed(first, second); got != "M a.txt, A out" {
		t.Errorf("changed: %s", got)
	}
	if got := s.changed(second, s.take()); got != "" {
		t.Errorf("nothing was changed, and %s was", got)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("it ran something that the workspace names")
	}
	if err := syscall.Mkfifo(filepath.Join(s.workspace.dir, ".gitignore"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.Take(ctx, s.workspace.dir, "one", "s0"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a list of ignored files that never ends: %v", err)
	}
}

// THREATS 116: folders become links to elsewhere while a turn is undone and done again. Nothing is
// written there, nothing deleted, and none of the links is followed.
func TestThreat116UndoWhileFoldersBecomeLinks(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err == nil {
		t.Setenv("TMPDIR", "/dev/shm") // a disk would be asked to sync each file
	}
	s := newSnapshots(t)
	outside := t.TempDir()
	s.do(os.MkdirAll(filepath.Join(outside, "er"), 0o700),
		os.WriteFile(filepath.Join(outside, "er", "made"), []byte("after"), 0o600),
		os.WriteFile(filepath.Join(outside, "er", "f"), []byte("after"), 0o600))
	s.write("deep/er/f", "before")
	before := s.take()
	s.write("deep/er/f", "after")
	s.write("deep/er/made", "after")
	after := s.take()
	deep, away := filepath.Join(s.workspace.dir, "deep"), filepath.Join(s.workspace.dir, "away")
	swapped, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swapped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := errors.Join(os.Rename(deep, away), os.Symlink(outside, deep), os.Remove(deep),
				os.Rename(away, deep)); err != nil {
				_ = os.Remove(deep) // a folder was made in its place
				_ = os.RemoveAll(deep)
				_ = os.Rename(away, deep)
			}
		}
	}()
	done := 0
	for i := 0; i < 12 || done == 0 && i < 400; i++ {
		of := files.RestoreOf{
			Workspace: s.workspace.dir,
			Session:   "one",
			From:      after,
			To:        before,
			ID:        fmt.Sprint("r", i),
		}
		if i%2 == 1 {
			of.From, of.To = before, after
		}
		r, err := s.Restore(t.Context(), of, nothing)
		if err == nil && len(r.Written) > 0 {
			done++
		}
		if failed := (*files.NotRestored)(nil); err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
	}
	close(stop)
	<-swapped
	list, err := os.ReadDir(filepath.Join(outside, "er"))
	s.do(err)
	for _, e := range list {
		if text, err := os.ReadFile(filepath.Join(outside, "er", e.Name())); err != nil ||
			string(text) != "after" {
			t.Errorf("%s is %q, %v", e.Name(), text, err)
		}
	}
	if len(list) != 2 || done == 0 {
		t.Errorf("outside are %v, and it was undone and done again %d times", list, done)
	}
}

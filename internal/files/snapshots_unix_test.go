//go:build unix

package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// THREATS 115: nothing runs that a workspace names, nothing is read that a link leads to, and nothing
// is waited for.
func TestThreat115HostileWorkspace(t *testing.T) {
	s := newSnapshots(t)
	s.git(".", "init", "-q")
	ran := filepath.Join(t.TempDir(), "ran")
	for key, value := range map[string]string{"filter.x.clean": "touch " + ran + "; cat", "filter.x.required": "true", "core.fsmonitor": "touch " + ran,
		"core.hooksPath": ".", "gpg.program": "touch " + ran, "diff.x.textconv": "touch " + ran, "core.attributesFile": "a", "core.excludesFile": "all"} {
		s.git(".", "config", key, value)
	}
	s.write(".gitattributes", "* filter=x diff=x text eol=crlf ident working-tree-encoding=UTF-16\n[attr]binary filter=x\n")
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
	s.write(".gitmodules", "[submodule \"m\"]\n\tpath = m\n\turl = ext::touch "+ran+"\n\tupdate = !touch "+ran+"\n")
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

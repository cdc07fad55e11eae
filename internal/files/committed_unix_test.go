//go:build unix

package files_test

import (
	"bytes"
	"compress/zlib"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/files"
)

// Bytes that stood at a path in a commit are known, in a folder of the repository too; bytes that
// did not, or elsewhere, or in a commit that came later, are not, and neither is an object that was
// put in the place of another.
func TestCommitted(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("not installed")
	}
	top := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=b"},
			args...)...)
		cmd.Dir = top
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v, %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(what string) { git("add", "-A"); git("commit", "-qm", what) }
	if files.Tips(top) != nil {
		t.Error("a folder without a repository has commits")
	}
	git("init", "-q", ".")
	write("w/.envrc", "old")
	write("w/.vscode/tasks.json", "1")
	write("other", "elsewhere")
	commit("1")
	write("w/.envrc", "new")
	commit("2")
	git("tag", "-a", "-m", "t", "first", "HEAD^")
	tips := files.Tips(filepath.Join(top, "w"))
	if len(tips) != 2 || !slices.Contains(tips, git("rev-parse", "HEAD")) {
		t.Errorf("%v", tips)
	}
	write("w/.envrc", "later")
	commit("3")
	was := func(want bool, names ...string) {
		t.Helper()
		if got, err := files.Committed(t.Context(), os.Environ(), filepath.Join(top, "w"), tips,
			names); err != nil || got != want {
			t.Errorf("%v: %v, %v", names, got, err)
		}
	}
	was(false, ".envrc")
	was(true, ".vscode/tasks.json")
	for text, want := range map[string]bool{"old": true, "new": true, "evil": false,
		"elsewhere": false} {
		write("w/.envrc", text)
		was(want, ".envrc")
		was(want, ".envrc", ".vscode/tasks.json")
	}
	// A commit whose bytes are another one's.
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	evil := "tree " + git("rev-parse", "HEAD^{tree}") + "\n"
	_, _ = w.Write([]byte("commit " + "52" + "\x00" + evil[:46] + "\nauthor"))
	_ = w.Close()
	name := git("rev-parse", "HEAD^")
	p := filepath.Join(top, ".git", "objects", name[:2], name[2:])
	if err := os.Remove(p); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, z.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	write("w/.envrc", "later")
	if got, _ := files.Committed(t.Context(), os.Environ(), filepath.Join(top, "w"), tips,
		[]string{".envrc"}); got {
		t.Error("an object that was exchanged was believed")
	}
}

// The names of settings are read without what they lead to.
func TestConfigNames(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("not installed")
	}
	names, err := files.ConfigNames(t.Context(), os.Environ(),
		[]byte("[include]\n path = /etc/x\n[remote \"a.b\"]\n url = x\n[Core]\n\tFSMonitor = y\n"))
	if want := []string{"include.path", "remote.a.b.url", "core.fsmonitor"}; err != nil ||
		!slices.Equal(names, want) {
		t.Errorf("%q, %v", names, err)
	}
	if names, err := files.ConfigNames(t.Context(), os.Environ(), []byte("[broken")); err == nil {
		t.Errorf("%q", names)
	}
}

// A file counts as git's while it has the bytes that git has, whatever the index says of its name.
func TestUnchanged(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("not installed")
	}
	dir := t.TempDir()
	cmd := exec.Command("sh", "-ec",
		`git init -q .; mkdir in; echo 1 >a.env; printf '1\r\n' >in/b.env; echo 1 >c.env; ln -s d.env l.env
		git -c core.autocrlf=true add . 2>/dev/null; echo 2 >c.env; echo 1 >d.env; ln -s in to
		git update-index --add --cacheinfo 100644,$(echo x | git hash-object -w --stdin),d.env`)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	names := []string{"a.env", "in/b.env", "c.env", "d.env", "l.env", "to/b.env", "none.env"}
	got, err := files.Unchanged(t.Context(), os.Environ(), dir, names)
	if err != nil || !slices.Equal(got, []string{"a.env", "in/b.env"}) {
		t.Errorf("%q, %v", got, err)
	}
}

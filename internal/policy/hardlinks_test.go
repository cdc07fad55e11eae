//go:build unix

package policy

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"webchat/internal/agent"
)

// tree makes files below a new folder, each with its own name as content.
func tree(t testing.TB, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func hard(t testing.TB, dir, from, to string) {
	t.Helper()
	if err := os.Link(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
		t.Skip("no hard links here:", err)
	}
}

func TestThreat78HardLinkToSensitive(t *testing.T) {
	dir := tree(t, ".env", "deep/er/server.key", "notes", "plain", "node_modules/x/.env")
	if err := syscall.Mkfifo(filepath.Join(dir, ".env.pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	hard(t, dir, ".env", "a.txt")
	hard(t, dir, "deep/er/server.key", "b.txt")
	hard(t, dir, "notes", "c.txt")
	if err := os.Symlink("a.txt", filepath.Join(dir, "to-a")); err != nil {
		t.Fatal(err)
	}
	p := New(Config{Workspace: dir})
	for name, want := range map[string]string{
		"a.txt": ".env", "to-a": ".env", filepath.Join(dir, "b.txt"): "deep/er/server.key",
		"c.txt": "", "notes": "", "plain": "", "missing": "", "deep": "", ".env.pipe": "",
	} {
		if got, ok := p.HardLinked(name); got != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		ruling := p.Rule(t.Context(), agent.Permission{
			ToolName: "view",
			Kind:     agent.KindRead,
			Resource: name,
		})
		if own := want != "" || Sensitive(name); ruling.Sensitive != own {
			t.Errorf("%s: the ruling says sensitive=%v", name, ruling.Sensitive)
		}
	}
	// What was linked after the index was made is found as well.
	hard(t, dir, "deep/er/server.key", "later.txt")
	if got, _ := p.HardLinked("later.txt"); got != "deep/er/server.key" {
		t.Errorf("a new name of a known file: %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "new.pem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hard(t, dir, "new.pem", "newer.txt")
	if got, _ := p.HardLinked("newer.txt"); got != "new.pem" {
		t.Errorf("a new file: %q", got)
	}
	if got, _ := p.HardLinked("deep/er/nothing"); got != "" {
		t.Errorf("a missing file: %q", got)
	}
}

// A link out of the folder, or round in it, is not walked.
func TestHardLinksStayInside(t *testing.T) {
	outside := tree(t, ".env")
	dir := tree(t, "x/y")
	for name, to := range map[string]string{"out": outside, "x/round": dir} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(outside, ".env"), filepath.Join(dir, "linked")); err != nil {
		t.Skip("no hard links here:", err)
	}
	if got, ok := New(Config{Workspace: dir}).HardLinked("linked"); ok {
		t.Errorf("a file outside of the folder is named: %q", got)
	}
}

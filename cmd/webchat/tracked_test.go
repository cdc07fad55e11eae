package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Git says which files it tracks, also below a repository within another, and nothing where it has
// no say.
func TestTracked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.go", "in/b.go", "in/[c].go", "new.go"} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if tracked(os.Environ(), filepath.Join(dir, "a.go")) {
		t.Error("a file outside of any repository is tracked")
	}
	for _, args := range [][]string{{"init", "-q"},
		{"--literal-pathspecs", "add", "a.go", "in/b.go", "in/[c].go"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir},
			args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v %s", args, err, out)
		}
	}
	for name, want := range map[string]bool{"a.go": true, "in/b.go": true, "in/[c].go": true,
		"new.go": false, "none.go": false} {
		if got := tracked(os.Environ(), filepath.Join(dir, name)); got != want {
			t.Errorf("%s is tracked: %v", name, got)
		}
	}
}

package files

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What git left half done is found, in a worktree too.
func TestHalfDone(t *testing.T) {
	dir := t.TempDir()
	make := func(name, text string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	make("main/.git/HEAD", "ref: refs/heads/main\n")
	make("tree/.git", "gitdir: ../main/.git/worktrees/tree\n")
	for _, name := range []string{"main", "tree", "none"} {
		if got := HalfDone(filepath.Join(dir, name)); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
	make("main/.git/MERGE_HEAD", "x")
	make("main/.git/worktrees/tree/rebase-merge/done", "x")
	for name, want := range map[string]string{"main": "git merge --abort",
		"tree": "git rebase --abort"} {
		if got := HalfDone(filepath.Join(dir, name)); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

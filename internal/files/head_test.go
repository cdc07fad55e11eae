package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/files"
)

// tree writes files under a new folder and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestHead(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	sha256 := strings.Repeat("c", 64)
	for name, c := range map[string]struct {
		files        map[string]string
		dir, root    string
		branch, hash string
	}{
		"none": {map[string]string{"a": ""}, ".", "", "", ""},
		"loose": {map[string]string{".git/HEAD": "ref: refs/heads/main\n",
			".git/refs/heads/main": a + "\n"}, ".", ".", "main", a},
		"below": {map[string]string{".git/HEAD": "ref: refs/heads/x/y\n", ".git/refs/heads/x/y": a,
			"d/e/f": ""}, "d/e", ".", "x/y", a},
		"packed": {map[string]string{".git/HEAD": "ref: refs/heads/main\n",
			".git/packed-refs": "# pack-refs with: peeled\n" + b + " refs/heads/mai\n" + a +
				" refs/heads/main\n^" + b + "\n"}, ".", ".", "main", a},
		"loose first": {map[string]string{".git/HEAD": "ref: refs/heads/main\n",
			".git/refs/heads/main": a, ".git/packed-refs": b + " refs/heads/main\n"}, ".", ".", "main", a},
		"detached": {map[string]string{".git/HEAD": a + "\n"}, ".", ".", "", a},
		"sha256":   {map[string]string{".git/HEAD": sha256}, ".", ".", "", sha256},
		"unborn":   {map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, ".", ".", "main", ""},
		"reftable": {map[string]string{".git/HEAD": "ref: refs/heads/.invalid\n"}, ".", ".", "", ""},
		"escape": {map[string]string{".git/HEAD": "ref: ../secret\n", "secret": a}, ".", ".",
			"../secret", ""},
		"broken":       {map[string]string{".git/HEAD": "\x00\xff"}, ".", ".", "", ""},
		"empty folder": {map[string]string{".git/config": ""}, ".", "", "", ""},
		"worktree": {map[string]string{
			"w/.git":                          "gitdir: ../main/.git/worktrees/w\n",
			"main/.git/worktrees/w/HEAD":      "ref: refs/heads/side\n",
			"main/.git/worktrees/w/commondir": "../..\n",
			"main/.git/HEAD":                  "ref: refs/heads/main\n",
			"main/.git/refs/heads/side":       b + "\n",
			"main/.git/refs/heads/main":       a + "\n",
		}, "w", "w", "side", b},
		"worktree packed": {map[string]string{
			"w/.git":                          "gitdir: ../main/.git/worktrees/w\n",
			"main/.git/worktrees/w/HEAD":      "ref: refs/heads/side\n",
			"main/.git/worktrees/w/commondir": "../..\n",
			"main/.git/packed-refs":           b + " refs/heads/side\n",
		}, "w", "w", "side", b},
		"submodule": {map[string]string{
			"sub/.git":              "gitdir: ../.git/modules/sub",
			".git/modules/sub/HEAD": a,
			".git/HEAD":             "ref: refs/heads/main\n",
		}, "sub", "sub", "", a},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, c.files)
			want := files.Head{Branch: c.branch, Commit: c.hash}
			if c.root != "" {
				want.Root = filepath.Join(root, c.root)
			}
			if got := files.HeadOf(filepath.Join(root, c.dir)); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

package cage

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Files that may hold secrets are found in two levels, also those that are made later.
func TestSecretsBelow(t *testing.T) {
	dir := t.TempDir()
	w := walker{known: map[string]*folder{}}
	is := func(top, want string) {
		t.Helper()
		found := w.secretsBelow(top, shallow)
		for i, p := range found {
			found[i] = filepath.ToSlash(strings.TrimPrefix(p, dir))
		}
		slices.Sort(found)
		if got := strings.Join(found, " "); got != want {
			t.Errorf("found %q, not %q", got, want)
		}
	}
	write := func(name string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"own.key", "a/text", "a/b/deep.key", "a.key/text"} {
		write(name)
	}
	if err := os.Symlink("own.key", filepath.Join(dir, "other.key")); err != nil {
		t.Skip(err) // Windows
	}
	is(dir, "/own.key")
	write("a/new.key")
	is(dir, "/a/new.key /own.key")
	if err := os.Remove(filepath.Join(dir, "own.key")); err != nil {
		t.Fatal(err)
	}
	is(dir, "/a/new.key")
	is(filepath.Join(dir, "a", "new.key"), "/a/new.key")
	is(filepath.Join(dir, "none"), "")
}

package cage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What git could not answer is asked again for the next tree, and what it answered is not.
func TestTrackedAfterGitFailed(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "a.env")
	for _, name := range []string{p, filepath.Join(dir, ".git", "index")} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	asked := 0
	c := &Cage{read: map[string]bool{}, cfg: Config{
		Tracked: func(context.Context, string, []string) ([]string, error) {
			if asked++; asked == 1 {
				return nil, errors.New("killed")
			}
			return []string{"a.env"}, nil
		}}}
	for i, want := range []bool{false, true, true} {
		is := c.tracked(t.Context(), []string{p}, []string{filepath.Join(dir, ".git")})
		if is[p] != want {
			t.Errorf("try %d: tracked %v", i, is)
		}
	}
	if asked != 2 {
		t.Errorf("git was asked %d times", asked)
	}
}

package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/files"
)

// TestBudget: the names of all folders together stay within the budget. Those used longest ago go
// first, and are there again when they are asked for; the last ones stay, however many they are.
func TestBudget(t *testing.T) {
	budget := files.NewBudget(2500)
	folders := map[string]*files.Index{}
	for name, n := range map[string]int{"a": 20, "b": 20, "c": 20, "large": 200} {
		dir := t.TempDir()
		for i := range n {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%03d.txt", name, i)), nil,
				0o600); err != nil {
				t.Fatal(err)
			}
		}
		x, err := files.New(files.Config{Root: dir, Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		folders[name] = x
	}
	for _, step := range []struct{ ask, kept string }{
		{"a", "a"}, {"b", "a b"}, {"a", "a b"}, {"c", "a c"}, {"b", "b c"}, {"large", "large"},
		{"a", "a"}, {"c", "a c"},
	} {
		if names, err := folders[step.ask].Names(t.Context()); err != nil || len(names) < 20 ||
			!strings.HasPrefix(names[0], step.ask) {
			t.Fatalf("%s: %d names, %v", step.ask, len(names), err)
		}
		var kept []string
		for name, x := range folders {
			if files.Keeps(x) {
				kept = append(kept, name)
			}
		}
		slices.Sort(kept)
		if got := strings.Join(kept, " "); got != step.kept {
			t.Errorf("after %s there are kept %q, want %q", step.ask, got, step.kept)
		}
	}
	folders["c"].Close()
	if n := files.KeptBy(budget); n != 1 {
		t.Errorf("after one was closed the budget counts %d", n)
	}
}

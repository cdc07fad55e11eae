package files_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/files"
)

// named is a workspace's index of these names.
func named(names ...string) func(context.Context, string, int) ([]string, error) {
	return func(context.Context, string, int) ([]string, error) { return names, nil }
}

// A name is a place when there is such a file in the workspace, and only then.
func TestPlaces(t *testing.T) {
	root := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.go")
	for _, name := range []string{filepath.Join(root, "pump", "pump_test.go"), filepath.Join(root, "go.mod"), filepath.Join(root, "a", "same.go"), filepath.Join(root, "b", "same.go"), outside} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(root, "link.go")); err != nil {
		t.Skip("no symbolic links here")
	}
	complete := named("pump/pump_test.go", "a/same.go", "b/same.go")
	for _, c := range []struct{ cwd, name, want string }{
		{"pump", "pump_test.go", "pump/pump_test.go"}, {"", "./pump/pump_test.go", "pump/pump_test.go"}, {"pump", "go.mod", "go.mod"}, {"pump", "../go.mod", "go.mod"},
		{"", "pump_test.go", "pump/pump_test.go"}, {"", filepath.Join(root, "go.mod"), "go.mod"}, {"", "same.go", ""}, {"", "pump", ""}, {"", "none.go", ""}, {"", "", ""},
		{"", outside, ""}, {"", "link.go", ""}, {"", "../" + filepath.Base(filepath.Dir(outside)) + "/secret.go", ""}, {"..", "secret.go", ""}, {"", "go.mod\x00", ""},
	} {
		if got, ok := files.Place(t.Context(), root, c.cwd, c.name, complete); got != c.want || ok != (c.want != "") {
			t.Errorf("%q in %q: %q, want %q", c.name, c.cwd, got, c.want)
		}
	}
	if _, ok := files.Place(t.Context(), root, "", "pump_test.go", nil); ok {
		t.Error("without an index there is a place for the end of a path")
	}
}

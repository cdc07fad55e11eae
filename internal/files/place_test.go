package files_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"webchat/internal/files"
)

// A name is a place when there is such a file in the workspace, and only then.
func TestPlaces(t *testing.T) {
	root := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.go")
	for _, name := range []string{filepath.Join(root, "pump", "pump_test.go"),
		filepath.Join(root, "go.mod"), filepath.Join(root, "a", "same.go"),
		filepath.Join(root, "b", "same.go"), filepath.Join(root, "a", "own"), outside} {
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
	x, err := files.New(files.Config{Root: root, Hidden: func(path string) bool {
		return filepath.Base(path) == "own"
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, c := range []struct{ cwd, name, want string }{
		{"pump", "pump_test.go", "pump/pump_test.go"}, {"", "./pump/pump_test.go", "pump/pump_test.go"},
		{"pump", "go.mod", "go.mod"}, {"pump", "../go.mod", "go.mod"},
		{"", "pump_test.go", "pump/pump_test.go"}, {"", filepath.Join(root, "go.mod"), "go.mod"},
		{"", "same.go", ""}, {"", "pump", ""}, {"", "none.go", ""}, {"", "", ""},
		{"", outside, ""}, {"", "link.go", ""}, {"", "../" + filepath.Base(filepath.Dir(outside)) +
			"/secret.go", ""}, {"..", "secret.go", ""}, {"", "go.mod\x00", ""}, {"a", "own", ""}, {"",
			"a/own", ""}, {"", "own", ""},
	} {
		if got, ok := x.Place(t.Context(), c.cwd, c.name); got != c.want || ok != (c.want != "") {
			t.Errorf("%q in %q: %q, want %q", c.name, c.cwd, got, c.want)
		}
	}
	for _, q := range []string{"own", "a/own", ""} {
		if names, err := x.Complete(t.Context(), q, 20); err != nil || slices.Contains(names, "a/own") {
			t.Errorf("completing %q: %q, %v", q, names, err)
		}
	}
}

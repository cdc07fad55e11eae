package copilot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVersionAsked: a binary outside a package is asked for its version, once.
func TestVersionAsked(t *testing.T) {
	cfg, dir := scripted(t,
		[]byte("-- --version --\nGitHub Copilot CLI 1.2.3.\nRun 'copilot update' to check for "+
			"updates.\n"))
	if err := os.Remove(filepath.Join(dir, "package.json")); err != nil {
		t.Fatal(err)
	}
	b := backend(t, cfg)
	for range 2 {
		info := b.Info(t.Context())
		if !info.Available || info.Version != "1.2.3" {
			t.Errorf("%+v", info)
		}
		write(t, filepath.Join(dir, "script"), []byte("-- --version --\nasked again\n"))
	}
}

// A binary that does not print its version is asked once, and not at each look.
func TestSilentIsAskedOnce(t *testing.T) {
	cfg, dir := scripted(t, []byte("-- --version --\nsomething else of the same name\n"))
	if err := os.Remove(filepath.Join(dir, "package.json")); err != nil {
		t.Fatal(err)
	}
	b := backend(t, cfg)
	for range 2 {
		if info := b.Info(t.Context()); info.Available ||
			!strings.Contains(info.Reason, "does not print its version") {
			t.Errorf("%+v", info)
		}
		write(t, filepath.Join(dir, "script"), []byte("-- --version --\n1.2.3\n"))
	}
}

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestMounted: in a container the workspace and each folder below /workspaces is one.
func TestMounted(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (dirs []string) {
		for _, name := range names {
			dirs = append(dirs, filepath.Join(top, name))
		}
		return dirs
	}
	step := func(want []string, folders ...string) {
		t.Helper()
		for _, dir := range in(folders...) {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		o := &options{Workspace: []string{filepath.Join(top, "workspace")}, container: true}
		if got, err := o.workspaceDirs(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	step(in("workspace"), "workspace")
	step(in("workspace"), "workspaces/.git")
	step(in("workspaces/pump", "workspaces/relay"), "workspaces/relay", "workspaces/pump")
	if err := os.WriteFile(filepath.Join(top, "workspaces", "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	step(in("workspace", "workspaces/pump", "workspaces/relay"), "workspace/src")
}

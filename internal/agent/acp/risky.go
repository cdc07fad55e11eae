package acp

import (
	"fmt"
	"os"
	"path/filepath"

	"webchat/internal/agent"
)

// refuseRisky fails if a workspace has what the agent would take commands from without
// asking anybody: in itself, or above it up to the root of its git repository.
func (c Config) refuseRisky(workspace string) error {
	for _, dir := range upToRoot(workspace) {
		for _, path := range c.Risky {
			if name := filepath.Join(dir, filepath.FromSlash(path)); holds(name) {
				return fmt.Errorf("%w: %s would run what %s says, without asking you; rename that, or choose another agent", agent.ErrUnavailable, c.Title, name)
			}
		}
	}
	return nil
}

// upToRoot is a folder and those above it up to the root of its git repository; the folder
// alone without one.
func upToRoot(folder string) []string {
	dirs := []string{folder}
	for dir := folder; ; dir = filepath.Dir(dir) {
		if dir != folder {
			dirs = append(dirs, dir)
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dirs
		}
		if filepath.Dir(dir) == dir {
			return dirs[:1]
		}
	}
}

// holds reports whether there is a file, or a folder with something in it.
func holds(name string) bool {
	st, err := os.Stat(name)
	if err != nil || !st.IsDir() {
		return err == nil
	}
	entries, err := os.ReadDir(name)
	return err != nil || len(entries) > 0
}

package convo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/wording"
)

// MostDiffed is the size up to which a file is read for a diff, in bytes.
const MostDiffed = 1 << 20

// Content reads a file that is to change; ok is false for one that cannot be compared.
func Content(path string) (text string, exists, ok bool) {
	st, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return "", false, true
	case err != nil || !st.Mode().IsRegular() || st.Size() > MostDiffed:
		return "", false, false
	}
	b, err := os.ReadFile(filepath.Clean(path))
	return string(b), true, err == nil
}

// Diff is what changes in a file from one text to another, as a unified diff.
func Diff(name, from, to string) string {
	return fmt.Sprintf("--- %s\n+++ %s\n", name, name) + Hunks(from, to)
}

// Hunks are the hunks of a unified diff; empty means nothing changes.
func Hunks(from, to string) string {
	return strings.ToValidUTF8(wording.Unified([]byte(from), []byte(to)), "\uFFFD")
}

// RefuseRisky fails if one of the folders has one of the paths from which an agent would run
// commands without asking anybody.
func RefuseRisky(title string, folders, paths []string) error {
	for _, dir := range folders {
		for _, path := range paths {
			if name := filepath.Join(dir, filepath.FromSlash(path)); holds(name) {
				return fmt.Errorf("%w: %s would run what %s says, without asking you; rename that, or choose another agent",
					agent.ErrUnavailable, title, name)
			}
		}
	}
	return nil
}

// UpToRoot is a folder and those above it up to the root of its git repository; the folder alone
// without one.
func UpToRoot(folder string) []string {
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

package convo

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/patch"
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
	return strings.ToValidUTF8(patch.Unified([]byte(from), []byte(to)), "\uFFFD")
}

// RefuseRisky fails if a workspace, or a folder above it, has one of the paths from which an agent
// would run commands without asking anybody. home is the user's folder: what stands there and above
// it is the user's own. Agents look up to different folders, and what they take for the root of a
// repository is theirs to say, so all are judged, by the workspace's name and by where that leads.
func RefuseRisky(title, workspace, home string, paths []string) error {
	for _, dir := range upwards(workspace, home) {
		for _, path := range paths {
			if name := filepath.Join(dir, filepath.FromSlash(path)); holds(name) {
				return fmt.Errorf(
					"%w: %s would run what %s says, without asking you; rename that, or choose another agent",
					agent.ErrUnavailable, title, name)
			}
		}
	}
	return nil
}

// upwards returns a folder and all above it, by its name and by where that leads, but for home and
// what is above that.
func upwards(folder, home string) (dirs []string) {
	homes := places(home)
	for _, dir := range places(folder) {
		for {
			if !slices.ContainsFunc(homes, func(h string) bool {
				return isUnder(dir, h)
			}) && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
			if filepath.Dir(dir) == dir {
				break
			}
			dir = filepath.Dir(dir)
		}
	}
	return dirs
}

// places are a folder's name and where it leads; none for an empty name.
func places(dir string) []string {
	if dir == "" {
		return nil
	}
	names := []string{filepath.Clean(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != names[0] {
		names = append(names, real)
	}
	return names
}

// isUnder reports whether a path is root or below it.
func isUnder(root, name string) bool {
	return name == root || strings.HasPrefix(name,
		strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
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

// Instructed is what a user who wants no instruction files loaded should know of an agent that
// cannot be kept from it; see [agent.Info].Lacks.
const Instructed = "loads the instruction files of a folder, also with --instructions off"

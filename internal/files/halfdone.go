package files

import (
	"os"
	"path/filepath"
	"strings"
)

// halfDone are what git leaves in its folder while something is half done, with the command that takes
// it back.
var halfDone = []struct{ name, command string }{
	{"MERGE_HEAD", "git merge --abort"}, {"CHERRY_PICK_HEAD", "git cherry-pick --abort"}, {"REVERT_HEAD", "git revert --abort"},
	{"rebase-merge", "git rebase --abort"}, {"rebase-apply", "git rebase --abort"},
}

// HalfDone returns the commands that take back what git left half done in a workspace; none is the
// usual.
func HalfDone(workspace string) (commands []string) {
	dir := filepath.Join(workspace, ".git")
	if st, err := os.Lstat(dir); err != nil {
		return nil
	} else if st.Mode().IsRegular() && st.Size() < 4096 { // a worktree's
		text, _ := os.ReadFile(dir) // then it names nothing
		to, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if dir = to; !filepath.IsAbs(to) {
			dir = filepath.Join(workspace, to)
		}
	}
	for _, h := range halfDone {
		if _, err := os.Lstat(filepath.Join(dir, h.name)); err == nil {
			commands = append(commands, h.command)
		}
	}
	return commands
}

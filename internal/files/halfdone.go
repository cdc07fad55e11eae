package files

import (
	"os"
	"path/filepath"
)

// halfDone are the files that git keeps in its folder during an operation, with the command that
// aborts it.
var halfDone = []struct{ name, command string }{
	{"MERGE_HEAD", "git merge --abort"},
	{"CHERRY_PICK_HEAD", "git cherry-pick --abort"},
	{"REVERT_HEAD", "git revert --abort"},
	{"rebase-merge", "git rebase --abort"},
	{"rebase-apply", "git rebase --abort"},
}

// HalfDone returns the commands that abort what git left half done in a workspace.
func HalfDone(workspace string) (commands []string) {
	root, git := findGit(workspace)
	if root != filepath.Clean(workspace) {
		return nil
	}
	for _, h := range halfDone {
		if _, err := os.Lstat(filepath.Join(git, h.name)); err == nil {
			commands = append(commands, h.command)
		}
	}
	return commands
}

package cage

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// In one of webchat's own worktrees git commits, and of the repository nothing else is written.
func TestOwnWorktree(t *testing.T) {
	y := newYard(t)
	repo, tree := y.work, filepath.Join(filepath.Dir(y.home), "data", "worktrees", "s1", "proj-x")
	git := func(dir string, args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"},
			args...)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	git(repo, "init", "-q", "-b", "main")
	y.write("code/proj/a", "1\n")
	git(repo, "add", "a")
	git(repo, "commit", "-qm", "1")
	git(repo, "worktree", "add", "-q", "-b", "webchat/x", tree)
	git(repo, "worktree", "add", "-q", "-b", "webchat/y", tree+"-y")
	y.work, y.Workspace, y.Worktrees = tree, tree, filepath.Dir(filepath.Dir(tree))
	out := y.run(
		`export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
		echo 2 >a; git add a; git commit -qm 2 && git log --oneline --format=%s | head -1
		G=`+repo+`/.git; for f in refs/heads/main refs/heads/new config hooks/pre-commit packed-refs HEAD index worktrees/proj-x-y/HEAD refs/tags/t worktrees/new; do
			(echo x >>$G/$f) 2>/dev/null && echo wrote $f; done
		(echo x >>`+repo+`/a) 2>/dev/null && echo wrote the checkout; git branch -q -D main 2>/dev/null && echo deleted main; git status --short`, Needs{})
	if got := strings.TrimSpace(out); got != "2" {
		t.Errorf("inside: %s", got)
	}
	if _, err := os.Stat(filepath.Join(repo, ".git/refs/heads/new")); err == nil {
		t.Error("a branch was made")
	}
}

package cage

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"webchat/internal/policy"
	"webchat/internal/proc"
	"webchat/internal/veil"
)

// gitRuns is what git runs or obeys in its folder; of folders all that is in them. What is
// on the way there is pinned. Repositories of submodules are held as such.
var gitRuns = func() (names []string) {
	for _, l := range policy.Laters {
		if name, ok := strings.CutPrefix(l.Path, ".git/"); ok && name != "modules" {
			names = append(names, name)
		}
	}
	return append(names, "gitdir")
}()

// holdGit pins a repository's folder and freezes what git runs by it: its own, that of its
// worktrees and of its submodules. A file in its place is frozen, and what it names is
// given where that names the file too, as a worktree's does.
func (s *spec) holdGit(p string) {
	for _, dir := range s.cfg.hooksOf(p) {
		s.freezeLed(dir)
	}
	st, err := os.Lstat(p)
	switch {
	case err != nil:
	case st.IsDir():
		s.pinGit(p)
	case st.Mode().IsRegular():
		s.held = append(s.held, proc.Place{Path: p, Access: proc.Frozen})
		if common, ok := commonOf(p); ok && !isIn(common, s.cfg.Workspace) {
			if isIn(s.cfg.Workspace, s.cfg.Worktrees) {
				s.giveShared(common, p)
				return
			}
			s.given[common] = proc.Place{Path: common, Access: proc.Writable}
			s.pinGit(common)
		}
	}
}

// giveShared gives of the repository of one of webchat's own worktrees what its commits need: the
// objects, the branches of such worktrees, and what is the worktree's, which file leads to. The
// rest is read.
func (s *spec) giveShared(common, file string) {
	s.give(proc.Readable, common)
	s.showClean(filepath.Join(common, "config"))
	for _, name := range []string{"objects", "refs/heads/webchat", "logs/refs/heads/webchat"} {
		p := filepath.Join(common, filepath.FromSlash(name))
		if real, err := filepath.EvalSymlinks(p); err == nil && real == p {
			s.given[p] = proc.Place{Path: p, Access: proc.Writable}
		}
	}
	text := strings.TrimSpace(strings.TrimPrefix(string(read(file)), "gitdir: "))
	if own, err := filepath.EvalSymlinks(text); err == nil && isIn(own, common) {
		s.given[own] = proc.Place{Path: own, Access: proc.Writable}
		s.pinGit(own)
	}
}

// giveAbove gives the repository that the workspace is a folder of, to be read: the rest of its
// files is not there, and a commit would remove them. That of the user's folder is not given.
func (s *spec) giveAbove() {
	if _, err := os.Lstat(filepath.Join(s.cfg.Workspace, ".git")); err == nil {
		return
	}
	for dir := filepath.Dir(s.cfg.Workspace); dir != "/" &&
		!isIn(s.cfg.Home, dir); dir = filepath.Dir(dir) {
		p := filepath.Join(dir, ".git")
		st, err := os.Lstat(p)
		if err != nil || st.Mode()&fs.ModeSymlink != 0 {
			continue
		}
		s.give(proc.Readable, p)
		if common, ok := commonOf(p); ok && !st.IsDir() {
			s.give(proc.Readable, common)
			p = common
		}
		s.showClean(filepath.Join(p, "config"))
		s.above = true
		return
	}
}

func (s *spec) pinGit(dir string) {
	s.held = append(s.held, proc.Place{Path: dir, Access: proc.Pinned})
	for _, name := range gitRuns {
		p := filepath.Join(dir, name)
		if st, err := os.Lstat(p); err != nil || st.Mode()&fs.ModeSymlink != 0 {
			s.freezeLed(p)
			continue
		}
		if in := filepath.Dir(p); in != dir {
			s.held = append(s.held, proc.Place{Path: in, Access: proc.Pinned})
		}
		if name == "config" && s.showClean(p) {
			continue
		}
		s.held = append(s.held, proc.Place{Path: p, Access: proc.Frozen})
	}
	worktrees, _ := os.ReadDir(filepath.Join(dir, "worktrees")) // there may be none
	if len(worktrees) > 0 {
		s.held = append(s.held, proc.Place{Path: filepath.Join(dir, "worktrees"), Access: proc.Pinned})
	}
	for _, d := range worktrees {
		if d.IsDir() {
			s.pinGit(filepath.Join(dir, "worktrees", d.Name()))
		}
	}
	s.pinModules(filepath.Join(dir, "modules"))
}

// freezeLed freezes what a path leads to, if trees could write to it.
func (s *spec) freezeLed(p string) {
	real, err := filepath.EvalSymlinks(p)
	if err != nil || real == s.cfg.Workspace || !isIn(real, s.cfg.Workspace) || s.showClean(real) {
		return
	}
	s.held = append(s.held, proc.Place{Path: real, Access: proc.Frozen})
}

// pinModules holds the repositories of submodules, whose names may have slashes.
func (s *spec) pinModules(dir string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	if isGitFolder(list) {
		s.pinGit(dir)
		return
	}
	s.held = append(s.held, proc.Place{Path: dir, Access: proc.Pinned})
	for _, d := range list {
		if d.IsDir() {
			s.pinModules(filepath.Join(dir, d.Name()))
		}
	}
}

// showClean shows a repository's settings without what looks like a secret in them, if
// something does.
func (s *spec) showClean(p string) bool {
	b := read(p)
	if len(b) <= mostRead && len(veil.Spans(b)) == 0 { // of a larger one not all is known
		return false
	}
	clean, err := s.own(fmt.Sprintf("config-%d", len(s.held)), []byte(veil.Hide(string(b))))
	if err != nil {
		return false
	}
	s.held = append(s.held, proc.Place{Path: p, From: clean})
	return true
}

// commonOf returns the repository that a worktree's file belongs to. Since the file is the
// workspace's, the repository has to name it too.
func commonOf(file string) (string, bool) {
	of := func(name string) string {
		// it may name nothing
		text := strings.TrimSpace(strings.TrimPrefix(string(read(name)), "gitdir: "))
		if text != "" && !filepath.IsAbs(text) {
			text = filepath.Join(filepath.Dir(name), text)
		}
		return text
	}
	dir, err := filepath.EvalSymlinks(of(file))
	if err != nil || of(filepath.Join(dir, "gitdir")) != file {
		return "", false
	}
	common, err := filepath.EvalSymlinks(of(filepath.Join(dir, "commondir")))
	list, bad := os.ReadDir(common)
	return common, err == nil && bad == nil && isGitFolder(list) &&
		filepath.Dir(dir) == filepath.Join(common, "worktrees")
}

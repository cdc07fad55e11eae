package cage

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"webchat/internal/policy"
	"webchat/internal/proc"
	"webchat/internal/veil"
)

// entry is what one name in a folder means.
type entry struct {
	name   string
	folder bool
	link   bool
	held   holding
}

type holding int

const (
	nothing holding = iota
	sensitive
	later
	gitFolder // a repository's .git, or a bare repository
	dependencies
)

// folder is what was read of a folder of the workspace.
type folder struct {
	changed time.Time // of the folder, when it was read
	read    time.Time
	entries []entry // those that mean something, and folders
}

// walker knows the names of a workspace. A folder is read again when it has changed.
type walker struct {
	mu    sync.Mutex
	known map[string]*folder // guarded by mu, by path
}

// clockStep is how coarse the times of folders may be.
const clockStep = 50 * time.Millisecond

// dependencyFolders hold what was fetched: names in them mean nothing to the user.
var dependencyFolders = []string{"node_modules", "site-packages", ".venv", "venv", "vendor", "target", "__pycache__"}

// read returns what is in a folder.
func (w *walker) read(dir, workspace string) ([]entry, error) {
	st, err := os.Lstat(dir)
	if err != nil || !st.IsDir() {
		return nil, err
	}
	if f := w.known[dir]; f != nil && f.changed.Equal(st.ModTime()) && f.changed.Before(f.read.Add(-clockStep)) {
		return f.entries, nil
	}
	f := &folder{changed: st.ModTime(), read: time.Now()}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	bare := isGitFolder(list)
	for _, d := range list {
		e := entry{name: d.Name(), folder: d.IsDir(), link: d.Type()&fs.ModeSymlink != 0}
		rel := strings.TrimPrefix(filepath.Join(dir, e.name), workspace+"/")
		switch {
		case d.Name() == ".git":
			e.held = gitFolder
		case bare: // its own folders are judged as those of a repository
			continue
		case e.folder && slices.Contains(dependencyFolders, e.name):
			e.held = dependencies
		case policy.IsLater(filepath.ToSlash(rel), policy.Runs):
			e.held = later
		case policy.Sensitive(rel) || e.folder && policy.Sensitive(rel+"/x.go"):
			e.held = sensitive
		}
		if e.held != nothing || e.folder {
			f.entries = append(f.entries, e)
		}
	}
	if bare {
		f.entries = append(f.entries, entry{held: gitFolder})
	}
	w.known[dir] = f
	return f.entries, nil
}

// isGitFolder reports whether a folder holds what git takes for a repository.
func isGitFolder(list []fs.DirEntry) bool {
	found := 0
	for _, d := range list {
		if n := d.Name(); n == "HEAD" || (n == "objects" || n == "refs") && d.IsDir() {
			found++
		}
	}
	return found == 3
}

// finding is what was found in a workspace.
type finding struct {
	sensitive, later, git []string
}

// find walks a workspace.
func (w *walker) find(ctx context.Context, workspace string) (f finding, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := map[string]bool{}
	for todo := []string{workspace}; len(todo) > 0; todo = todo[1:] {
		dir := todo[0]
		if ctx.Err() != nil {
			return f, ctx.Err()
		}
		seen[dir] = true
		entries, err := w.read(dir, workspace)
		if err != nil {
			continue // what cannot be read outside cannot be read inside
		}
		for _, e := range entries {
			p := filepath.Join(dir, e.name)
			switch e.held {
			case sensitive:
				f.sensitive = append(f.sensitive, p)
			case later:
				f.later = append(f.later, p)
			case gitFolder:
				f.git = append(f.git, p)
			case nothing:
				if e.folder {
					todo = append(todo, p)
				}
			}
		}
	}
	for dir := range w.known {
		if !seen[dir] {
			delete(w.known, dir)
		}
	}
	return f, nil
}

// hold freezes and covers what is in the workspace and in what else is given.
func (c *Cage) hold(ctx context.Context, s *spec) error {
	f, err := c.walk.find(ctx, c.cfg.Workspace)
	if err != nil {
		return err
	}
	for _, p := range f.later {
		if err := s.freeze(p); err != nil {
			return err
		}
	}
	for _, p := range f.git {
		s.holdGit(p)
	}
	if err := c.cover(ctx, s, f.sensitive, f.git); err != nil {
		return err
	}
	for _, p := range s.given {
		if p.Path != c.cfg.Workspace && p.From == "" {
			s.coverShallow(p.Path)
		}
	}
	s.coverHidden(c.cfg.Workspace)
	return nil
}

// freeze freezes what runs later, or what a link of that name leads to.
func (s *spec) freeze(p string) error {
	st, err := os.Lstat(p)
	if err != nil {
		return nil
	}
	if st.Mode()&fs.ModeSymlink != 0 {
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			return nil // it leads nowhere
		}
		if !isIn(real, s.cfg.Workspace) {
			return fmt.Errorf("confine: %s runs later by itself and is a link out of the workspace, to %s: replace it by the file, or start without the sandbox", p, real)
		}
		p = real
	}
	s.held = append(s.held, proc.Place{Path: p, Access: proc.Frozen})
	return nil
}

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
	st, err := os.Lstat(p)
	switch {
	case err != nil:
	case st.IsDir():
		s.pinGit(p)
	case st.Mode().IsRegular():
		s.held = append(s.held, proc.Place{Path: p, Access: proc.Frozen})
		if common, ok := commonOf(p); ok && !isIn(common, s.cfg.Workspace) {
			s.given[common] = proc.Place{Path: common, Access: proc.Writable}
			s.pinGit(common)
		}
	}
}

func (s *spec) pinGit(dir string) {
	s.held = append(s.held, proc.Place{Path: dir, Access: proc.Pinned})
	for _, name := range gitRuns {
		p := filepath.Join(dir, name)
		if st, err := os.Lstat(p); err != nil || st.Mode()&fs.ModeSymlink != 0 {
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
	b, err := os.ReadFile(p)
	if err != nil || len(veil.Spans(b)) == 0 {
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
		b, _ := os.ReadFile(name) // what cannot be read names nothing
		text := strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir: "))
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
	return common, err == nil && bad == nil && isGitFolder(list) && filepath.Dir(dir) == filepath.Join(common, "worktrees")
}

// cover covers those of the sensitive files that git does not track.
func (c *Cage) cover(ctx context.Context, s *spec, found, git []string) error {
	if len(found) == 0 {
		return nil
	}
	tracked := c.tracked(ctx, found, git)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	linked := map[fileID]bool{}
	for _, p := range found {
		real, err := filepath.EvalSymlinks(p)
		if err != nil || tracked[p] || !isIn(real, c.cfg.Workspace) {
			continue
		}
		st, err := os.Stat(real)
		if err != nil {
			continue
		}
		s.coverOne(real)
		if id, names := identify(st); names > 1 && st.Mode().IsRegular() {
			linked[id] = true
		}
	}
	if len(linked) > 0 {
		return s.coverLinked(ctx, linked)
	}
	return nil
}

// tracked returns which of some files git has in the index of the repository they are in.
// Without an answer of git, none is.
func (c *Cage) tracked(ctx context.Context, found, git []string) map[string]bool {
	if c.cfg.Tracked == nil {
		return nil
	}
	by := map[string][]string{} // paths by the folder of their repository
	var key strings.Builder
	for _, p := range found {
		top := ""
		for _, g := range git {
			if dir := filepath.Dir(g); isIn(p, dir) && len(dir) > len(top) {
				top = dir
			}
		}
		if top != "" {
			by[top] = append(by[top], p)
			fmt.Fprintln(&key, p)
		}
	}
	for _, top := range slices.Sorted(maps.Keys(by)) {
		if st, err := os.Stat(filepath.Join(top, ".git", "index")); err == nil {
			fmt.Fprintln(&key, top, st.ModTime().UnixNano(), st.Size())
		} else {
			fmt.Fprintln(&key, top, time.Now().UnixNano()) // a worktree's is elsewhere
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trackedBy == key.String() {
		return c.trackedIs
	}
	is := map[string]bool{}
	for top, paths := range by {
		names := make([]string, len(paths))
		for i, p := range paths {
			names[i] = strings.TrimPrefix(p, top+"/")
		}
		known, err := c.cfg.Tracked(ctx, top, names)
		if err != nil {
			continue
		}
		for _, name := range known {
			is[filepath.Join(top, name)] = true
		}
	}
	c.trackedBy, c.trackedIs = key.String(), is
	return is
}

func (s *spec) coverOne(p string) {
	if !slices.Contains(s.covered, p) {
		s.covered = append(s.covered, p)
		s.held = append(s.held, proc.Place{Path: p, Access: proc.Covered})
	}
}

// coverLinked covers the other names that sensitive files have in the workspace.
func (s *spec) coverLinked(ctx context.Context, linked map[fileID]bool) error {
	return filepath.WalkDir(s.cfg.Workspace, func(p string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if d.Type().IsRegular() {
			if st, err := d.Info(); err == nil {
				if id, names := identify(st); names > 1 && linked[id] {
					s.coverOne(p)
				}
			}
		}
		return nil
	})
}

// coverShallow covers sensitive files near the top of something that is read, and in /etc
// what not everybody may read.
func (s *spec) coverShallow(top string) {
	etc := top == "/etc"
	if !etc && !isIn(top, s.cfg.Home) && !slices.Contains(s.expanded(slices.Concat(s.cfg.Read, s.cfg.Write)), top) {
		return
	}
	_ = filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it cannot be read inside either
		}
		rel, _ := filepath.Rel(top, p)
		deep := d.IsDir() && strings.Count(rel, "/") >= shallow-1 && rel != "."
		switch {
		case etc:
			if st, err := d.Info(); err == nil && st.Mode().Perm()&0o004 == 0 && st.Mode()&fs.ModeSymlink == 0 {
				s.held = append(s.held, proc.Place{Path: p, Access: proc.Covered})
				if d.IsDir() {
					return fs.SkipDir
				}
			}
			return nil
		case d.Type().IsRegular() && policy.Sensitive(p):
			s.held = append(s.held, proc.Place{Path: p, Access: proc.Covered})
		}
		if deep {
			return fs.SkipDir
		}
		return nil
	})
}

// coverHidden covers webchat's own files where the workspace holds them.
func (s *spec) coverHidden(workspace string) {
	if s.cfg.Hidden == nil {
		return
	}
	for dir := s.cfg.Scratch; isIn(dir, workspace) && dir != workspace; dir = filepath.Dir(dir) {
		if up := filepath.Dir(dir); s.cfg.Hidden(dir) && !s.cfg.Hidden(up) {
			s.held = append(s.held, proc.Place{Path: dir, Access: proc.Covered})
		}
	}
}

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
	"time"

	"webchat/internal/proc"
)

// cover covers those of the sensitive files that git does not track, and what is not to be read.
func (c *Cage) cover(ctx context.Context, s *spec, f finding) error {
	all := f.unread
	if len(f.sensitive) > 0 {
		found := make([]string, len(f.sensitive))
		for i, p := range f.sensitive {
			found[i] = p
			if real, err := filepath.EvalSymlinks(p); err == nil {
				found[i] = real // a link is in git, what it leads to may not be
			}
		}
		tracked := c.tracked(ctx, found, f.git)
		for _, p := range found {
			if !tracked[p] {
				all = append(all, p)
			}
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.holdAll(ctx, proc.Covered, all)
}

// gitPatience is how long git may take to answer: what trees wrote where it keeps things, such as a
// pipe, may keep it for good.
const gitPatience = 20 * time.Second

// tracked returns which of some files git has as they are, or had when an earlier tree began, which
// could read them then. Trees can write to the index and move folders, so names and paths prove
// nothing. If git fails, no file counts as tracked.
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
		if st, err := os.Lstat(p); err == nil && top != "" {
			by[top] = append(by[top], p)
			fmt.Fprintln(&key, p, printOf(st))
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
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	is := map[string]bool{}
	for top, paths := range by {
		names := make([]string, len(paths))
		for i, p := range paths {
			names[i] = strings.TrimPrefix(p, top+"/")
			is[p] = c.read[fileOf(p)]
		}
		known, err := c.cfg.Tracked(ctx, top, names)
		if err != nil {
			key.WriteString("git failed") // it is asked again
			continue
		}
		for _, name := range known {
			p := filepath.Join(top, name)
			is[p], c.read[fileOf(p)] = true, true
		}
	}
	c.trackedBy, c.trackedIs = key.String(), is
	return is
}

// fileOf identifies the file at a path; empty if there is none.
func fileOf(p string) string {
	st, err := os.Lstat(p)
	if err != nil {
		return ""
	}
	id, _ := identify(st)
	return fmt.Sprint(id.device, id.inode, born(p).UnixNano())
}

// coverShallow covers sensitive files near the top of something that is read, and in /etc
// what not everybody may read.
func (c *Cage) coverShallow(s *spec, top string) {
	if top == "/etc" {
		s.coverUnreadable(top)
		return
	}
	named := s.expanded(slices.Concat(s.cfg.Read, s.cfg.Write))
	if !isIn(top, s.cfg.Home) && !slices.Contains(named, top) {
		return
	}
	for _, p := range c.given.secretsBelow(top, shallow) {
		s.held = append(s.held, proc.Place{Path: p, Access: proc.Covered})
	}
}

// coverUnreadable covers what not everybody may read.
func (s *spec) coverUnreadable(top string) {
	_ = filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return nil // it cannot be read inside either
		}
		if st, err := d.Info(); err == nil && st.Mode().Perm()&0o004 == 0 {
			s.held = append(s.held, proc.Place{Path: p, Access: proc.Covered})
			if d.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
}

// coverHidden covers webchat's own files where the workspace holds them.
func (s *spec) coverHidden(workspace string) {
	for dir := s.cfg.Scratch; isIn(dir, workspace) && dir != workspace; dir = filepath.Dir(dir) {
		if up := filepath.Dir(dir); s.cfg.Policy.Hidden(dir) && !s.cfg.Policy.Hidden(up) {
			s.held = append(s.held, proc.Place{Path: dir, Access: proc.Covered})
		}
	}
}

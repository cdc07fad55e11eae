package cage

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"webchat/internal/proc"
)

// hold freezes and covers what is in the workspace and in what else is given.
func (c *Cage) hold(ctx context.Context, s *spec) error {
	f, err := c.walk.find(ctx, c.cfg.Workspace)
	if err != nil {
		return err
	}
	if err := c.ruled(ctx, s, &f); err != nil {
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
	if err := s.holdAll(ctx, proc.Frozen, f.unwritten); err != nil {
		return err
	}
	if err := c.cover(ctx, s, f); err != nil {
		return err
	}
	for _, p := range s.given {
		if p.Path != c.cfg.Workspace && p.From == "" {
			c.coverShallow(s, p.Path)
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
			return fmt.Errorf(
				"confine: %s runs later by itself and is a link out of the workspace, to %s: replace it by "+
					"the file, or start without the sandbox", p, real)
		}
		p = real
	}
	s.held = append(s.held, proc.Place{Path: p, Access: proc.Frozen})
	return nil
}

package cage

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/proc"
)

// mostRuled bounds the files and folders that rules of the user hold, each of which is a mount.
const mostRuled = 2000

// ruled adds to what was found in the workspace what the user's rules keep from commands in the
// rest: in places that rules write out, and in what the user gives. A place that is kept whole is
// not given.
func (c *Cage) ruled(ctx context.Context, s *spec, f *finding) error {
	if !c.walk.ruled {
		return nil
	}
	for at, p := range s.given {
		if p.From != "" || at == c.cfg.Workspace {
			continue
		}
		unread, unwritten := withheld(c.cfg.Policy, at, true)
		if p.Access == proc.Writable && unwritten {
			p.Access = proc.Readable
			s.given[at] = p
		}
		if unread {
			delete(s.given, at)
		}
	}
	for _, top := range slices.Concat(c.cfg.Policy.WithheldBelow(),
		s.expanded(slices.Concat(c.cfg.Read, c.cfg.Write))) {
		real, err := filepath.EvalSymlinks(top)
		if err != nil || !s.gives(real) {
			continue // it is not there inside
		}
		if rel, in := strings.CutPrefix(real, c.cfg.Workspace+"/"); in &&
			!slices.ContainsFunc(strings.Split(rel, "/"), isDependencies) {
			continue // it was found
		}
		err = filepath.WalkDir(real, func(p string, d fs.DirEntry, err error) error {
			if err != nil || ctx.Err() != nil {
				return ctx.Err() // what cannot be read outside cannot be read inside
			}
			unread, unwritten := withheld(c.cfg.Policy, top+strings.TrimPrefix(p, real), d.IsDir())
			if unread {
				f.unread = append(f.unread, p)
			}
			if unwritten {
				f.unwritten = append(f.unwritten, p)
			}
			if d.IsDir() && (unread || unwritten) {
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(f.unread)+len(f.unwritten) > mostRuled {
		return fmt.Errorf(
			"confine: rules of config.yaml deny or ask about more than %d files: name folders in them, "+
				"such as generated/**", mostRuled)
	}
	return nil
}

func isDependencies(name string) bool { return slices.Contains(dependencyFolders, name) }

// gives reports whether a path is in something that the tree gets.
func (s *spec) gives(p string) bool {
	for at := range s.given {
		if isIn(p, at) {
			return true
		}
	}
	return false
}

// holdAll covers or freezes files, or what links of their names lead to, with the other names that
// they have in the workspace.
func (s *spec) holdAll(ctx context.Context, a proc.Access, paths []string) error {
	linked := map[fileID]bool{}
	for _, p := range paths {
		real, err := filepath.EvalSymlinks(p)
		if err != nil || !s.gives(real) || real == s.cfg.Workspace {
			continue
		}
		st, err := os.Stat(real)
		if err != nil {
			continue
		}
		s.holdOne(real, a)
		if id, names := identify(st); names > 1 && st.Mode().IsRegular() {
			linked[id] = true
		}
	}
	if len(linked) == 0 {
		return nil
	}
	return filepath.WalkDir(s.cfg.Workspace, func(p string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if d.Type().IsRegular() {
			if st, err := d.Info(); err == nil {
				if id, names := identify(st); names > 1 && linked[id] {
					s.holdOne(p, a)
				}
			}
		}
		return nil
	})
}

func (s *spec) holdOne(p string, a proc.Access) {
	if place := (proc.Place{Path: p, Access: a}); !slices.Contains(s.held, place) {
		s.held = append(s.held, place)
		if a == proc.Covered && isIn(p, s.cfg.Workspace) {
			s.covered = append(s.covered, p)
		}
	}
}

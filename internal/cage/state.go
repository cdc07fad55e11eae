package cage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"webchat/internal/proc"
)

// State is a folder that a program writes to and finds again in its next tree, in the place of
// the user's.
type State struct {
	Path string // where it is inside, and the user's own outside
	From string // where it is kept: a folder of webchat's, which is made
	// Own are names of files in the user's that are there themselves, and are written to in place.
	Own []string
	// Read are names of files and folders in the user's that are there to be read.
	Read []string
	// Copied are files that are copied there once, by their names in it.
	Copied map[string]string
}

// giveProgram gives a program, and where it leads, each with what lies beside it, and the whole of
// the node_modules it is in; of a folder that holds the user's, the file alone.
func (s *spec) giveProgram(p string) {
	real, ok := s.follow(filepath.Clean(p))
	if !ok {
		return
	}
	for _, file := range []string{p, real} {
		s.give(proc.Readable, file)
		dir := filepath.Dir(file)
		if before, _, ok := strings.Cut(file, "/node_modules/"); ok {
			dir = before + "/node_modules"
		}
		s.giveSmall(dir)
	}
}

// giveState gives the folders that last.
func (s *spec) giveState(n Needs) error {
	for _, st := range n.State {
		at, ok := s.settle(st.Path)
		if !ok {
			continue
		}
		root, err := keptFolder(st.From)
		if err != nil {
			return err
		}
		defer root.Close()
		s.place(proc.Place{Path: at, From: st.From, Access: proc.Writable})
		for name, from := range st.Copied {
			if err := copyOnce(root, name, from); err != nil {
				return fmt.Errorf("confine: %w", err)
			}
		}
		for access, names := range map[proc.Access][]string{proc.Writable: st.Own,
			proc.Readable: st.Read} {
			for _, name := range names {
				real, err := filepath.EvalSymlinks(filepath.Join(st.Path, name))
				if err != nil {
					continue // the user has none
				}
				if err := makeRoom(root, name, real); err != nil {
					return fmt.Errorf("confine: make room for %s: %w", filepath.Join(st.Path, name), err)
				}
				s.place(proc.Place{Path: filepath.Join(at, name), From: real, Access: access})
			}
		}
	}
	return s.giveOwnHome(n.Home)
}

func keptFolder(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("confine: %w", err)
	}
	return os.OpenRoot(dir) // what trees made there leads nowhere else
}

// copyOnce copies a file of the user's, if it is there and was not copied.
func copyOnce(root *os.Root, name, from string) error {
	if _, err := root.Lstat(name); err == nil {
		return nil
	}
	b, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return root.WriteFile(name, b, 0o600)
}

// makeRoom makes the file or folder over which a real one is placed.
func makeRoom(root *os.Root, name, real string) error {
	st, err := os.Stat(real)
	if err != nil {
		return err
	}
	if now, err := root.Lstat(name); err == nil && now.Mode().Type() != st.Mode().Type() {
		if err := root.RemoveAll(name); err != nil {
			return err
		}
	}
	if st.IsDir() {
		return root.MkdirAll(name, 0o700)
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// giveOwnHome gives a HOME of the tree's own, with links to what it has of the user's.
func (s *spec) giveOwnHome(dir string) error {
	if dir == "" {
		return nil
	}
	root, err := keptFolder(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	s.place(proc.Place{Path: dir, Access: proc.Writable})
	for p := range s.given {
		rel, ok := strings.CutPrefix(p, s.cfg.Home+"/")
		if first, _, _ := strings.Cut(rel, "/"); ok && !isIn(dir, filepath.Join(s.cfg.Home, first)) &&
			!isIn(s.cfg.Workspace, filepath.Join(s.cfg.Home, first)) {
			if err := root.Symlink(filepath.Join(s.cfg.Home, first), first); err != nil &&
				!errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("confine: %w", err)
			}
		}
	}
	return nil
}

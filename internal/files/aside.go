package files

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Bounds of what is moved aside whole. What is larger stays where it is, under another name.
const (
	maxAside      = 256 << 20 // bytes
	maxAsideFiles = 20_000
)

// Aside moves files out of workspaces, each into a folder of its own below Dir, and puts them back.
// What it keeps is a copy, which no program has open and no other name leads to. No link is
// followed, even if one takes a folder's place meanwhile, and nothing is replaced. Its methods may
// be called concurrently.
type Aside struct {
	Dir string
	// Most is how many bytes one may have; 0: 256 MiB.
	Most int64
}

// Taken is what was moved aside.
type Taken struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	// Workspace is that of the session, as it calls it.
	Workspace string    `json:"workspace"`
	Root      string    `json:"root"` // the folder it was below: the workspace, or a folder of git's
	Path      string    `json:"path"` // in Root, with slashes
	At        time.Time `json:"at"`
	// Was is when it came into the folder, as far as that is known: not before.
	Was    time.Time `json:"was,omitzero"`
	Digest string    `json:"digest"` // SHA-256, hex, of all it holds
	Folder bool      `json:"folder,omitempty"`
	Files  int       `json:"files"`
	Bytes  int64     `json:"bytes"`
	// Beside is the name it has now, next to where it was, where it could not be moved further:
	// it is too large, or the disk is full. Else empty.
	Beside string `json:"beside,omitempty"`
	Asked  bool   `json:"asked,omitempty"` // its session's log has the question
	// Done is when it was put back or deleted. It stays for a while, so that both can be undone.
	Done time.Time `json:"done,omitzero"`
}

// Named is a path in Root as the session calls it: relative to the workspace, if it is in it.
func (t Taken) Named(name string) string {
	if real, err := filepath.EvalSymlinks(t.Workspace); err == nil && real == t.Root {
		return name
	}
	return filepath.Join(t.Root, filepath.FromSlash(name))
}

// asideFile has what is known of one, and asideContent it.
const (
	asideFile    = "about.json"
	asideContent = "content"
)

// Take moves a file or folder aside, for a session. It is gone from its folder at once.
func (a *Aside) Take(t Taken) (Taken, error) {
	taken, err := a.take(&t)
	if err != nil {
		return t, fmt.Errorf("move %s aside: %w", t.Path, err)
	}
	return *taken, nil
}

func (a *Aside) take(t *Taken) (*Taken, error) {
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	in, err := descend(root, path.Dir(t.Path), false)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	base, temp := path.Base(t.Path), ".webchat-"+rand.Text()+".held"
	err = in.Rename(base, temp)
	if errors.Is(err, fs.ErrPermission) { // its owner may have removed the permission to move it
		if st, bad := in.Stat("."); bad == nil && in.Chmod(".", st.Mode().Perm()|0o700) == nil {
			err = in.Rename(base, temp)
		}
	}
	if err != nil {
		return nil, err
	}
	t.ID, t.At = rand.Text(), time.Now()
	if err = a.copyIn(in, temp, t); err != nil {
		_ = os.RemoveAll(filepath.Join(a.Dir, t.ID))
		for n := range 100 {
			name := base + ".held"
			if n > 0 {
				name = fmt.Sprintf("%s.held%d", base, n)
			}
			if _, there := in.Lstat(name); there == nil {
				continue
			}
			if in.Rename(temp, name) == nil {
				t.Beside = name
				return t, a.note(t)
			}
		}
		return nil, err
	}
	if makeRemovable(in, temp) == nil {
		_ = in.RemoveAll(temp) // what is left, or is made there meanwhile, has a name that nothing reads
	}
	return t, nil
}

// copyIn copies what was taken, until it is the same before and after.
func (a *Aside) copyIn(in *os.Root, temp string, t *Taken) error {
	if err := os.MkdirAll(filepath.Join(a.Dir, t.ID), 0o700); err != nil {
		return err
	}
	to, err := os.OpenRoot(filepath.Join(a.Dir, t.ID))
	if err != nil {
		return err
	}
	defer to.Close()
	for range 5 { // a program that has it open may write to it
		if err := to.RemoveAll(asideContent); err != nil {
			return err
		}
		c := copying{most: a.Most, sum: sha256.New()}
		if c.most == 0 {
			c.most = maxAside
		}
		if err := c.copy(in, temp, to, asideContent); err != nil {
			return err
		}
		again := copying{most: c.most, sum: sha256.New()}
		if err := again.copy(in, temp, nil, ""); err != nil {
			return err
		}
		t.Digest, t.Files, t.Bytes, t.Folder = hex.EncodeToString(c.sum.Sum(nil)), c.files, c.bytes,
			c.folder
		if bytes.Equal(c.sum.Sum(nil), again.sum.Sum(nil)) {
			break
		}
	}
	return a.note(t)
}

// note writes what is known of one.
func (a *Aside) note(t *Taken) error {
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	dir := filepath.Join(a.Dir, t.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp := filepath.Join(dir, asideFile+".tmp")
	if err := os.WriteFile(temp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(dir, asideFile))
}

// Get returns what is known of one. [ErrMissing] if it is not kept.
func (a *Aside) Get(id string) (t Taken, err error) {
	if !plainName(id) {
		return t, ErrMissing
	}
	b, err := os.ReadFile(filepath.Join(a.Dir, id, asideFile))
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err != nil {
		return t, fmt.Errorf("%w: what was held under %s: %w", ErrMissing, id, err)
	}
	return t, nil
}

// Put puts one back and returns its path in Root: NAME, or NAME.new where something of that name is
// there by now. A copy stays here. What is there already with the same content is not put again.
func (a *Aside) Put(id string) (as string, err error) {
	t, err := a.Get(id)
	if err != nil {
		return "", err
	}
	dir := path.Dir(t.Path)
	if t.Beside != "" {
		return path.Join(dir, t.Beside), nil
	}
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrMissing, err)
	}
	defer root.Close()
	in, err := descend(root, dir, true)
	if err != nil {
		return "", fmt.Errorf("put %s back: %w", t.Path, err)
	}
	defer in.Close()
	from, err := os.OpenRoot(filepath.Join(a.Dir, id))
	if err != nil {
		return "", err
	}
	defer from.Close()
	name := path.Base(t.Path)
	for n := range 100 {
		switch {
		case n == 1:
			name += ".new"
		case n > 1:
			name = fmt.Sprintf("%s.new%d", path.Base(t.Path), n)
		}
		if digestOf(in, name) == t.Digest {
			return path.Join(dir, name), nil
		}
		if err = putBack(from, asideContent, in, name); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("put %s back: %w", t.Path, err)
	}
	return path.Join(dir, name), nil
}

// Is reports whether the file or folder at a path in Root has the content of what is held by an id.
func (a *Aside) Is(id, name string) bool {
	t, err := a.Get(id)
	if err != nil {
		return false
	}
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return false
	}
	defer root.Close()
	in, err := descend(root, path.Dir(name), false)
	if err != nil {
		return false
	}
	defer in.Close()
	return digestOf(in, path.Base(name)) == t.Digest
}

// Text is what one holds, to be read: a file as it is, and of a folder all files, each below its
// name. At most so many bytes of it.
func (a *Aside) Text(id string, most int64) ([]byte, error) {
	t, err := a.Get(id)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(a.Dir, id)
	if t.Beside != "" {
		dir = t.Root
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMissing, err)
	}
	defer root.Close()
	name := asideContent
	if t.Beside != "" {
		name = path.Join(path.Dir(t.Path), t.Beside)
	}
	in, err := descend(root, path.Dir(name), false)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var b bytes.Buffer
	err = textOf(&b, in, path.Base(name), "", most)
	return b.Bytes(), err
}

func textOf(b *bytes.Buffer, in *os.Root, name, label string, most int64) error {
	st, err := in.Lstat(name)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		if label != "" {
			fmt.Fprintf(b, "%s==> %s <==\n", strings.Repeat("\n", min(b.Len(), 1)), label)
		}
		if st.Mode().Type() == fs.ModeSymlink {
			target, err := in.Readlink(name)
			fmt.Fprintf(b, "a link to %s\n", target)
			return err
		}
		f, err := in.OpenFile(name, os.O_RDONLY|nonblock, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		if is, err := f.Stat(); err != nil || !os.SameFile(is, st) || !is.Mode().IsRegular() {
			return errors.Join(ErrChanged, err)
		}
		left := max(0, most-int64(b.Len()))
		n, err := io.Copy(b, io.LimitReader(f, left))
		if n == left && st.Size() > left {
			fmt.Fprintf(b, "\n… %d bytes more\n", st.Size()-left)
		}
		return err
	}
	return each(in, name, func(below *os.Root, d fs.DirEntry) error {
		return textOf(b, below, d.Name(), path.Join(label, d.Name()), most)
	})
}

// OfSession returns what is kept for a session.
func (a *Aside) OfSession(session string) (all []Taken) {
	list, _ := os.ReadDir(a.Dir) // there may be none yet
	for _, d := range list {
		if t, err := a.Get(d.Name()); err == nil && t.Session == session {
			all = append(all, t)
		}
	}
	return all
}

// Change changes what is known of one.
func (a *Aside) Change(id string, change func(*Taken)) error {
	t, err := a.Get(id)
	if err != nil {
		return err
	}
	change(&t)
	return a.note(&t)
}

// Clean deletes what was put back or deleted before a time.
func (a *Aside) Clean(before time.Time) error {
	list, _ := os.ReadDir(a.Dir) // there may be none yet
	var errs []error
	for _, d := range list {
		if t, err := a.Get(d.Name()); err == nil && !t.Done.IsZero() && t.Done.Before(before) {
			errs = append(errs, a.Remove(t.ID))
		}
	}
	return errors.Join(errs...)
}

// Remove deletes one for good.
func (a *Aside) Remove(id string) error {
	t, err := a.Get(id)
	if err != nil {
		return nil // it is not kept
	}
	if t.Beside != "" {
		err = removeBeside(t)
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(a.Dir, id)))
}

func removeBeside(t Taken) error {
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return nil // the workspace is gone, and it with it
	}
	defer root.Close()
	in, err := descend(root, path.Dir(t.Path), false)
	if err != nil {
		return ignoreMissing(err)
	}
	defer in.Close()
	return errors.Join(makeRemovable(in, t.Beside), in.RemoveAll(t.Beside))
}

// DeleteSession deletes what is kept for a session; what is in a workspace stays there.
func (a *Aside) DeleteSession(session string) error {
	var errs []error
	for _, t := range a.OfSession(session) {
		errs = append(errs, os.RemoveAll(filepath.Join(a.Dir, t.ID)))
	}
	return errors.Join(errs...)
}

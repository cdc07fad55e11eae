package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// step is one file that is brought back.
type step struct {
	path     string
	from, to version
	st       fs.FileInfo // what was there when it was compared; nil: nothing
	temp     string      // what will take its place, in its folder; empty: not written yet
	mark     string      // of the names of such files
}

func (t *step) deletes() bool { return t.to == version{} }

// clear removes the folders that are empty now and that the snapshot has nothing in.
func (p *shelf) clear(root *os.Root, to snapshot, deleted []step) {
	for _, t := range slices.Backward(deleted) {
		if strings.HasPrefix(t.path, gitFolder+"/") {
			continue // without its empty folders a repository is none
		}
		for dir := path.Dir(t.path); dir != "."; dir = path.Dir(dir) {
			if _, ok := p.objects.folder(to.files, dir); ok || !removeEmpty(root, dir) {
				break
			}
		}
	}
}

// removeEmpty removes a folder, if it is one and has nothing in it.
func removeEmpty(root *os.Root, dir string) bool {
	in, err := descend(root, path.Dir(dir), false)
	if err != nil {
		return false
	}
	defer in.Close()
	st, err := in.Lstat(path.Base(dir))
	return err == nil && st.IsDir() && in.Remove(path.Base(dir)) == nil
}

// descend opens a folder of the workspace step by step, so that no link is followed even if one
// takes its place meanwhile.
func descend(root *os.Root, dir string, create bool) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil || dir == "." {
		return at, err
	}
	for name := range strings.SplitSeq(dir, "/") {
		below, err := enter(at, name, create)
		_ = at.Close()
		if err != nil {
			return nil, err
		}
		at = below
	}
	return at, nil
}

// tempName is that of what will take a file's place. No two steps of a folder have the same.
func (t *step) tempName() string {
	sum := sha256.Sum256([]byte(path.Base(t.path)))
	return ".webchat-" + t.mark + "-" + hex.EncodeToString(sum[:12]) + ".tmp"
}

// stage writes beside a file what will take its place.
func (p *shelf) stage(root *os.Root, t *step) (err error) {
	data, err := p.objects.get(blobKind, t.to.hash)
	if err != nil {
		return err
	}
	in, err := descend(root, path.Dir(t.path), true)
	if err != nil {
		return err
	}
	defer in.Close()
	temp := t.tempName()
	if err := ignoreMissing(in.Remove(temp)); err != nil { // of a process that was killed
		return err
	}
	if t.to.mode == linkMode {
		err = in.Symlink(string(data), temp)
	} else {
		err = t.write(in, temp, data)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(in.Remove(temp)))
	}
	t.temp = temp
	return nil
}

func (t *step) write(in *os.Root, temp string, data []byte) error {
	f, err := in.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if t.st != nil && t.st.Mode().IsRegular() {
		keepOwner(f, t.st)
		mode = t.st.Mode().Perm()
	}
	if t.to.mode == executableMode {
		mode |= mode & 0o444 >> 2
	} else {
		mode &^= 0o111
	}
	if _, err = f.Write(data); t.st != nil { // what comes anew is in the snapshot still
		err = errors.Join(err, f.Sync())
	}
	return errors.Join(err, f.Chmod(mode), f.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// take takes one step, if the file still is what was compared.
func (p *shelf) take(root *os.Root, t *step) error {
	if !t.deletes() && t.temp == "" {
		if err := p.stage(root, t); err != nil {
			return err
		}
	}
	in, err := descend(root, path.Dir(t.path), false)
	if err != nil {
		return err
	}
	defer in.Close()
	base := path.Base(t.path)
	st, err := in.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		st, err = nil, nil
	}
	if err == nil && st != nil && st.IsDir() && t.st == nil {
		err = in.Remove(base) // an empty one
		st = nil
	}
	switch {
	case err != nil:
		return err
	case !sameFile(st, t.st):
		return ErrChanged
	case t.deletes():
		return in.Remove(base)
	}
	if err := in.Rename(t.temp, base); err != nil {
		return err
	}
	t.temp = ""
	return nil
}

// discard removes what was not put in its place.
func (t *step) discard(root *os.Root) {
	if t.temp == "" {
		return
	}
	if in, err := descend(root, path.Dir(t.path), false); err == nil {
		_ = in.Remove(t.temp) // a name that nothing reads
		_ = in.Close()
	}
	t.temp = ""
}

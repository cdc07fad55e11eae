package files

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged: the file is no longer what was looked at.
var ErrChanged = errors.New("the file is no longer what is shown here; nothing was written")

// Replace writes a file in the workspace at root anew: whole or not at all, with its mode and
// owner. A text of nil removes it. name is absolute and has no links in it. same is asked last
// whether the file, which may be missing, still is what the caller has seen; otherwise the error is
// [ErrChanged].
func Replace(root, name string, text []byte, same func() bool) (err error) {
	dir, rel, err := within(root, name)
	if err != nil {
		return err
	}
	defer dir.Close()
	st, err := dir.Lstat(rel)
	switch {
	case text != nil && errors.Is(err, fs.ErrNotExist):
	case err != nil || !st.Mode().IsRegular():
		return ErrChanged
	}
	if text == nil {
		if !same() {
			return ErrChanged
		}
		if err := dir.Remove(rel); err != nil {
			return fmt.Errorf("%w: %w", ErrUnwritten, err)
		}
		return nil
	}
	// a process that was killed may have left another
	temp := filepath.Join(filepath.Dir(rel), ".webchat-"+rand.Text()+".tmp")
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnwritten, err)
	}
	mode := fs.FileMode(0o644)
	if st != nil {
		keepOwner(f, st)
		mode = st.Mode().Perm()
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	switch {
	case err != nil:
	case !same():
		err = ErrChanged
	default:
		if err = dir.Rename(temp, rel); err == nil {
			return nil
		}
	}
	if !errors.Is(err, ErrChanged) {
		err = fmt.Errorf("%w: %w", ErrUnwritten, err)
	}
	return errors.Join(err, dir.Remove(temp))
}

// Present returns what a regular file of the workspace at root holds now, and what lstat says of
// it; nil for both if there is none. name is as of [Replace]. [ErrChanged] if it is something else,
// [ErrTooLarge] over limit bytes.
func Present(root, name string, limit int64) (data []byte, st fs.FileInfo, err error) {
	dir, rel, err := within(root, name)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	st, err = dir.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil || !st.Mode().IsRegular():
		return nil, nil, ErrChanged
	case st.Size() > limit:
		return nil, st, ErrTooLarge
	}
	data, err = readSame(dir.OpenFile, rel, st, limit)
	switch {
	case errors.Is(err, ErrTooLarge):
		return nil, st, err
	case err != nil:
		return nil, nil, fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return data, st, nil
}

// opener is [os.OpenFile], or that of a root.
type opener = func(name string, flag int, perm fs.FileMode) (*os.File, error)

// readSame opens a name and reads it, without waiting, as the regular file that was looked at
// before: by now a pipe or a link may stand in its place. [ErrTooLarge] if it has grown over most
// bytes.
func readSame(open opener, name string, looked fs.FileInfo, most int64) ([]byte, error) {
	f, err := open(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || !os.SameFile(st, looked) {
		return nil, errUnread
	}
	data := bytes.NewBuffer(make([]byte, 0, max(0, min(st.Size(), most))+bytes.MinRead))
	if _, err = data.ReadFrom(io.LimitReader(f, most+1)); err == nil && int64(data.Len()) > most {
		err = ErrTooLarge
	}
	if err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}

// within opens a workspace for the file that an absolute name is of.
func within(root, name string) (dir *os.Root, rel string, err error) {
	root, err = filepath.EvalSymlinks(root)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrMissing, err)
	}
	rel, err = filepath.Rel(root, name)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, "", fmt.Errorf("%w: it is outside of this workspace", ErrChanged)
	}
	if dir, err = os.OpenRoot(root); err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return dir, rel, nil
}

// ErrUnwritten: the disk refused the file, which is as it was.
var ErrUnwritten = errors.New("the file could not be written and is as it was")

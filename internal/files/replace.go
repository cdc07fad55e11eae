package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrChanged: the file is no longer what was looked at.
var ErrChanged = errors.New("the file is no longer what is shown here; nothing was written")

// Replace writes a file in the workspace at root anew: whole or not at all, with its mode and owner.
// name is absolute and has no links in it. same is asked last whether the file is still what the
// caller has seen; otherwise the error is [ErrChanged].
func Replace(root, name string, text []byte, same func() bool) (err error) {
	root, err = filepath.EvalSymlinks(root)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	rel, err := filepath.Rel(root, name)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%w: it is outside of this workspace", ErrChanged)
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	defer dir.Close()
	st, err := dir.Lstat(rel)
	if err != nil || !st.Mode().IsRegular() {
		return ErrChanged
	}
	temp := filepath.Join(filepath.Dir(rel), ".webchat-"+rand.Text()+".tmp") // a process that was killed may have left another
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnwritten, err)
	}
	keepOwner(f, st)
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(st.Mode().Perm()), f.Sync(), f.Close())
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

// ErrUnwritten: the disk refused the file, which is as it was.
var ErrUnwritten = errors.New("the file could not be written and is as it was")

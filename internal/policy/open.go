package policy

import (
	"errors"
	"io/fs"
	"os"
)

// ErrSpecial says that something is neither a regular file nor a folder.
var ErrSpecial = errors.New("neither a regular file nor a folder")

// Open opens a regular file or a folder, and describes what it opened, which is what
// [Policy.File] judges. The description is there, too, with [ErrSpecial].
func Open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	st, err := root.Stat(name) // first, because opening a device may do something
	if err != nil {
		return nil, nil, err
	}
	if !st.Mode().IsRegular() && !st.IsDir() {
		return nil, st, ErrSpecial
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0) // a pipe put there now must not block
	if err != nil {
		return nil, nil, err
	}
	st, err = f.Stat()
	if err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		err = ErrSpecial
	}
	if err != nil {
		return nil, st, errors.Join(err, f.Close())
	}
	return f, st, nil
}

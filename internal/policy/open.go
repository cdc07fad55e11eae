package policy

import (
	"errors"
	"io"
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
	return OpenListed(root, name)
}

// OpenListed is [Open] for one of many files that a list named: it does not look first what is
// there, which would double the time that a search of 10,000 files takes.
func OpenListed(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0) // a pipe must not block
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		err = ErrSpecial
	}
	if err != nil {
		return nil, st, errors.Join(err, f.Close())
	}
	return f, st, nil
}

// head returns the first bytes of a regular file, at most so many. It waits for no pipe and reads
// no device.
func head(name string, most int64) ([]byte, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, ErrSpecial
	}
	return headOf(name, most)
}

// headOf is head of a file that was looked at: by now a pipe may stand in its place.
func headOf(name string, most int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, ErrSpecial
	}
	return io.ReadAll(io.LimitReader(f, most))
}

package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
)

// copying copies a file, a link or a folder with all in it.
type copying struct {
	most   int64
	sum    hash.Hash
	bytes  int64
	files  int
	folder bool // the first one
}

// copy copies one name of a folder to another; without to, it is only read.
func (c *copying) copy(from *os.Root, name string, to *os.Root, as string) error {
	st, err := from.Lstat(name)
	if err != nil {
		return err
	}
	if c.files++; c.files > maxAsideFiles {
		return ErrTooLarge
	}
	switch mode := st.Mode(); {
	case mode.IsDir():
		c.folder = c.folder || c.files == 1
		c.files--
		return c.copyFolder(from, name, st, to, as)
	case mode.Type() == fs.ModeSymlink:
		target, err := from.Readlink(name)
		fmt.Fprintf(c.sum, "link %d %s\n", len(target), target)
		if err == nil && to != nil {
			err = to.Symlink(target, as)
		}
		return err
	case mode.IsRegular():
		return c.copyFile(from, name, st, to, as)
	}
	fmt.Fprintln(c.sum, "other") // a pipe or a socket: it holds nothing
	if to == nil {
		return nil
	}
	return to.WriteFile(as, nil, 0o600)
}

func (c *copying) copyFile(from *os.Root, name string, st fs.FileInfo, to *os.Root,
	as string) error {
	if c.bytes += st.Size(); c.bytes > c.most {
		return ErrTooLarge
	}
	data, err := readSame(from.OpenFile, name, st, c.most)
	if err != nil {
		return err
	}
	c.bytes += int64(len(data)) - st.Size()
	fmt.Fprintf(c.sum, "file %v %d\n", st.Mode()&0o100 != 0, len(data))
	c.sum.Write(data)
	if to == nil {
		return nil
	}
	return to.WriteFile(as, data, 0o600|st.Mode().Perm()&0o100)
}

func (c *copying) copyFolder(from *os.Root, name string, st fs.FileInfo, to *os.Root,
	as string) error {
	if st.Mode().Perm()&0o700 != 0o700 {
		_ = from.Chmod(name, 0o700) // if it cannot be read, reading it fails
	}
	var out *os.Root
	if to != nil {
		err := to.Mkdir(as, 0o700)
		if err == nil {
			out, err = to.OpenRoot(as)
		}
		if err != nil {
			return err
		}
		defer out.Close()
	}
	fmt.Fprintln(c.sum, "folder")
	err := each(from, name, func(in *os.Root, d fs.DirEntry) error {
		fmt.Fprintf(c.sum, "%d %s\n", len(d.Name()), d.Name())
		return c.copy(in, d.Name(), out, d.Name())
	})
	fmt.Fprintln(c.sum, "end")
	return err
}

// each calls f for each name in a folder, in order, until it fails. No link is followed.
func each(at *os.Root, name string, f func(in *os.Root, d fs.DirEntry) error) error {
	in, err := enter(at, name, false)
	if err != nil {
		return err
	}
	defer in.Close()
	list, err := fs.ReadDir(in.FS(), ".")
	for _, d := range list {
		if err == nil {
			err = f(in, d)
		}
	}
	return err
}

// makeRemovable gives folders the rights that removing what is in them takes.
func makeRemovable(in *os.Root, name string) error {
	st, err := in.Lstat(name)
	if err != nil || !st.IsDir() {
		return ignoreMissing(err)
	}
	if st.Mode().Perm()&0o700 != 0o700 {
		_ = in.Chmod(name, 0o700)
	}
	var errs []error
	err = each(in, name, func(below *os.Root, d fs.DirEntry) error {
		if d.IsDir() {
			errs = append(errs, makeRemovable(below, d.Name()))
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

// digestOf is that of a name of a folder; empty if it cannot be read.
func digestOf(in *os.Root, name string) string {
	if _, err := in.Lstat(name); err != nil {
		return ""
	}
	c := copying{most: maxAside, sum: sha256.New()}
	if c.copy(in, name, nil, "") != nil {
		return ""
	}
	return hex.EncodeToString(c.sum.Sum(nil))
}

// putBack copies from what is kept; [fs.ErrExist] if the name is taken.
func putBack(from *os.Root, name string, to *os.Root, as string) error {
	st, err := from.Lstat(name)
	if err != nil {
		return err
	}
	switch {
	case st.IsDir():
		return putFolder(from, name, to, as)
	case st.Mode().Type() == fs.ModeSymlink:
		target, err := from.Readlink(name)
		if err != nil {
			return err
		}
		return to.Symlink(target, as)
	}
	data, err := readSame(from.OpenFile, name, st, maxAside)
	if err != nil {
		return err
	}
	f, err := to.OpenFile(as, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644|st.Mode().Perm()&0o111)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func putFolder(from *os.Root, name string, to *os.Root, as string) error {
	if err := to.Mkdir(as, 0o755); err != nil {
		return err
	}
	out, err := enter(to, as, false)
	if err != nil {
		return err
	}
	defer out.Close()
	return each(from, name, func(in *os.Root, d fs.DirEntry) error {
		return putBack(in, d.Name(), out, d.Name())
	})
}

//go:build unix

package cage

import (
	"io/fs"
	"syscall"
)

// identify returns which file st describes, and how many names it has.
func identify(st fs.FileInfo) (id fileID, names uint64) {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, 1
	}
	return fileID{uint64(s.Dev), s.Ino}, uint64(s.Nlink)
}

// may reports whether this process may read a file or folder, or write to it.
func may(name string, write bool) bool {
	mode := uint32(4)
	if write {
		mode = 2
	}
	return syscall.Access(name, mode) == nil
}

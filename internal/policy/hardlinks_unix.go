//go:build unix

package policy

import (
	"io/fs"
	"syscall"
	"time"
)

// identity reports which file st describes, how many names it has, and when the file
// or its names last changed.
func identity(st fs.FileInfo) (id fileID, names uint64, changed time.Time) {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, 0, time.Time{}
	}
	return fileID{uint64(s.Dev), s.Ino}, uint64(s.Nlink), time.Unix(ctime(s))
}

//go:build unix && !linux

package files

import (
	"io/fs"
	"syscall"
	"time"
)

func changed(st fs.FileInfo) time.Time {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctimespec.Unix())
	}
	return st.ModTime()
}

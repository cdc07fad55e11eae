//go:build unix && !linux

package files

import (
	"io/fs"
	"syscall"
	"time"
)

// born is when a file was made, as far as that is known: not after it was changed last.
func born(_ string, st fs.FileInfo) time.Time { return changed(st) }

func changed(st fs.FileInfo) time.Time {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctimespec.Unix())
	}
	return st.ModTime()
}

package files

import (
	"io/fs"
	"syscall"
	"time"
)

// changed is when a file, or what is said of it, was changed last: also its name, in its folder.
func changed(st fs.FileInfo) time.Time {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return st.ModTime()
}

package files

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// born is when a file was made, where the file system knows it, else when it was changed last.
func born(name string, st fs.FileInfo) time.Time {
	var x unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME|unix.STATX_CTIME,
		&x) != nil || x.Mask&unix.STATX_BTIME == 0 {
		return changed(st)
	}
	made := time.Unix(x.Btime.Sec, int64(x.Btime.Nsec))
	if at := changed(st); at.Before(made) { // a clock that was set
		return at
	}
	return made
}

// changed is the time of the last change to a file's content or metadata, renames included.
func changed(st fs.FileInfo) time.Time {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return st.ModTime()
}

package policy

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func ctime(s *syscall.Stat_t) (seconds, nanoseconds int64) { return s.Ctim.Unix() }

// born reports when the file at a path was made, in nanoseconds, if its file system knows.
func born(path string) (made int64, ok bool) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &st)
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec), err == nil && st.Mask&unix.STATX_BTIME != 0 &&
		st.Btime.Sec != 0
}

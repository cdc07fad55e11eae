package cage

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// changed is when a file or folder was changed last, its names and rights included. Programs
// cannot set it.
func changed(st fs.FileInfo) time.Time {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return st.ModTime()
}

// printOf is another one once a file was changed or replaced.
func printOf(st fs.FileInfo) string {
	id, _ := identify(st)
	return fmt.Sprintf("%d %d %d %v", id.inode, changed(st).UnixNano(), st.Size(), st.Mode())
}

// appeared is when a file was made, where its file system knows that; else when it was changed
// last.
func appeared(name string, st fs.FileInfo) time.Time {
	if at := born(name); !at.IsZero() {
		return at
	}
	return changed(st)
}

// born returns the creation time of a file or folder, which programs cannot set; zero if the file
// system does not record it.
func born(name string) time.Time {
	var x unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &x) != nil ||
		x.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(x.Btime.Sec, int64(x.Btime.Nsec))
}

// isWritten reports whether a process has a file open or mapped for writing; false where the file
// system has no leases.
func isWritten(name string) bool {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd) // ends the lease
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	return err == unix.EAGAIN
}

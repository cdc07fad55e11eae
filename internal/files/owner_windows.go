package files

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

func changed(st fs.FileInfo) time.Time { return st.ModTime() }

// born is when a file was made.
func born(_ string, st fs.FileInfo) time.Time {
	if s, ok := st.Sys().(*syscall.Win32FileAttributeData); ok {
		return time.Unix(0, s.CreationTime.Nanoseconds())
	}
	return st.ModTime()
}

// keepOwner does nothing: a file has its owner from its folder.
func keepOwner(*os.File, fs.FileInfo) {}

const nonblock = 0 // no file of a folder blocks when opened

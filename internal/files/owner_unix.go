//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and group of another file, as far as that is allowed.
func keepOwner(f *os.File, of fs.FileInfo) {
	if st, ok := of.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid)) // only root may give a file away
	}
}

// nonblock opens a pipe without waiting for its writer.
const nonblock = syscall.O_NONBLOCK

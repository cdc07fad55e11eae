package files

import (
	"golang.org/x/sys/unix"
)

// remote reports whether a folder lies on a file system that others change without the kernel's
// knowledge, so that it reports only part of the changes.
func remote(folder string) bool {
	var fs unix.Statfs_t
	if unix.Statfs(folder, &fs) != nil {
		return false
	}
	switch uint32(fs.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC,
		unix.FUSE_SUPER_MAGIC,
		unix.V9FS_MAGIC, unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC,
		unix.NCP_SUPER_MAGIC:
		return true
	}
	return false
}

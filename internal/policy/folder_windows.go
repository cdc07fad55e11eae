package policy

import (
	"fmt"
	"syscall"
)

// folderOf identifies the folder at a path by its volume and file index, all links
// followed; empty if there is none.
func folderOf(path string) string {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return ""
	}
	const share = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
	h, err := syscall.CreateFile(name, 0, share, nil, syscall.OPEN_EXISTING,
		syscall.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return ""
	}
	defer syscall.CloseHandle(h)
	var st syscall.ByHandleFileInformation
	if syscall.GetFileInformationByHandle(h, &st) != nil ||
		st.FileAttributes&syscall.FILE_ATTRIBUTE_DIRECTORY == 0 {
		return ""
	}
	return fmt.Sprintf("%x:%x", st.VolumeSerialNumber,
		uint64(st.FileIndexHigh)<<32|uint64(st.FileIndexLow))
}

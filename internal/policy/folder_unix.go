//go:build unix

package policy

import (
	"fmt"
	"os"
)

// folderOf identifies the folder at a path by its device and inode, all links
// followed; empty if there is none.
func folderOf(path string) string {
	st, err := os.Stat(path)
	if err != nil || !st.IsDir() {
		return ""
	}
	id, names, _ := identity(st)
	if names == 0 {
		return ""
	}
	return fmt.Sprintf("%x:%x", id.device, id.inode)
}

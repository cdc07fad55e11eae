//go:build unix

package policy

import (
	"fmt"
	"os"
)

// folderOf identifies the folder at a path by its inode and when it was made, all links followed;
// empty if there is none. The number of its device is another at each start of some machines, and
// on each that has the same volume; it stands in where no time is known.
func folderOf(path string) string {
	st, err := os.Stat(path)
	if err != nil || !st.IsDir() {
		return ""
	}
	id, names, _ := identity(st)
	if names == 0 {
		return ""
	}
	if made, ok := born(path); ok {
		return fmt.Sprintf("born %d:%x", made, id.inode)
	}
	return fmt.Sprintf("%x:%x", id.device, id.inode)
}

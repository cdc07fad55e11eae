package cli

import (
	"os"
	"path/filepath"
	"strings"
)

// Detached are the files that the CLI keeps of commands it detached from itself: what they print,
// their process and how they ended. 1.0.102 makes them in the folder for temporary files, for
// everybody to read, and never removes them.
type Detached struct{ logs []string }

// detachedName is how the names of such files begin.
const detachedName = "copilot-detached-"

// Add takes the file of what a command prints from other users. It takes nothing that is not named
// as the CLI names it.
func (d *Detached) Add(log string) {
	at, err := os.Lstat(log)
	if err != nil || !at.Mode().IsRegular() || !strings.HasPrefix(filepath.Base(log), detachedName) {
		return
	}
	_ = os.Chmod(log, 0o600) // where that fails, the file system keeps no modes
	d.logs = append(d.logs, log)
}

// Remove removes the files; the commands have ended.
func (d *Detached) Remove() {
	for _, log := range d.logs {
		for _, ext := range []string{".log", ".exit", ".pid"} {
			_ = os.Remove(strings.TrimSuffix(log, ".log") + ext) // not each command has each
		}
	}
	d.logs = nil
}

package proc

import (
	"fmt"
	"os"
)

// inFolder is the first argument of a process that becomes another program in a folder.
const inFolder = "webchat-in-folder"

// In returns a command line that runs args in dir, for other programs that start commands
// and have no place for a folder. It is this program, which needs no shell: [Main] goes to
// the folder and becomes args there, found as in [Command]. On Windows it stays as their
// parent, and its end is theirs.
func In(dir string, args []string) []string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return append([]string{self, inFolder, dir}, args...)
}

func beInFolder() {
	if len(os.Args) < 4 || os.Args[1] != inFolder {
		return
	}
	dir, args := os.Args[2], os.Args[3:]
	err := os.Chdir(dir)
	if err == nil {
		err = os.Setenv("PWD", dir)
	}
	path := ""
	if err == nil {
		path, err = LookUp(Command{Args: args, Env: os.Environ()})
	}
	if err == nil {
		err = become(path, args)
	}
	fmt.Fprintln(os.Stderr, "webchat:", err)
	os.Exit(127)
}

//go:build unix

package proc

import (
	"os"
	"syscall"
)

// detachedAttr makes a session of its own: the terminal's Ctrl-C is not for it.
func detachedAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// leave starts a program whose parent is about to end.
func leave(path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	attr.Sys = detachedAttr()
	return os.StartProcess(path, args, attr)
}

// runs returns what reports whether the process of now with that number still runs.
func runs(pid int) func() bool {
	first, found := look(pid)
	return func() bool {
		now, ok := look(pid)
		return found && ok && now.start == first.start && !now.zombie
	}
}

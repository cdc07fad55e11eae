package proc

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detachedAttr cuts the program from our console and its Ctrl-C.
func detachedAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

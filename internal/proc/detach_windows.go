package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

const detached = windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP

// detachedAttr cuts the program from our console and its Ctrl-C.
func detachedAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{CreationFlags: detached} }

// leave starts a program whose parent is about to end, outside of our job object where
// that lets it.
func leave(path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	attr.Sys = &syscall.SysProcAttr{CreationFlags: detached | windows.CREATE_BREAKAWAY_FROM_JOB}
	p, err := os.StartProcess(path, args, attr)
	if err == nil {
		return p, nil
	}
	attr.Sys = detachedAttr()
	return os.StartProcess(path, args, attr)
}

// runs returns what reports whether the process of now with that number still runs.
func runs(pid int) func() bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	return func() bool {
		if err != nil {
			return false
		}
		event, _ := windows.WaitForSingleObject(h, 0)
		return event == uint32(windows.WAIT_TIMEOUT)
	}
}

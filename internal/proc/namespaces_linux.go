package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// Namespaces reports whether a process may have namespaces of its own, as programs take that
// confine what they run. The error says what the kernel answered; it is asked once.
var Namespaces = sync.OnceValue(func() error {
	flags := uintptr(
		syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET)
	// The namespaces come before the program, so one that does not exist is enough.
	_, err := os.StartProcess("/proc/none", []string{"none"}, &os.ProcAttr{Sys: &syscall.SysProcAttr{
		Cloneflags:  flags,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("make namespaces: %w", errors.Unwrap(err))
})

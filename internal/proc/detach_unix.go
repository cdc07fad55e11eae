//go:build unix

package proc

import "syscall"

// detachedAttr makes a session of its own: the terminal's Ctrl-C is not for it.
func detachedAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

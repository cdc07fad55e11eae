//go:build unix

package policy

import "syscall"

const nonblock = syscall.O_NONBLOCK

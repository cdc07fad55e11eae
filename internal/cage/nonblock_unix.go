//go:build unix

package cage

import "syscall"

const nonblock = syscall.O_NONBLOCK

//go:build unix

package displaytools

import "syscall"

const nonblock = syscall.O_NONBLOCK

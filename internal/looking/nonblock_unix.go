//go:build unix

package looking

import "syscall"

// nonblock opens a pipe without waiting for its writer.
const nonblock = syscall.O_NONBLOCK

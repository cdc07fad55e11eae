//go:build unix

package main

import "syscall"

// mostConnections is how many connections may be open: half of what the system
// lets this process open, since files, agents and the log need the rest.
func mostConnections() int {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil || uint64(r.Cur)/2 > maxConnections {
		return maxConnections
	}
	return max(int(r.Cur)/2, 16)
}

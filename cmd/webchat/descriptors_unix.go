//go:build unix

package main

import "syscall"

// mostConnections is how many connections may be open: as many as are wanted, but
// only half of the files that the system lets this process open, since the agents
// and the log need the rest.
func mostConnections(wanted int) int {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil ||
		uint64(r.Cur)/2 > uint64(wanted) {
		return wanted
	}
	return max(int(r.Cur)/2, 16)
}

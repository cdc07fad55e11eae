//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// reachesDocker reports whether this process may talk to a Docker daemon: that is
// root on the machine around the container.
func reachesDocker(socket string) bool {
	info, err := os.Stat(socket)
	return err == nil && info.Mode()&os.ModeSocket != 0 && unix.Access(socket, unix.W_OK) == nil
}

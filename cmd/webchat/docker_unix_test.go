//go:build unix

package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// THREATS 71: an existing socket is distinguished from none, and from a file.
func TestReachesDocker(t *testing.T) {
	dir, err := os.MkdirTemp("", "sock") // short: a socket's path is
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file, socket := filepath.Join(dir, "file"), filepath.Join(dir, "s")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if reachesDocker(file) || reachesDocker(filepath.Join(dir, "none")) || !reachesDocker(socket) {
		t.Error("what is a socket is not told from what is none")
	}
}

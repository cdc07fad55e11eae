package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// pseudoTerminal returns both ends of one.
func pseudoTerminal(t *testing.T) (near, theirs *os.File) {
	t.Helper()
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no pseudo-terminals:", err)
	}
	t.Cleanup(func() { near.Close() })
	fd := int(near.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return near, theirs
}

// At a terminal the first line is the sign-in link, and no line of a log.
func TestAtATerminalTheLinkIsFirst(t *testing.T) {
	t.Parallel()
	near, theirs := pseudoTerminal(t)
	dir := t.TempDir()
	cmd := exec.Command(self(t))
	cmd.Args = []string{"webchat", "serve", "--no-open", "--listen", "localhost:0",
		"--data-dir", filepath.Join(dir, "data"), "--workspace", dir}
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stdout, cmd.Stderr = theirs, theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	line, err := bufio.NewReader(near).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http://localhost:") {
		t.Errorf("it says %q, %v", line, err)
	}
}

package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// beLeaving is a server that starts another one, and lives until its input ends.
func beLeaving() {
	if err := Server(); err != nil {
		fmt.Println(err)
		return
	}
	running, err := Leave([]string{"sleep", os.Args[1]}, os.Environ(), os.Stderr)
	fmt.Println("left", err, err == nil && running())
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Println("still", err == nil && running())
}

// What left is found below its starter in no way: not as a descendant, not by session,
// not by process group. The starter notices its end all the same.
func TestWhatLeavesIsNotInTheTree(t *testing.T) {
	mark := fmt.Sprintf("602.%d", time.Now().UnixNano())
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"leaving", mark}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	if said.Scan(); said.Text() != "left <nil> true" {
		t.Fatalf("it says %q", said.Text())
	}
	all, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	byPID := map[int]process{}
	var left process
	for _, p := range all {
		byPID[p.pid] = p
		if commandOf(p.pid) == "sleep "+mark {
			left = p
		}
	}
	t.Cleanup(func() { left.signal(syscall.SIGKILL) })
	if left.pid == 0 {
		t.Fatal("it does not run")
	}
	group, err := syscall.Getpgid(left.pid)
	if err != nil || group != left.pid || left.session != left.pid {
		t.Errorf("its group is %d, its session %d, and it is %d: %v", group, left.session, left.pid, err)
	}
	for p := left; p.pid > 1; p = byPID[p.parent] {
		if p.pid == cmd.Process.Pid || p.parent == cmd.Process.Pid {
			t.Error("it descends from its starter")
		}
	}
	left.signal(syscall.SIGKILL)
	until(t, "it has ended", func() bool { return dead([]process{left}) })
	in.Close()
	if said.Scan(); said.Text() != "still false" {
		t.Errorf("after its end it says %q", said.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

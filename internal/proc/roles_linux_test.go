package proc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// roles are what this test binary can be when started again under a name.
var roles = map[string]func(){"parent": beParent, "init": beInit, "leaving": beLeaving}

// beParent is a server that is going to be killed.
func beParent() {
	child, err := Start(Command{Args: []string{"sh", "-c", stubborn}, Env: os.Environ()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for len(child.Left()) < 6 {
		runtime.Gosched()
	}
	fmt.Println("ready")
	child.Wait()
}

func TestKilledParent(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"parent"}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 6)
	if n, err := out.Read(line); err != nil || string(line[:n]) != "ready\n" {
		t.Errorf("the parent says %q, %v", line[:n], err)
	}
	all, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	var tree []process
	in := map[int]bool{cmd.Process.Pid: true}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if in[p.parent] && !in[p.pid] {
				in[p.pid], grown = true, true
				tree = append(tree, p)
			}
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if len(tree) < 7 {
		t.Errorf("the tree has only %d processes", len(tree))
	}
	until(t, "nothing of the tree is left", func() bool { return dead(tree) })
}

// beInit plays process 1: orphans come to it.
func beInit() {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Println(err)
		return
	}
	go reapOrphans()
	sh, err := exec.LookPath("sh")
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 20 {
		attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}}
		if _, err := syscall.ForkExec(sh, []string{"sh", "-c", "true & (true &)"}, attr); err != nil {
			fmt.Println(err)
		}
		child, err := Start(Command{Args: []string{"sh", "-c", "exit 5"}})
		if err != nil {
			fmt.Println(err)
			return
		}
		if exit, err := child.Wait(); err != nil || exit.Code != 5 {
			fmt.Println(exit, err)
		}
		child.Stop(context.Background())
	}
	for {
		children := 0
		all, _ := processes()
		for _, p := range all {
			if p.parent == os.Getpid() {
				children++
			}
		}
		if children == 0 {
			fmt.Println("no children")
			return
		}
		runtime.Gosched()
	}
}

func TestOrphansOfInit(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"init"}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "no children\n" {
		t.Errorf("%v: %s", err, out)
	}
}

package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// stubborn are five processes: plain, in another session, forked twice, and all
// of them deaf to SIGTERM.
const stubborn = `trap '' TERM HUP; sleep 600 & setsid sleep 600 & (setsid sh -c 'sleep 600 & sleep 600' &); sleep 600`

// until polls for what only the system's process table shows.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for t.Context().Err() == nil {
		if ok() {
			return
		}
		runtime.Gosched()
	}
	t.Fatalf("never: %s", what)
}

func members(t *testing.T, c *Child, atLeast int) []process {
	t.Helper()
	var list []process
	until(t, fmt.Sprintf("%d processes", atLeast), func() bool {
		list = nil
		for _, p := range c.Left() {
			if p, ok := look(p.PID); ok {
				list = append(list, p)
			}
		}
		return len(list) >= atLeast
	})
	return list
}

// survivors lists what of list still runs or was not collected. The dead that process 1
// adopted from a helper that had to be killed are its own to collect.
func survivors(list []process) (alive []process) {
	for _, p := range list {
		if now, ok := look(p.pid); ok && now.start == p.start && !(now.zombie && now.parent == 1) {
			alive = append(alive, now)
		}
	}
	return alive
}

// dead reports that nothing of list runs. The process that adopts an orphan may be slow to
// collect it.
func dead(list []process) bool {
	for _, p := range survivors(list) {
		if !p.zombie {
			return false
		}
	}
	return true
}

func TestStopEndsTheWholeTree(t *testing.T) {
	child := start(t, Command{Args: []string{"sh", "-c", stubborn}, Env: os.Environ(), Grace: 1e6})
	list := members(t, child, 6)
	ended, err := child.Stop(context.Background())
	if err != nil || ended < len(list) {
		t.Errorf("ended %d of %d, %v", ended, len(list), err)
	}
	if alive := survivors(list); len(alive) > 0 {
		t.Errorf("still there: %+v", alive)
	}
	if exit, err := child.Wait(); err != nil || exit.Signal != "SIGKILL" {
		t.Errorf("%+v, %v", exit, err)
	}
	again, err := child.Stop(context.Background())
	if err != nil || again != ended || len(child.Left()) > 0 {
		t.Errorf("the second Stop: %d, %v, left %v", again, err, child.Left())
	}
}

func TestStopLetsTheGracefulEndThemselves(t *testing.T) {
	var out bytes.Buffer
	child := start(t, Command{Args: []string{"sh", "-c",
		`trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.01; done`},
		Output: &out, Grace: 1e12})
	members(t, child, 2) // it sleeps: the trap is set
	if _, err := child.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	exit, err := child.Wait()
	if err != nil || exit.Code != 7 || !strings.HasSuffix(out.String(), "bye\n") {
		t.Errorf("%+v, %v, output %q", exit, err, out.String())
	}
}

func TestStopHearsTheStopped(t *testing.T) {
	child := start(t, Command{Args: []string{"sh", "-c", `kill -STOP $$`}, Grace: 1e12})
	until(t, "stopped", func() bool {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child.PID()))
		return bytes.Contains(b, []byte(") T "))
	})
	if _, err := child.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestStopWithoutPatience(t *testing.T) {
	child := start(t, Command{Args: []string{"sh", "-c", stubborn}, Env: os.Environ(), Grace: 1e12})
	list := members(t, child, 6)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := child.Stop(ctx); err != nil {
		t.Error(err)
	}
	if alive := survivors(list); len(alive) > 0 {
		t.Errorf("still there: %+v", alive)
	}
}

func TestStopWhileItForks(t *testing.T) {
	child := start(t, Command{Args: []string{"sh", "-c",
		`trap '' TERM; while :; do (setsid sh -c 'sleep 600 & sleep 600' &); done`},
		Env: os.Environ(), Grace: 1e6})
	list := members(t, child, 20)
	if _, err := child.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if alive := survivors(list); len(alive) > 0 {
		t.Errorf("still there: %+v", alive)
	}
}

func TestLeftRunning(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	child := start(t, Command{Args: []string{"sh", "-c",
		`setsid sh -c 'while [ ! -e go ]; do sleep 0.01; done; echo late; touch done; sleep 600' & echo hi`},
		Env: os.Environ(), Dir: dir, Output: &out})
	if exit, err := child.Wait(); err != nil || exit.Code != 0 {
		t.Fatalf("%+v, %v", exit, err)
	}
	if out.String() != "hi\n" {
		t.Errorf("output %q", out.String())
	}
	// It still has the pipe, and must live on when it writes there.
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "it wrote and went on", func() bool {
		_, err := os.Stat(filepath.Join(dir, "done"))
		return err == nil
	})
	left := child.Left()
	if len(left) == 0 || !strings.Contains(left[0].Command, "touch done; sleep 600") {
		t.Errorf("left: %+v", left)
	}
	list := members(t, child, 1)
	ended, err := child.Stop(context.Background())
	if err != nil || ended == 0 {
		t.Errorf("ended %d, %v", ended, err)
	}
	if alive := survivors(list); len(alive) > 0 {
		t.Errorf("still there: %+v", alive)
	}
	if out.String() != "hi\n" {
		t.Errorf("written after Wait: %q", out.String())
	}
}

// The pipe is full when the command ends and stays open: all of it is read.
func TestAllOutputOfTheCommand(t *testing.T) {
	var out bytes.Buffer
	child := start(t, Command{
		Args:   []string{"sh", "-c", `sleep 600 & head -c 3000000 /dev/zero`},
		Output: &out,
	})
	if _, err := child.Wait(); err != nil || out.Len() != 3000000 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
}

func TestOnlyThreeFiles(t *testing.T) {
	fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0) // inheritable, as from a careless parent
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	got, _ := shell(t, `ls /proc/$$/fd; true`)
	if got != "0\n1\n2\n" {
		t.Errorf("the command has descriptors %q", got)
	}
	if got, _ = shell(t, `readlink /proc/self/fd/0`); got != "/dev/null\n" {
		t.Errorf("it reads from %q", got)
	}
	got, _ = shell(t, `cat /proc/self/fdinfo/1`)
	var pos, flags int
	if _, err := fmt.Sscanf(got, "pos: %d\nflags: %o", &pos, &flags); err != nil ||
		flags&unix.O_NONBLOCK != 0 {
		t.Errorf("its output does not block: %q, %v", got, err)
	}
}

func TestOwnSessionAndCleanSignals(t *testing.T) {
	got, _ := shell(t,
		`set -- $(cat /proc/self/stat); echo $6; grep -E 'Sig(Blk|Ign)' /proc/self/status`)
	var session int
	var blocked, ignored uint64
	if _, err := fmt.Sscanf(got, "%d\nSigBlk:\t%x\nSigIgn:\t%x", &session, &blocked,
		&ignored); err != nil {
		t.Fatalf("%q: %v", got, err)
	}
	if ours, _ := unix.Getsid(0); session == ours {
		t.Error("it is in our session")
	}
	const libc = 1<<31 | 1<<32 // 32 and 33 are the C library's; make's children ignore them
	if blocked != 0 || ignored&^libc != 0 {
		t.Errorf("signals blocked %x, ignored %x", blocked, ignored)
	}
}

func TestNoZombies(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				child, err := Start(Command{Args: []string{"sh", "-c", "(true &) ; true & true"}})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := child.Wait(); err != nil {
					t.Error(err)
				}
				if _, err := child.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.parent == os.Getpid() {
			t.Errorf("a child is left: %+v %s", p, commandOf(p.pid))
		}
	}
}

func TestHelperKilledByItsCommand(t *testing.T) {
	child := start(t, Command{Args: []string{"sh", "-c",
		`sleep 600 & read go; kill -9 $PPID; sleep 600`}, Pipes: true})
	list := members(t, child, 2)
	fmt.Fprintln(child.Stdin())
	if _, err := child.Wait(); err == nil {
		t.Error("Wait knows the exit of a command that was not watched")
	}
	if _, err := child.Stop(context.Background()); err == nil {
		t.Error("Stop does not say that the watching process is gone")
	}
	until(t, "the command is gone", func() bool { return dead(list) })
}

func TestManyCallers(t *testing.T) {
	child := start(t, Command{Args: []string{"sh", "-c", stubborn}, Env: os.Environ(), Grace: 1e6})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { child.Left() })
		wg.Go(func() { child.Wait() })
		wg.Go(func() { child.Stop(context.Background()) })
	}
	wg.Wait()
}

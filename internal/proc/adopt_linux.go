package proc

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// own are the processes this program started itself and waits for. The reaper
// keeps away from them.
var own struct {
	sync.Mutex
	pids map[int]bool // guarded by Mutex
}

// adopting says that what a dead helper leaves becomes our child, and that all
// our children are own or such.
var adopting atomic.Bool

// orphans guards what is done to the orphans: once at a time.
var orphans sync.Mutex

var reaper sync.Once

func startOwn(path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	own.Lock() // until the number is noted the reaper must not look
	defer own.Unlock()
	p, err := os.StartProcess(path, args, attr)
	if err != nil {
		return nil, err
	}
	if own.pids == nil {
		own.pids = map[int]bool{}
	}
	own.pids[p.Pid] = true
	return p, nil
}

func waitOwn(p *os.Process) {
	_, _ = p.Wait()
	own.Lock()
	delete(own.pids, p.Pid)
	own.Unlock()
}

func isOwn(p process) bool {
	own.Lock() // what is being started is noted by then
	defer own.Unlock()
	return own.pids[p.pid]
}

// helperAttr keeps the terminal's Ctrl-C from the helper, and wakes one that is
// stopped when the thread that started it ends: then this process is dead, and
// the helper has work to do. A running helper ignores SIGCONT.
func helperAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGCONT}
}

func adopt() error {
	if os.Getpid() != 1 { // orphans come to process 1 by themselves
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("adopt what dead helpers leave: %w", err)
		}
	}
	// The first use of this makes a child to try the kernel, and waits for it.
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Release()
	}
	adopting.Store(true)
	return nil
}

// orphansLeave keeps this process from becoming the parent of orphans until the returned
// function is called.
func orphansLeave() (back func()) {
	if !adopting.Load() {
		return func() {}
	}
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) // adopt could
	return func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
}

func conceal() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close this process to others: %w", err)
	}
	return nil
}

// endOrphans ends what became our child because its helper died, adding it to
// hit. When several helpers are dead its owner cannot be determined, and need not be:
// it all has to end. A child that began before the helper of t is not of its tree:
// as process 1 we also get what others started in the container.
func (t *tree) endOrphans(hit map[identity]bool) (left []process, all bool) {
	if !adopting.Load() {
		return t.endSession(hit)
	}
	collectOrphans()
	orphans.Lock()
	defer orphans.Unlock()
	f := newFamily(os.Getpid(), 0)
	f.excluded = func(p process) bool { return p.start < t.self.start || isOwn(p) }
	return f.end(hit, reap), true
}

// reapAsInit collects orphans for as long as the process lives if it is process
// 1: the kernel gives them to it, and no other process can.
func reapAsInit() {
	if os.Getpid() == 1 {
		reaper.Do(func() { go reapOrphans() })
	}
}

// collectOrphans collects, from the first helper on that left something, also what
// could not be ended, once it ends.
func collectOrphans() {
	if adopting.Load() {
		reaper.Do(func() { go reapOrphans() })
	}
}

func reapOrphans() {
	died := make(chan os.Signal, 1)
	signal.Notify(died, unix.SIGCHLD)
	reap() // what died before
	for range died {
		reap()
	}
}

// reap collects dead children that nothing waits for.
func reap() {
	own.Lock()
	defer own.Unlock()
	all, _ := processes()
	for _, p := range all {
		if p.zombie && p.parent == os.Getpid() && !own.pids[p.pid] {
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
		}
	}
}

// detacherName is the argv[0] of a process that stands between us and a program
// that is not ours to end. What that leaves behind is the detacher's to adopt, not
// ours, which would end it.
const detacherName = "webchat-detached"

// startDetached starts a program that is not ours to end.
func startDetached(path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	self, err := selfPath()
	if err != nil {
		return nil, err
	}
	return startOwn(self, append([]string{detacherName, path}, args...), attr)
}

// beDetacher does not return if this process was started as one.
func beDetacher() {
	if len(os.Args) < 3 || os.Args[0] != detacherName {
		return
	}
	closeOnExec()
	if conceal() != nil || becomeReaper() != nil { // its environment is that of a server
		syscall.Exit(1)
	}
	if _, err := syscall.ForkExec(os.Args[1], os.Args[2:], &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	}); err != nil {
		syscall.Exit(1)
	}
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && err != unix.EINTR {
			syscall.Exit(0) // no children
		}
	}
}

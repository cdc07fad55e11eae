package proc

import (
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	fionread  = 0x4004667f // FIONREAD of sys/filio.h
	subreaper = false
	lookEvery = 100 * time.Millisecond
)

func selfPath() (string, error) { return os.Executable() }

func commandAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// becomeReaper does nothing: there are no subreapers. awaitStrays watches
// instead.
func becomeReaper() error { return nil }

// awaitStrays waits until what was seen to belong to the tree is gone.
func (f *family) awaitStrays() {
	for len(f.alive()) > 0 {
		time.Sleep(lookEvery)
	}
}

// closeOnExec keeps descriptors that came with us from the command.
func closeOnExec() {
	dir, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range dir {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

func processes() ([]process, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	list := make([]process, 0, len(all))
	for i := range all {
		list = append(list, fromKernel(&all[i]))
	}
	return list, nil
}

// look reads one process; false when it is gone.
func look(pid int) (process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return process{}, false
	}
	return fromKernel(k), true
}

func fromKernel(k *unix.KinfoProc) process {
	const stopped, zombie = 4, 5 // SSTOP and SZOMB of sys/proc.h
	pid := int(k.Proc.P_pid)
	p := process{
		identity: identity{pid: pid, start: uint64(k.Proc.P_starttime.Sec)*1e6 +
			uint64(k.Proc.P_starttime.Usec)},
		parent:  int(k.Eproc.Ppid),
		zombie:  k.Proc.P_stat == zombie,
		stopped: k.Proc.P_stat == stopped,
	}
	p.session, _ = unix.Getsid(pid)
	return p
}

// commandOf is a process's name, at most 16 bytes: the kernel's table has no
// arguments.
func commandOf(pid int) string {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(k.Proc.P_comm[:])
}

func startOwn(path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	return os.StartProcess(path, args, attr)
}

func waitOwn(p *os.Process) { _, _ = p.Wait() }

// startDetached starts a program that is not ours to end.
func startDetached(path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	return startOwn(path, args, attr)
}

// beDetacher does nothing: see startDetached.
func beDetacher() {}

// helperAttr keeps the terminal's Ctrl-C from the helper.
func helperAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// adopt has nothing to do: there are no subreapers.
func adopt() error { return nil }

// orphansLeave has nothing to do: orphans do not come here.
func orphansLeave() (back func()) { return func() {} }

// conceal has nothing to do: the system has no such switch.
func conceal() error { return nil }

// endOrphans finds what a dead helper leaves by its session.
func (t *tree) endOrphans(hit map[identity]bool) (left []process,
	all bool) {
	return t.endSession(hit)
}

// collectOrphans has nothing to do: they are not ours.
func collectOrphans() {}

// reapAsInit has nothing to do: this system has no containers.
func reapAsInit() {}

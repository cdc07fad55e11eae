package proc

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// start starts the command from a thread that gives up all it could be used for. The
// others of the helper keep what they need to change the tree. The thread stays: the
// command dies with it.
func (r *confined) start(req request) (int, error) {
	type result struct {
		pid int
		err error
	}
	started := make(chan result)
	go func() {
		runtime.LockOSThread()
		err := restrictThread()
		pid := 0
		switch {
		case err != nil:
			err = fmt.Errorf("confine its thread: %w", err)
		case req.Only:
		default:
			pid, err = forkExec(req)
		}
		started <- result{pid, err}
		select {}
	}()
	s := <-started
	return s.pid, s.err
}

// restrictThread takes from the calling thread, and from all that it starts, its
// capabilities, other processes, and calls that no namespace holds.
func restrictThread() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	if landlockVersion() >= scopedVersion {
		if err := scope(); err != nil {
			return fmt.Errorf("hold its signals: %w", err)
		}
	}
	if err := filterCalls(); err != nil {
		return fmt.Errorf("filter its calls: %w", err)
	}
	return nil
}

func dropCapabilities() error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		// older kernels know fewer
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && err != unix.EINVAL {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	// NOROOT, NO_SETUID_FIXUP and their locks: root gets no capabilities by exec.
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, 0x2f, 0, 0, 0); err != nil {
		return err
	}
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&h, &none[0])
}

// scopedVersion is the first of Landlock that holds signals: Linux 6.12.
const scopedVersion = 6

// landlockVersion is 0 where there is none.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0,
		unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// scope keeps signals and abstract sockets within what this thread starts. Files are held
// by mounts: rules about them would forbid renames between folders.
func scope() error {
	attr := unix.LandlockRulesetAttr{Scoped: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET |
		unix.LANDLOCK_SCOPE_SIGNAL}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)),
		unsafe.Offsetof(attr.Quiet_access_fs), 0)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(fd))
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// Offsets in what a filter of calls sees, struct seccomp_data of linux/seccomp.h.
const (
	callNumber  = 0
	callMachine = 4
	callArg     = 16 // the low half of the first argument; the next is 8 bytes on
)

// machines are the values of callMachine.
var machines = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

const (
	callAllowed = unix.SECCOMP_RET_ALLOW
	callRefused = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	callUnknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// refusedCalls reach what is not in a namespace.
var refusedCalls = []uint32{
	// does what this filter would refuse
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD,
	unix.SYS_KEXEC_LOAD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_SETNS,
}

// refusedSockets are families that a network namespace does not hold.
var refusedSockets = []uint32{unix.AF_VSOCK, unix.AF_ALG, unix.AF_KEY, unix.AF_XDP,
	unix.AF_BLUETOOTH, unix.AF_PACKET, unix.AF_TIPC}

const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// callFilter is what the calls of a tree are held to, which is started from a thread.
func callFilter(machine, thread uint32) []bpf.Instruction {
	load := func(off uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: off, Size: 4} }
	is := func(v uint32, skipElse uint8) bpf.Instruction {
		return bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v, SkipTrue: skipElse}
	}
	ret := func(v uint32) bpf.Instruction { return bpf.RetConstant{Val: v} }
	p := []bpf.Instruction{
		load(callMachine), bpf.JumpIf{Cond: bpf.JumpEqual, Val: machine, SkipTrue: 1},
		ret(unix.SECCOMP_RET_KILL_PROCESS),
		// x32
		load(callNumber), bpf.JumpIf{Cond: bpf.JumpLessThan, Val: 0x40000000, SkipTrue: 1},
		ret(callRefused),
	}
	for _, n := range refusedCalls {
		p = append(p, is(n, 1), ret(callRefused))
	}
	// its flags cannot be looked at; programs fall back to clone
	p = append(p, is(unix.SYS_CLONE3, 1), ret(callUnknown))
	for _, n := range []uint32{unix.SYS_CLONE, unix.SYS_UNSHARE} {
		p = append(p, is(n, 4), load(callArg), bpf.JumpIf{
			Cond:     bpf.JumpBitsNotSet,
			Val:      newNamespaces,
			SkipTrue: 1,
		}, ret(callRefused), ret(callAllowed))
	}
	p = append(p, is(unix.SYS_IOCTL, 5), load(callArg+8),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCSTI, SkipTrue: 1},
		is(unix.TIOCLINUX, 1), ret(callRefused), ret(callAllowed))
	// A signal to the thread would be one to the helper, and the kernel takes the thread for one of
	// the tree's. Who only has a descriptor cannot be looked at; programs fall back to the others.
	p = append(p, is(unix.SYS_PIDFD_SEND_SIGNAL, 1), ret(callUnknown))
	for _, call := range []struct{ number, arg uint32 }{{unix.SYS_KILL, 0}, {unix.SYS_TKILL, 0},
		{unix.SYS_RT_SIGQUEUEINFO, 0}, {unix.SYS_TGKILL, 8}, {unix.SYS_RT_TGSIGQUEUEINFO, 8}} {
		p = append(p, is(call.number, 4), load(callArg+call.arg), is(thread, 1), ret(callRefused),
			ret(callAllowed))
	}
	p = append(p, is(unix.SYS_FCNTL, 4), load(callArg+8), is(unix.F_SETOWN_EX, 1), ret(callRefused),
		ret(callAllowed))
	// Limits of another process of the user, which could end it by them.
	p = append(p, is(unix.SYS_PRLIMIT64, 8), load(callArg),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 4},
		load(callArg+16), bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 3}, load(callArg+20),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 1},
		ret(callAllowed), ret(callRefused))
	p = append(p, is(unix.SYS_SOCKET, uint8(2*len(refusedSockets)+1)), load(callArg))
	for _, f := range refusedSockets {
		p = append(p, is(f, 1), ret(callRefused))
	}
	return append(p, ret(callAllowed))
}

func filterCalls() error {
	machine, ok := machines[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("not known for %s", runtime.GOARCH)
	}
	raw, err := bpf.Assemble(callFilter(machine, uint32(unix.Gettid())))
	if err != nil {
		return err
	}
	code := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		code[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0,
		0)
}

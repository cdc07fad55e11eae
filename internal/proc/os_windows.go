package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a job object. What the command starts is born in it and cannot leave.
// The kernel ends it when its last handle closes: when this process dies.
type tree struct {
	pid     int
	process *os.Process
	job     windows.Handle
	stops   chan struct{} // asks follow to end the job

	exited  chan struct{} // closed after exit and exitErr are set
	exit    Exit
	exitErr error
	gone    chan struct{} // closed after ended and goneErr are set
	ended   int
	goneErr error
	lists   chan chan []Process
}

func startOwn(path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	return os.StartProcess(path, args, attr)
}

func waitOwn(p *os.Process) { _, _ = p.Wait() }

// beHelper does nothing: the kernel does a helper's work here.
func beHelper() {}

// closeOnExec has nothing to do: only what is named is inherited.
func closeOnExec() {}

// selfPath names this very binary.
func selfPath() (string, error) { return os.Executable() }

// beDetacher does nothing: see startDetached.
func beDetacher() {}

// startDetached starts a program that is not ours to end.
func startDetached(path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	return startOwn(path, args, attr)
}

// adopt has nothing to do: jobs have no orphans.
func adopt() error { return nil }

// orphansLeave has nothing to do: orphans do not come here.
func orphansLeave() (back func()) { return func() {} }

// conceal has nothing to do: who may read a process is not ours to say.
func conceal() error { return nil }

// reapAsInit has nothing to do: there are no zombies.
func reapAsInit() {}

// pending is never asked for: pipes have no deadlines here.
func pending(*os.File) int { return 0 }

func startTree(path string, c Command, files []*os.File) (*tree, error) {
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	// Suspended, so that it cannot start anything before it is in the job.
	p, err := startOwn(path, c.Args, &os.ProcAttr{Dir: c.Dir, Env: environment(c.Env), Files: files,
		Sys: &syscall.SysProcAttr{
			CmdLine:       commandLine(path, c.Args),
			CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP,
			HideWindow:    true,
		}})
	if err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	err = errors.New("its process is gone")
	if herr := p.WithHandle(func(h uintptr) {
		err = windows.AssignProcessToJobObject(job, windows.Handle(h))
	}); herr != nil {
		err = herr
	}
	if err == nil {
		err = resume(uint32(p.Pid))
	}
	if err != nil {
		_ = p.Kill()
		_, _ = p.Wait()
		windows.CloseHandle(job)
		return nil, fmt.Errorf("put it into a job object: %w", err)
	}
	t := &tree{
		pid:     p.Pid,
		process: p,
		job:     job,
		stops:   make(chan struct{}),
		lists:   make(chan chan []Process),
		exited:  make(chan struct{}),
		gone:    make(chan struct{}),
	}
	go t.wait()
	go t.follow()
	return t, nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("make a job object: %w", err)
	}
	var limit windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limit.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limit)), uint32(unsafe.Sizeof(limit))); err != nil {
		windows.CloseHandle(job)
		return 0, fmt.Errorf("make a job object: %w", err)
	}
	return job, nil
}

// resume lets the only thread of a suspended process run.
func resume(pid uint32) error {
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(snap)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snap, &entry); err == nil; err = windows.Thread32Next(snap,
		&entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		defer windows.CloseHandle(thread)
		_, err = windows.ResumeThread(thread)
		return err
	}
	return fmt.Errorf("find its thread: %w", err)
}

// commandLine leaves the line for cmd.exe as it is: cmd does not read the quoting
// that other programs do. Empty: the usual quoting.
func commandLine(path string, args []string) string {
	if !strings.EqualFold(strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe"), "cmd") ||
		len(args) < 2 {
		return ""
	}
	if !strings.EqualFold(args[len(args)-2], "/c") {
		return ""
	}
	return syscall.EscapeArg(path) + " /d /s /c \"" + args[len(args)-1] + "\""
}

// environment adds what no program starts without.
func environment(env []string) []string {
	for _, kv := range env {
		if k, _, _ := strings.Cut(kv, "="); strings.EqualFold(k, "SYSTEMROOT") {
			return env
		}
	}
	return append(slices.Clone(env), "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
}

func (t *tree) wait() {
	defer close(t.exited)
	st, err := t.process.Wait()
	if err != nil {
		t.exit, t.exitErr = Exit{Code: -1}, err
		return
	}
	t.exit = Exit{Code: st.ExitCode()}
}

// follow owns the job's handle until the job is empty.
func (t *tree) follow() {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var until time.Time
	for {
		select {
		case <-tick.C:
			pids, err := t.members()
			switch {
			case err == nil && len(pids) == 0:
			case err != nil || !until.IsZero() && time.Now().After(until):
				t.goneErr = fmt.Errorf("could not end processes %v: %v", pids, err)
			default:
				continue
			}
			windows.CloseHandle(t.job) // ends what could not be seen
			<-t.exited
			close(t.gone)
			return
		case reply := <-t.lists:
			reply <- t.describe()
		case <-t.stops:
			if until.IsZero() {
				pids, _ := t.members()
				t.ended, until = len(pids), time.Now().Add(killPatience)
				_ = windows.TerminateJobObject(t.job, 1)
			}
		}
	}
}

// members are the job's processes.
func (t *tree) members() ([]int, error) {
	var buf struct {
		Assigned, Listed uint32
		PIDs             [1024]uintptr
	}
	err := windows.QueryInformationJobObject(t.job, windows.JobObjectBasicProcessIdList,
		uintptr(unsafe.Pointer(&buf)), uint32(unsafe.Sizeof(buf)), nil)
	if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
		return nil, fmt.Errorf("list the job's processes: %w", err)
	}
	var pids []int
	for _, pid := range buf.PIDs[:min(int(buf.Listed), len(buf.PIDs))] {
		pids = append(pids, int(pid))
	}
	return pids, nil
}

func (t *tree) describe() []Process {
	pids, _ := t.members()
	var l []Process
	for _, pid := range pids {
		l = append(l, Process{PID: pid, Command: imageOf(uint32(pid))})
	}
	return l
}

// imageOf is the program a process runs; its arguments cannot be read.
func imageOf(pid uint32) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return "unknown"
	}
	defer windows.CloseHandle(h)
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n := uint32(len(buf))
	if err := windows.QueryFullProcessImageName(h, 0, &buf[0], &n); err != nil {
		return "unknown"
	}
	return windows.UTF16ToString(buf[:n])
}

func (t *tree) list() []Process {
	reply := make(chan []Process, 1)
	select {
	case t.lists <- reply:
		return <-reply
	case <-t.gone:
		return nil
	}
}

// watch returns when the tree is gone.
func (t *tree) watch() { <-t.gone }

// stop does not wait for Grace: there is no signal to be graceful with.
func (t *tree) stop(context.Context) (int, error) {
	select {
	case t.stops <- struct{}{}:
	case <-t.gone:
	}
	<-t.gone
	return t.ended, t.goneErr
}

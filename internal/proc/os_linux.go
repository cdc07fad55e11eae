package proc

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	fionread  = unix.TIOCINQ // another name for FIONREAD
	subreaper = true
	lookEvery = 0 * time.Second // nothing can leave: no need to look
)

// selfPath names this very binary, also after it was replaced on disk.
func selfPath() (string, error) { return "/proc/self/exe", nil }

func commandAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// becomeReaper makes every orphan of the tree our child.
func becomeReaper() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// awaitStrays has nothing to wait for: a subreaper without children has no
// descendants.
func (f *family) awaitStrays() {}

// closeOnExec keeps descriptors that came with us from the command.
func closeOnExec() {
	if unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	dir, err := os.ReadDir("/proc/self/fd") // before Linux 5.11
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
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []process
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := look(pid); ok {
				list = append(list, p)
			}
		}
	}
	return list, nil
}

// look reads one process; false when it is gone.
func look(pid int) (process, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, b)
}

// parseStat reads /proc/PID/stat, see proc_pid_stat(5). The second field is the
// name in parentheses and may hold anything, parentheses too.
func parseStat(pid int, b []byte) (process, bool) {
	end := bytes.LastIndexByte(b, ')')
	if end < 0 {
		return process{}, false
	}
	f := strings.Fields(string(b[end+1:])) // f[0] is field 3
	if len(f) < 20 {
		return process{}, false
	}
	p := process{
		identity: identity{pid: pid},
		zombie:   f[0] == "Z" || f[0] == "X",
		stopped:  f[0] == "T",
	}
	var err [3]error
	p.parent, err[0] = strconv.Atoi(f[1])
	p.session, err[1] = strconv.Atoi(f[3])
	p.start, err[2] = strconv.ParseUint(f[19], 10, 64)
	return p, err == [3]error{}
}

// commandOf is a process's arguments, at most the first 4 KiB, or its name.
func commandOf(pid int) string {
	dir := "/proc/" + strconv.Itoa(pid)
	if f, err := os.Open(dir + "/cmdline"); err == nil {
		defer f.Close()
		b := make([]byte, 4<<10)
		n, _ := f.Read(b)
		if s := strings.TrimSpace(strings.ReplaceAll(string(b[:n]), "\x00", " ")); s != "" {
			return s
		}
	}
	b, _ := os.ReadFile(dir + "/comm")
	return strings.TrimSpace(string(b))
}

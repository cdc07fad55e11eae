package cage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"webchat/internal/proc"
)

// scene is what an attacker knows of its victims.
type scene struct {
	Home, Work, Shm string
	Server, Other   int // processes: a server, closed to others as webchat is, and one that is not
	TCP, UDP, Unix  string
	Abstract        string
	Segment         int // of System V memory
	Confined        bool
}

// eachThread tries something with the threads of the helper, until it goes well with one.
func eachThread(try func(tid int) error) func(*scene) error {
	return func(*scene) error {
		list, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", os.Getppid()))
		for _, d := range list {
			tid, bad := strconv.Atoi(d.Name())
			if bad == nil {
				if err = try(tid); err == nil {
					return nil
				}
			}
		}
		return err
	}
}

// outcome is what an attack is expected to come to.
type outcome int

const (
	lands outcome = iota // it does what it wants
	held                 // it does not
	// it makes what takes effect later; that is found after the call, and asked about
	delayed
	alone   // it works, and is seen by the tree only
	unsure  // by the rights of the user and the kernel's settings
	skipped // it would harm the machine
)

// attack is something that a command may try. What it returns says whether it went well; seen
// says what of it is outside.
type attack struct {
	name              string
	outside, confined outcome
	do                func(s *scene) error
	seen              func(s *scene) bool
}

func in(s *scene, name string) string { return filepath.Join(s.Home, name) }

func appendTo(name string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("evil\n")
	return err
}

func create(name string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
		os.WriteFile(name, []byte("evil"), 0o755))
}

func reads(name string) error { _, err := os.ReadFile(name); return err }

func dials(network, address string) error {
	c, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if network != "udp" {
		return nil
	}
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err = c.Write([]byte("x")); err == nil {
		_, err = c.Read(make([]byte, 1)) // the victim answers
	}
	return err
}

func calls(nr uintptr, args ...uintptr) error {
	a := append(args, 0, 0, 0, 0, 0, 0)
	if _, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

// through sends a request to the door for an address.
func through(address string) error {
	p, _ := url.Parse(fmt.Sprintf("http://127.0.0.1:%d", doorPort))
	t := &http.Transport{Proxy: http.ProxyURL(p), DisableKeepAlives: true}
	res, err := (&http.Client{Transport: t, Timeout: 5 * time.Second}).Get("http://" + address)
	if err != nil {
		return err
	}
	res.Body.Close()
	if res.StatusCode == http.StatusForbidden {
		return errors.New("refused")
	}
	return nil
}

// filesAt are the attacks on files outside of the workspace.
var onFiles = []attack{
	{"append to ~/.bashrc", lands, held, func(s *scene) error {
		return appendTo(in(s, ".bashrc"))
	}, nil},
	{"write ~/.bashrc by a link", lands, held, func(s *scene) error {
		return errors.Join(os.Symlink(in(s, ".bashrc"), s.Work+"/l1"), appendTo(s.Work+"/l1"))
	}, nil},
	{"write ~/.bashrc by a hard link", lands, held, func(s *scene) error {
		return errors.Join(os.Link(in(s, ".bashrc"), s.Work+"/l2"), appendTo(s.Work+"/l2"))
	}, nil},
	{"rename over ~/.zshrc", lands, held, func(s *scene) error {
		return errors.Join(create(s.Work+"/new1"), os.Rename(s.Work+"/new1", in(s, ".zshrc")))
	}, nil},
	{"truncate ~/.bashrc", lands, held, func(s *scene) error {
		return os.Truncate(in(s, ".bashrc"), 0)
	}, nil},
	{"remove ~/.profile", lands, held, func(s *scene) error {
		return os.Remove(in(s, ".profile"))
	}, nil},
	{"change the mode of ~/.ssh/id_rsa", lands, held, func(s *scene) error {
		return os.Chmod(in(s, ".ssh/id_rsa"), 0o644)
	}, nil},
	{"change the times of ~/.bashrc", lands, held, func(s *scene) error {
		return os.Chtimes(in(s, ".bashrc"), time.Now(), time.Now())
	}, nil},
	{"set an attribute of ~/.bashrc", unsure, held, func(s *scene) error {
		return unix.Setxattr(in(s, ".bashrc"), "user.evil", []byte("1"), 0)
	}, nil},
	{"read ~/.ssh/id_rsa", lands, held, func(s *scene) error {
		return reads(in(s, ".ssh/id_rsa"))
	}, nil},
	{"list ~/.ssh", lands, held, func(s *scene) error {
		_, err := os.ReadDir(in(s, ".ssh"))
		return err
	}, nil},
	{"read another workspace", lands, held, func(s *scene) error {
		return reads(in(s, "code/other/x"))
	}, nil},
	{"write another workspace", lands, held, func(s *scene) error {
		return create(in(s, "code/other/y"))
	}, nil},
	{"read webchat's token", lands, held, func(s *scene) error {
		return reads(in(s, ".local/share/webchat/token"))
	}, nil},
	{"change webchat's settings", lands, held, func(s *scene) error {
		return create(in(s, ".config/webchat/config.yaml"))
	}, nil},
	{"start with the session", lands, held, func(s *scene) error {
		return create(in(s, ".config/autostart/x.desktop"))
	}, nil},
	{"put a program before others", lands, held, func(s *scene) error {
		return create(in(s, ".local/bin/git"))
	}, nil},
	{"change a file by ..", lands, held, func(s *scene) error {
		return appendTo(s.Work + "/../../.bashrc")
	}, nil},
	{"poison the build cache", lands, alone, func(s *scene) error {
		return create(in(s, ".cache/go-build/00/x-a"))
	},
		func(s *scene) bool { return reads(in(s, ".cache/go-build/00/x-a")) == nil }},
	{"poison a module", lands, alone, func(s *scene) error {
		return os.WriteFile(in(s, "go/pkg/mod/m/m.go"), []byte("evil"), 0)
	},
		func(s *scene) bool {
			b, _ := os.ReadFile(in(s, "go/pkg/mod/m/m.go"))
			return string(b) == "evil"
		}},
	{"leave a file in /tmp", lands, alone, func(s *scene) error {
		return create("/tmp/" + filepath.Base(s.Shm))
	},
		func(s *scene) bool { return os.Remove("/tmp/"+filepath.Base(s.Shm)) == nil }},
	{"leave memory in /dev/shm", lands, alone, func(s *scene) error {
		return create(s.Shm)
	}, func(s *scene) bool { return os.Remove(s.Shm) == nil }},
	{"write in /etc", skipped, held, func(*scene) error { return create("/etc/cage-test") }, nil},
	{"write in /usr/local", skipped, held, func(*scene) error {
		return create("/usr/local/cage-test")
	}, nil},
	{"write a setting of the kernel", skipped, held, func(*scene) error {
		return os.WriteFile("/proc/sys/kernel/core_pattern", []byte("|/x"), 0)
	}, nil},
	{"write in /sys", skipped, held, func(*scene) error {
		return os.WriteFile("/sys/kernel/uevent_helper", []byte("/x"), 0)
	}, nil},
	{"ask the kernel for a key of the machine", skipped, held, func(*scene) error {
		return os.WriteFile("/proc/sysrq-trigger", []byte("h"), 0)
	}, nil},
	{"read /etc/shadow", unsure, held, func(*scene) error { return reads("/etc/shadow") }, nil},
	{"go to the machine's root by the held folder", held, held, func(*scene) error {
		_, err := os.ReadDir("/.held/old")
		return err
	}, nil},
	{"go to the machine's root by /proc/1/root", unsure, held, func(s *scene) error {
		return reads("/proc/1/root" + in(s, ".ssh/id_rsa"))
	}, nil},
	{"make a file in the new root", skipped, held, func(*scene) error {
		return create("/cage-test")
	}, nil},
}

var inWorkspace = []attack{
	{"read .env", lands, held, func(s *scene) error { return reads(s.Work + "/.env") }, nil},
	{"read .env after chmod", lands, held, func(s *scene) error {
		return errors.Join(os.Chmod(s.Work+"/.env", 0o600), reads(s.Work+"/.env"))
	}, nil},
	{"read .env by a hard link", lands, held, func(s *scene) error {
		return errors.Join(os.Link(s.Work+"/.env", s.Work+"/l3"), reads(s.Work+"/l3"))
	}, nil},
	{"read .env by its other name", lands, held, func(s *scene) error {
		return reads(s.Work + "/twin")
	}, nil},
	{"replace .env", lands, held, func(s *scene) error {
		return errors.Join(create(s.Work+"/new2"), os.Rename(s.Work+"/new2", s.Work+"/.env"))
	}, nil},
	{"remove .env", lands, held, func(s *scene) error { return os.Remove(s.Work + "/.env") }, nil},
	{"move a covered folder", lands, held, func(s *scene) error {
		return os.Rename(s.Work+"/.aws", s.Work+"/aws")
	}, nil},
	{"write a hook of git", lands, held, func(s *scene) error {
		return create(s.Work + "/.git/hooks/pre-commit")
	}, nil},
	{"write git's settings", lands, held, func(s *scene) error {
		return appendTo(s.Work + "/.git/config")
	}, nil},
	{"replace git's settings", lands, held, func(s *scene) error {
		return errors.Join(create(s.Work+"/.git/c"), os.Rename(s.Work+"/.git/c", s.Work+"/.git/config"))
	}, nil},
	{"remove the folder of hooks", lands, held, func(s *scene) error {
		return os.RemoveAll(s.Work + "/.git/hooks")
	}, nil},
	{"change a task of the editor", lands, held, func(s *scene) error {
		return create(s.Work + "/.vscode/tasks.json")
	}, nil},
	{"move the editor's folder", lands, held, func(s *scene) error {
		return os.Rename(s.Work+"/.vscode", s.Work+"/v")
	}, nil},
	{"exchange .git with a folder", lands, held, func(s *scene) error {
		return errors.Join(create(s.Work+"/g/hooks/x"),
			unix.Renameat2(unix.AT_FDCWD, s.Work+"/g", unix.AT_FDCWD, s.Work+"/.git", unix.RENAME_EXCHANGE))
	}, nil},
	{"move .git and make another", lands, held, func(s *scene) error {
		return os.Rename(s.Work+"/.git", s.Work+"/.git2")
	}, nil},
	{"make .envrc", lands, delayed, func(s *scene) error { return create(s.Work + "/.envrc") }, nil},
	{"make settings of an agent", lands, delayed, func(s *scene) error {
		return create(s.Work + "/.claude/settings.json")
	}, nil},
	{"make a task of the editor below", lands, delayed, func(s *scene) error {
		return create(s.Work + "/sub/.vscode/tasks.json")
	}, nil},
	{"lead git to other settings", lands, delayed, func(s *scene) error {
		return create(s.Work + "/.git/commondir")
	}, nil},
}

var onNetwork = []attack{
	{"connect to webchat's port", lands, held, func(s *scene) error {
		return dials("tcp", s.TCP)
	}, nil},
	{"connect to an abstract socket", lands, held, func(s *scene) error {
		return dials("unix", s.Abstract)
	}, nil},
	{"connect to a socket in HOME", lands, held, func(s *scene) error {
		return dials("unix", s.Unix)
	}, nil},
	{"send to a port of this machine", lands, held, func(s *scene) error {
		return dials("udp", s.UDP)
	}, nil},
	{"ask the door for webchat's port", held, held, func(s *scene) error {
		return through(s.TCP)
	}, nil},
	{"ask the door for this machine by name", held, held, func(s *scene) error {
		return through(strings.Replace(s.TCP, "127.0.0.1", "localhost", 1))
	}, nil},
	{"ask the door for a cloud's metadata", held, held, func(*scene) error {
		return through("169.254.169.254")
	}, nil},
	{"ask the door for any name", held, held, func(*scene) error { return through("evil.test") }, nil},
	{"look up a name", held, held, func(*scene) error {
		_, err := net.LookupHost("evil.test")
		return err
	}, nil},
	{"speak to the hypervisor", unsure, held, func(*scene) error {
		return calls(unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM)
	}, nil},
	{"read packets", unsure, held, func(*scene) error {
		return calls(unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW)
	}, nil},
	{"use the kernel's ciphers", unsure, held, func(*scene) error {
		return calls(unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_SEQPACKET)
	}, nil},
	{"add an address", skipped, held, func(*scene) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		ifr, _ := unix.NewIfreq("lo")
		_ = ifr.SetInet4Addr([]byte{10, 99, 0, 1})
		return unix.IoctlIfreq(fd, unix.SIOCSIFADDR, ifr)
	}, nil},
}

var onProcesses = []attack{
	{"end the server", skipped, held, func(s *scene) error {
		return unix.Kill(s.Server, unix.SIGKILL)
	}, nil},
	{"stop another process", lands, held, func(s *scene) error {
		return errors.Join(unix.Kill(s.Other, unix.SIGSTOP), unix.Kill(s.Other, unix.SIGCONT))
	}, nil},
	{"signal another process by a descriptor", lands, held, func(s *scene) error {
		fd, err := unix.PidfdOpen(s.Other, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
	}, nil},
	{"end the helper", skipped, held, func(*scene) error {
		return unix.Kill(os.Getppid(), unix.SIGKILL)
	}, nil},
	{"limit another process", lands, held, func(s *scene) error {
		return unix.Prlimit(s.Other, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	}, nil},
	{"trace another process", lands, held, func(s *scene) error {
		return unix.PtraceSeize(s.Other)
	}, nil},
	{"trace the server", unsure, held, func(s *scene) error {
		return unix.PtraceSeize(s.Server)
	}, nil},
	{"read another's environment", lands, held, func(s *scene) error {
		return reads(fmt.Sprintf("/proc/%d/environ", s.Other))
	}, nil},
	{"read the server's environment", unsure, held, func(s *scene) error {
		return reads(fmt.Sprintf("/proc/%d/environ", s.Server))
	}, nil},
	{"open another's memory", lands, held, func(s *scene) error {
		return opens(fmt.Sprintf("/proc/%d/mem", s.Other))
	}, nil},
	{"go to another's root", lands, held, func(s *scene) error {
		return reads(fmt.Sprintf("/proc/%d/root%s", s.Other, in(s, ".ssh/id_rsa")))
	}, nil},
	{"go to another's folder", lands, held, func(s *scene) error {
		_, err := os.ReadDir(fmt.Sprintf("/proc/%d/cwd", s.Other))
		return err
	}, nil},
	{"read another's open file", lands, held, func(s *scene) error {
		_, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", s.Other))
		return err
	}, nil},
	{"list the numbers of another's files", lands, unsure, func(s *scene) error {
		_, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Other))
		return err
	}, nil},
	{"take another's files", lands, held, func(s *scene) error {
		fd, err := unix.PidfdOpen(s.Other, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return calls(unix.SYS_PIDFD_GETFD, uintptr(fd), 0, 0)
	}, nil},
	{"read another's memory", lands, held, func(s *scene) error {
		var b [8]byte
		at := mapped(s.Other)
		_, err := unix.ProcessVMReadv(s.Other, []unix.Iovec{{Base: &b[0], Len: 8}},
			[]unix.RemoteIovec{{Base: at, Len: 8}}, 0)
		return err
	}, nil},
	{"signal a thread of the helper", skipped, held, eachThread(func(tid int) error {
		return unix.Kill(tid, 0)
	}), nil},
	{"signal a thread of the helper by both names", skipped, held,
		eachThread(func(tid int) error { return unix.Tgkill(os.Getppid(), tid, 0) }), nil},
	{"signal a thread of the helper by its folder", skipped, held, eachThread(func(tid int) error {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d", tid), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.PidfdSendSignal(fd, 0, nil, 0)
	}), nil},
	{"have a thread of the helper signalled by a file", skipped, held, eachThread(func(tid int) error {
		owner := [2]int32{0, int32(tid)} // F_OWNER_TID
		return calls(unix.SYS_FCNTL, 0, unix.F_SETOWN_EX, uintptr(unsafe.Pointer(&owner)))
	}), nil},
	{"read the helper's root", skipped, held, func(*scene) error {
		_, err := os.ReadDir(fmt.Sprintf("/proc/%d/root", os.Getppid()))
		return err
	}, nil},
	{"attach another's memory segment", lands, held, func(s *scene) error {
		at, _, errno := unix.Syscall(unix.SYS_SHMAT, uintptr(s.Segment), 0, unix.SHM_RDONLY)
		if errno != 0 {
			return errno
		}
		return calls(unix.SYS_SHMDT, at)
	}, nil},
}

var onKernel = []attack{
	{"use io_uring", unsure, held, func(*scene) error {
		var params [120]byte
		return calls(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)))
	}, nil},
	{"keep a key in the kernel", unsure, held, func(*scene) error {
		_, err := unix.AddKey("user", "cage-test", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
		return err
	}, nil},
	{"load a program into the kernel", unsure, held, func(*scene) error {
		return permitted(unix.SYS_BPF, 99)
	}, nil},
	{"watch the kernel's counters", unsure, held, func(*scene) error {
		return permitted(unix.SYS_PERF_EVENT_OPEN)
	}, nil},
	{"handle faults of memory", unsure, held, func(*scene) error {
		return permitted(unix.SYS_USERFAULTFD, 1)
	}, nil},
	{"make a user namespace", lands, held, func(*scene) error {
		_, err := syscall.ForkExec("/usr/bin/true", []string{"true"},
			&syscall.ProcAttr{Sys: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}})
		return err
	}, nil},
	{"make namespaces by unshare", held, held, func(*scene) error {
		return unix.Unshare(unix.CLONE_NEWUSER | unix.CLONE_NEWNS)
	}, nil},
	{"make namespaces by clone3", skipped, held, func(*scene) error {
		var a [88]byte
		return calls(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&a)), 88)
	}, nil},
	{"mount", skipped, held, func(*scene) error {
		return unix.Mount("x", "/tmp", "tmpfs", 0, "")
	}, nil},
	{"uncover by umount", skipped, held, func(s *scene) error {
		return unix.Unmount(s.Work+"/.env", unix.MNT_DETACH)
	}, nil},
	{"make the root writable", skipped, held, func(*scene) error {
		return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "")
	}, nil},
	{"copy a mount", skipped, held, func(*scene) error {
		_, err := unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE)
		return err
	}, nil},
	{"go to another root", skipped, held, func(*scene) error { return unix.Chroot("/tmp") }, nil},
	{"join the server's namespaces", skipped, held, func(s *scene) error {
		fd, err := unix.PidfdOpen(s.Server, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Setns(fd, unix.CLONE_NEWNS)
	}, nil},
	{"open by a handle", skipped, held, func(*scene) error {
		h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, "/usr", 0)
		if err != nil {
			return err
		}
		fd, err := unix.Open("/usr", unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		_, err = unix.OpenByHandleAt(fd, h, unix.O_RDONLY)
		return err
	}, nil},
	{"make a device", skipped, held, func(s *scene) error {
		return unix.Mknod(s.Work+"/disk", unix.S_IFBLK|0o600, int(unix.Mkdev(254, 0)))
	}, nil},
	{"become another user", skipped, held, func(*scene) error {
		if os.Getuid() == 0 {
			return unix.Setresuid(1, 1, 1)
		}
		return unix.Setresuid(0, 0, 0)
	}, nil},
	{"type into a terminal", unsure, held, func(*scene) error {
		fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		c := byte('x')
		return calls(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
	}, nil},
}

func opens(name string) error {
	f, err := os.Open(name)
	if err == nil {
		f.Close()
	}
	return err
}

// mapped is an address that another process has.
func mapped(pid int) uintptr {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	var at uintptr
	_, _ = fmt.Sscanf(string(b), "%x-", &at)
	return at
}

// permitted reports by its error whether a call was refused, whatever else is wrong with it.
func permitted(nr uintptr, args ...uintptr) error {
	if err := calls(nr, args...); errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		return err
	}
	return nil
}

func attacks() []attack {
	return slices.Concat(onFiles, inWorkspace, onNetwork, onProcesses,
		onKernel)
}

// beAnother makes this process an attacker or a victim, if it was started as one.
func beAnother() {
	switch {
	case os.Getenv("ATTACK") != "":
		beAttacker()
	case os.Getenv("VICTIM") != "":
		beVictim()
	}
}

// beAttacker tries all of it, each from a thread of its own, and prints what came of it.
func beAttacker() {
	var s scene
	if err := json.Unmarshal([]byte(os.Getenv("ATTACK")), &s); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	results := map[string]string{}
	for _, a := range attacks() {
		if !s.Confined && a.outside == skipped {
			continue
		}
		done := make(chan error)
		go func() {
			runtime.LockOSThread()
			done <- a.do(&s)
		}()
		results[a.name] = ""
		if err := <-done; err != nil {
			results[a.name] = err.Error()
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(results)
	os.Exit(0)
}

// beVictim is a process that attackers know of.
func beVictim() {
	if os.Getenv("VICTIM") == "server" {
		_ = proc.Server()
	}
	fmt.Println("ready")
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGTERM)
	<-ended
	os.Exit(0)
}

// victims makes them, and what they have.
func victims(t *testing.T, y *yard) *scene {
	s := &scene{Home: y.home, Work: y.work, Shm: fmt.Sprintf("/dev/shm/cage-%d",
		time.Now().UnixNano()), Unix: y.home + "/docker.sock", Abstract: fmt.Sprintf("@cage-%d",
		time.Now().UnixNano())}
	for name, pid := range map[string]*int{"server": &s.Server, "other": &s.Other} {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		child, err := proc.Start(proc.Command{
			Args:  []string{self},
			Env:   []string{"VICTIM=" + name, "SECRET=1"},
			Dir:   y.home,
			Pipes: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { child.Stop(context.Background()) })
		if _, err := child.Stdout().Read(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		*pid = child.PID()
	}
	for network, at := range map[string]*string{"tcp": &s.TCP, "unix": &s.Unix,
		"abstract": &s.Abstract} {
		address := *at
		if network == "tcp" {
			address = "127.0.0.1:0"
		}
		l, err := net.Listen(strings.Replace(network, "abstract", "unix", 1), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		*at = l.Addr().String()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
	}
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	s.UDP = u.LocalAddr().String()
	go func() {
		for b := make([]byte, 1); ; {
			_, from, err := u.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = u.WriteTo(b, from)
		}
	}()
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	s.Segment = id
	return s
}

// What a command may try succeeds outside, or something else holds it there; confined nothing
// gets out.
func TestThreat110NothingGetsOut(t *testing.T) {
	for _, confined := range []bool{false, true} {
		t.Run(fmt.Sprintf("confined=%v", confined), func(t *testing.T) {
			y := newYard(t, ".bashrc", ".zshrc", ".profile", ".ssh/id_rsa", "code/other/x",
				".local/share/webchat/token", ".config/webchat/config.yaml", ".local/bin/own",
				".cache/go-build/00/there", "go/pkg/mod/m/m.go", "code/proj/.env", "code/proj/.aws/credentials",
				"code/proj/.vscode/tasks.json", "code/proj/sub/x")
			y.outside("git init -q .; ln .env twin")
			s := victims(t, y)
			s.Confined = confined
			results := y.attack(s)
			succeeded := 0
			for _, a := range attacks() {
				want := a.outside
				if confined {
					want = a.confined
				}
				why, tried := results[a.name]
				went := tried && why == ""
				if went && a.seen != nil && want != alone {
					went = a.seen(s)
				}
				switch {
				case want == skipped || want == unsure:
				case !tried:
					t.Errorf("%s: it was not tried", a.name)
				case (want == lands || want == delayed) != went && want != alone:
					t.Errorf("%s: went well: %v; %s", a.name, went, why)
				case want == alone && (why != "" || a.seen(s)):
					t.Errorf("%s: it is seen outside, or failed: %s", a.name, why)
				}
				if went {
					succeeded++
				}
			}
			t.Logf("%d of %d succeeded", succeeded, len(attacks()))
			for _, later := range []string{".envrc", ".claude/settings.json", "sub/.vscode/tasks.json",
				".git/commondir"} {
				if _, err := os.Lstat(filepath.Join(y.work, later)); (err == nil) == confined {
					t.Errorf("%s: %v after the call was looked at", later, err)
				}
			}
			if unix.Kill(s.Server, 0) != nil || unix.Kill(s.Other, 0) != nil {
				t.Error("a victim has ended")
			}
		})
	}
}

// attack runs this binary as the attacker.
func (y *yard) attack(s *scene) (results map[string]string) {
	y.t.Helper()
	self, err := os.Executable()
	if err != nil {
		y.t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		y.t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := proc.Command{
		Args:   []string{self},
		Dir:    y.work,
		Env:    append(y.Env, "ATTACK="+string(text)),
		Output: &out,
	}
	var c *Cage
	if s.Confined {
		if c, err = New(y.Config); err != nil {
			y.t.Fatal(err)
		}
		if cmd, err = c.Confine(context.Background(), cmd, Needs{Read: []string{self}}); err != nil {
			y.t.Fatal(err)
		}
	}
	if _, err := proc.Run(context.Background(), cmd); err != nil {
		y.t.Fatal(err, out.String())
	}
	if s.Confined {
		if _, err := c.Look(context.Background(), Look{Aside: func(root, name string,
			_ time.Time) (string, error) {
			return name, os.Rename(filepath.Join(root, name),
				filepath.Join(y.home, strings.ReplaceAll(name, "/", "-")))
		}}); err != nil {
			y.t.Error(err)
		}
	}
	if err := json.NewDecoder(&out).Decode(&results); err != nil {
		y.t.Fatalf("%v: %s", err, out.String())
	}
	return results
}

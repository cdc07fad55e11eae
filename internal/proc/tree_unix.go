//go:build linux || darwin

package proc

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// helperName is the helper's argv[0]. Together with a socket as descriptor 3 it
// makes a process a helper; its environment stays empty.
const helperName = "webchat-tree"

type (
	// request is the first thing a helper is told.
	request struct {
		Path  string
		Args  []string
		Dir   string
		Env   []string
		Grace time.Duration
	}
	// order is what a helper is told later. The end of the connection is an
	// order to end the tree, too.
	order struct {
		List, Stop, Kill bool
	}
	// report is what a helper tells.
	report struct {
		Failed  string // the program did not start
		Started int    // its process
		Exited  bool
		Exit    Exit
		Listed  bool
		List    []Process
		Over    bool // nothing is left, but for List if it could not be ended
		Ended   int
	}
)

// tree is our side of a helper.
type tree struct {
	pid    int
	helper *os.Process
	conn   *os.File

	exited  chan struct{} // closed after exit and exitErr are set
	exit    Exit
	exitErr error

	gone    chan struct{} // closed after ended and goneErr are set
	ended   int
	goneErr error

	listing sync.Mutex // one list at a time
	lists   chan []Process

	sending sync.Mutex // guards enc
	enc     *gob.Encoder
}

func startTree(path string, c Command, files []*os.File) (*tree, error) {
	self, err := selfPath()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	helper, err := startOwn(self, []string{helperName}, &os.ProcAttr{
		Env:   []string{},
		Files: append(append([]*os.File{}, files...), theirs),
		Sys:   &syscall.SysProcAttr{Setsid: true}, // the terminal's Ctrl-C is not for it
	})
	theirs.Close()
	if err != nil {
		ours.Close()
		return nil, err
	}
	t := &tree{helper: helper, conn: ours, enc: gob.NewEncoder(ours), lists: make(chan []Process, 1),
		exited: make(chan struct{}), gone: make(chan struct{})}
	dec := gob.NewDecoder(ours)
	var first report
	err = t.enc.Encode(request{Path: path, Args: c.Args, Dir: c.Dir, Env: c.Env, Grace: c.Grace})
	if err == nil {
		err = dec.Decode(&first)
	}
	if err == nil && first.Failed != "" {
		err = errors.New(first.Failed)
	} else if err != nil {
		err = fmt.Errorf("its watching process ended: %w", err)
	}
	if err != nil {
		ours.Close()
		waitOwn(helper)
		return nil, err
	}
	t.pid = first.Started
	go t.follow(dec)
	return t, nil
}

// follow reads the helper's reports until its end.
func (t *tree) follow(dec *gob.Decoder) {
	over := false
	for !over {
		var r report
		if err := dec.Decode(&r); err != nil {
			break
		}
		switch {
		case r.Exited:
			t.exit = r.Exit
			close(t.exited)
		case r.Listed:
			t.lists <- r.List
		case r.Over:
			over = true
			t.ended = r.Ended
			if len(r.List) > 0 {
				t.goneErr = fmt.Errorf("could not end %s", names(r.List))
			}
		}
	}
	waitOwn(t.helper)
	t.conn.Close()
	if !over {
		// Somebody killed the helper. The kernel kills the command with it
		// (on Linux); its session is what we can still reach.
		t.goneErr = errors.New("the process that watched the command was killed")
		t.ended = killSession(t.pid)
	}
	select {
	case <-t.exited:
	default:
		t.exit = Exit{Code: 128 + int(syscall.SIGKILL), Signal: "SIGKILL"}
		t.exitErr = t.goneErr
		if t.exitErr == nil {
			t.exitErr = errors.New("the command's end was not reported")
		}
		close(t.exited)
	}
	close(t.gone)
}

func (t *tree) send(o order) {
	t.sending.Lock()
	defer t.sending.Unlock()
	_ = t.enc.Encode(o) // if it fails, follow sees the end
}

func (t *tree) list() []Process {
	t.listing.Lock()
	defer t.listing.Unlock()
	select {
	case <-t.gone:
		return nil
	default:
	}
	t.send(order{List: true})
	select {
	case l := <-t.lists:
		return l
	case <-t.gone:
		select {
		case <-t.lists: // answered and ended at once
		default:
		}
		return nil
	}
}

func (t *tree) stop(ctx context.Context) (int, error) {
	select {
	case <-t.gone:
		return t.ended, t.goneErr
	default:
	}
	t.send(order{Stop: true})
	select {
	case <-t.gone:
	case <-ctx.Done():
		t.send(order{Kill: true})
		<-t.gone
	}
	return t.ended, t.goneErr
}

func names(list []Process) string {
	var b strings.Builder
	for i, p := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d (%s)", p.PID, p.Command)
	}
	return b.String()
}

// socketPair returns two connected ends; ours has deadlines and wakes up when
// closed, theirs is an ordinary blocking descriptor.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // where the pair cannot be made close-on-exec at once
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "helper"), os.NewFile(uintptr(fds[1]), "helper"), nil
}

// pending is the number of bytes in a pipe.
func pending(f *os.File) int {
	n := 0
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) {
			n, _ = unix.IoctlGetInt(int(fd), fionread)
		})
	}
	return n
}

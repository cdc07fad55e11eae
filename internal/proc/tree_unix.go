//go:build linux || darwin

package proc

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// helperName is the helper's argv[0]. Together with a socket as descriptor 3 it
// makes a process a helper; its environment stays empty.
const helperName = "webchat-tree"

type (
	// request is the first message to a helper.
	request struct {
		Path    string
		Args    []string
		Dir     string
		Env     []string
		Grace   time.Duration
		Silence time.Duration // the helper ends the tree when it hears nothing for so long
		Confine *Confinement
		Only    bool // the confinement is tried, and nothing started in it
	}
	// order is a later message to a helper. The end of the connection is an
	// order to end the tree, too. A Beat asks for nothing but an answer.
	order struct {
		List, Stop, Kill, Beat bool
		Open                   *opening // what it is comes by the passage
		Shut                   int      // the number of what was opened
	}
	// report is a helper's report.
	report struct {
		Failed  string // the program did not start
		Started int    // its process
		Exited  bool
		Exit    Exit
		Beat    bool
		Listed  bool
		List    []Process
		Turned  *answer
		Over    bool // nothing is left, but for List if it could not be ended
		Ended   int
	}
)

// newRequest asks for c, whose program is at path.
func newRequest(path string, c Command) request {
	r := request{
		Path:    path,
		Args:    c.Args,
		Dir:     c.Dir,
		Env:     c.Env,
		Grace:   c.Grace,
		Silence: c.silence,
		Confine: c.Confine,
	}
	if r.Silence <= 0 {
		r.Silence = defaultSilence
	}
	r.Only = c.Confine != nil && c.Confine.only
	return r
}

// tree is our side of a helper.
type tree struct {
	pid    int // the command, 0 before started is closed
	grace  time.Duration
	beat   time.Duration // between two beats
	helper *os.Process
	self   process // the helper, as the system's table has it
	conn   *os.File

	started  chan struct{} // closed when pid is set; gone comes first if it fails
	startErr error         // set before gone is closed
	ending   chan struct{} // closed when the end was asked for
	endOnce  sync.Once
	answers  atomic.Int64 // reports received

	taking sync.Once
	takes  atomic.Bool   // takeOver has begun
	taken  chan struct{} // closed when it is done
	killed int           // processes ended by that; set before taken is closed

	exited  chan struct{} // closed after exit and exitErr are set
	exit    Exit
	exitErr error

	gone    chan struct{} // closed after ended and goneErr are set
	ended   int
	goneErr error

	listing sync.Mutex // one list at a time
	lists   chan []Process

	passage *passage // to a confined tree; else nil
	ports   int      // how many listeners it makes
	inside  []net.Listener
	hearErr error      // inside and hearErr are set before started is closed
	turning sync.Mutex // one change of a confined tree at a time
	turned  chan answer

	sending sync.Mutex // guards enc
	enc     *gob.Encoder
}

func startTree(path string, c Command, files []*os.File) (*tree, error) {
	helper, conn, passage, err := startHelper(c, files)
	if err != nil {
		return nil, err
	}
	req := newRequest(path, c)
	t := &tree{
		grace:   c.Grace,
		beat:    req.Silence / beatsPerSilence,
		helper:  helper,
		conn:    conn,
		enc:     gob.NewEncoder(conn),
		lists:   make(chan []Process, 1),
		passage: passage,
		turned:  make(chan answer, 1),
		started: make(chan struct{}),
		ending:  make(chan struct{}),
		taken:   make(chan struct{}),
		exited:  make(chan struct{}),
		gone:    make(chan struct{}),
	}
	if c.Confine != nil {
		t.ports = len(c.Confine.Ports)
	}
	t.self, _ = look(helper.Pid) // it is there until follow waits for it
	go t.follow()
	t.sending.Lock()
	err = t.write(req, startPatience)
	t.sending.Unlock()
	if err != nil { // the helper is dead already, or does not read
		t.takeOver()
		<-t.gone
		return nil, fmt.Errorf("tell its watching process: %w", err)
	}
	if err := t.awaitStart(); err != nil {
		<-t.gone
		return nil, err
	}
	return t, nil
}

// startHelper starts the helper of a tree, and returns our end of the connection to it, and the
// passage to a tree that is confined.
func startHelper(c Command, files []*os.File) (helper *os.Process, conn *os.File, way *passage,
	err error) {
	self, err := helperPath()
	if err != nil {
		return nil, nil, nil, err
	}
	near, theirs, err := socketPair()
	if err != nil {
		return nil, nil, nil, err
	}
	args := []string{helperName}
	attr := &os.ProcAttr{
		Env:   []string{},
		Files: append(append([]*os.File{}, files...), theirs),
		Sys:   helperAttr(),
	}
	if c.Confine != nil {
		args, way, err = confineHelper(args, attr)
	}
	if err == nil {
		helper, err = startOwn(self, args, attr)
	}
	theirs.Close()
	way.started()
	if err != nil {
		near.Close()
		way.close()
		return nil, nil, nil, err
	}
	return helper, near, way, nil
}

// follow reads the helper's reports until its end, and collects what it leaves.
func (t *tree) follow() {
	defer close(t.gone)
	over := false
	dec := gob.NewDecoder(t.conn)
	for !over {
		var r report
		if err := dec.Decode(&r); err != nil {
			break
		}
		t.answers.Add(1)
		switch {
		case r.Failed != "":
			over = true
			t.startErr = errors.New(r.Failed)
		case r.Started > 0:
			t.pid = r.Started
			if t.ports > 0 { // now, since a short command's tree is gone soon
				t.inside, t.hearErr = t.receive(t.ports)
			}
			close(t.started)
		case r.Exited:
			t.exit = r.Exit
			close(t.exited)
		case r.Listed:
			select {
			case t.lists <- r.List:
			default: // an answer that list did not wait for
			}
		case r.Turned != nil:
			select {
			case t.turned <- *r.Turned:
			default: // an answer that turn did not wait for
			}
		case r.Over:
			over = true
			t.ended = r.Ended
			if len(r.List) > 0 {
				t.goneErr = fmt.Errorf("could not end %s", names(r.List))
				collectOrphans()
			}
		}
	}
	t.endHelper()
	t.conn.Close()
	t.passage.close()
	if !over {
		t.inherit()
	}
	select {
	case <-t.exited:
	default:
		t.exit = Exit{Code: 128 + int(syscall.SIGKILL), Signal: "SIGKILL"}
		if t.exitErr == nil {
			t.exitErr = errors.New("the command's end was not reported")
		}
		close(t.exited)
	}
}

func (t *tree) send(o order) {
	t.sending.Lock()
	defer t.sending.Unlock()
	_ = t.write(o, reactPatience) // if it fails, follow or watch sees why
}

// write gives up after a while: a helper that is stopped reads nothing. The
// caller holds sending.
func (t *tree) write(message any, patience time.Duration) error {
	_ = t.conn.SetWriteDeadline(time.Now().Add(patience)) // a closed connection fails below
	return t.enc.Encode(message)
}

// list asks the helper. One that does not answer knows no more than the system's
// table does.
func (t *tree) list() []Process {
	t.listing.Lock()
	defer t.listing.Unlock()
	select {
	case <-t.gone:
		return nil
	case <-t.lists: // too late for the call before
	default:
	}
	t.send(order{List: true})
	late := time.NewTimer(reactPatience)
	defer late.Stop()
	select {
	case l := <-t.lists:
		return l
	case <-late.C:
		return newFamily(t.self.pid, t.pid).list()
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
	t.endOnce.Do(func() { close(t.ending) })
	t.send(order{Stop: true})
	select {
	case <-t.gone:
	case <-ctx.Done():
		t.send(order{Kill: true})
		<-t.gone // watch sees to it
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
func socketPair() (near, theirs *os.File, err error) {
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

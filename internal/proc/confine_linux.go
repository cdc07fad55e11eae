package proc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// namespaces are what a confined tree has of its own.
const namespaces = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC |
	syscall.CLONE_NEWNET

// Confines reports whether this system confines trees, by confining a process that does
// nothing. The error says what was refused.
func Confines() error {
	private, err := os.MkdirTemp("", "webchat-confine-")
	if err != nil {
		return fmt.Errorf("try to confine a process: %w", err)
	}
	defer os.RemoveAll(private) // empty folders of ours
	child, err := Start(Command{
		Args:    []string{"/proc/self/exe"},
		Confine: &Confinement{Private: private, only: true},
	})
	if err != nil {
		return err
	}
	_, err = child.Stop(context.Background())
	return err
}

// HoldsSignals reports whether a confined tree cannot end other processes of its user,
// which takes Linux 6.12.
func HoldsSignals() bool { return landlockVersion() >= scopedVersion }

// Hold opens what is at an absolute path, as what it is now: a later [Child.Open] gives
// that and nothing else. No link is followed, neither at the path nor on the way. The
// caller has to close it; its name is the path.
func Hold(path string) (*os.File, error) {
	fd, err := lookAt(unix.AT_FDCWD, path)
	if err != nil {
		return nil, fmt.Errorf("hold %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

var errLink = errors.New("a link is there, or on the way to it")

// lookAt opens what is at a path, itself, without following any link.
func lookAt(dir int, path string) (int, error) {
	fd, err := unix.Openat2(dir, path,
		&unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW,
			Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
	if errors.Is(err, unix.ELOOP) {
		return -1, errLink
	}
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		err = errLink
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// passage carries descriptors to and from the helper of a confined tree.
type passage struct {
	conn   *net.UnixConn
	theirs *os.File
}

// confineHelper makes a helper start in namespaces of its own, with what it needs there.
func confineHelper(args []string, attr *os.ProcAttr) ([]string, *passage, error) {
	near, theirs, err := socketPair()
	if err != nil {
		return nil, nil, err
	}
	defer near.Close()
	conn, err := net.FileConn(near)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	attr.Files = append(attr.Files, theirs)
	attr.Sys.Cloneflags = namespaces
	// the last for overlays
	attr.Sys.AmbientCaps = []uintptr{unix.CAP_SETPCAP, unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN,
		unix.CAP_DAC_OVERRIDE}
	args = append(args, strconv.Itoa(os.Getuid()), strconv.Itoa(os.Getgid()))
	return args, &passage{conn: conn.(*net.UnixConn), theirs: theirs}, nil
}

// started is called once the helper has its end, or was not started.
func (p *passage) started() {
	if p != nil {
		p.theirs.Close()
	}
}

func (p *passage) close() {
	if p != nil {
		p.conn.Close()
	}
}

// heard returns the listeners of a tree that has started.
func (t *tree) heard() ([]net.Listener, error) { return t.inside, t.hearErr }

// receive takes the listeners that a helper made.
func (t *tree) receive(n int) (all []net.Listener, err error) {
	p := t.passage
	if n == 0 {
		return nil, nil
	}
	defer func() {
		if err != nil {
			for _, l := range all {
				l.Close()
			}
		}
	}()
	_ = p.conn.SetReadDeadline(time.Now().Add(startPatience)) // a closed connection fails below
	fds, err := receiveFiles(p.conn, n)
	for _, fd := range fds {
		f := os.NewFile(uintptr(fd), "listener")
		l, bad := net.FileListener(f)
		f.Close()
		if bad != nil {
			err = errors.Join(err, bad)
			continue
		}
		all = append(all, l)
	}
	if err == nil && len(all) != n {
		err = fmt.Errorf("%d of %d listeners were made", len(all), n)
	}
	return all, err
}

func receiveFiles(conn *net.UnixConn, most int) ([]int, error) {
	b, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4*most))
	_, n, _, _, err := conn.ReadMsgUnix(b, oob)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) == 0 {
		return nil, errors.Join(errors.New("no descriptor came"), err)
	}
	return unix.ParseUnixRights(&messages[0])
}

// open asks the helper to give its tree what held is.
func (t *tree) open(held *os.File, access Access) (func() error, error) {
	if t.passage == nil || access > Writable {
		return nil, fmt.Errorf("open %s: not a confined tree, or not to be read or written", held.Name())
	}
	opened, err := t.turn(order{Open: &opening{Path: held.Name(), Access: access}}, held)
	if err != nil {
		return nil, fmt.Errorf("open %s in the running tree: %w", held.Name(), err)
	}
	return func() error { return t.shut(opened) }, nil
}

// shut ends what was opened under a number.
func (t *tree) shut(opened int) error {
	_, err := t.turn(order{Shut: opened}, nil)
	if errors.Is(err, ErrEnded) {
		return nil
	}
	return err
}

// turn has the helper change its tree: one change at a time.
func (t *tree) turn(o order, held *os.File) (int, error) {
	t.turning.Lock()
	defer t.turning.Unlock()
	select {
	case <-t.gone:
		return 0, ErrEnded
	case <-t.turned: // too late for the call before
	default:
	}
	if held != nil {
		raw, err := held.SyscallConn()
		if err != nil {
			return 0, err
		}
		// a closed connection fails below
		_ = t.passage.conn.SetWriteDeadline(time.Now().Add(reactPatience))
		var sent error
		if err := raw.Control(func(fd uintptr) {
			_, _, sent = t.passage.conn.WriteMsgUnix([]byte{1}, unix.UnixRights(int(fd)), nil)
		}); err != nil || sent != nil {
			return 0, errors.Join(err, sent)
		}
	}
	t.send(o)
	late := time.NewTimer(reactPatience)
	defer late.Stop()
	select {
	case a := <-t.turned:
		if a.Err != "" {
			return 0, errors.New(a.Err)
		}
		return a.ID, nil
	case <-t.gone:
		return 0, ErrEnded
	case <-late.C:
		return 0, errors.New("its watching process did not react")
	}
}

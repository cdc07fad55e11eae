package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// passageFD is where a helper finds its end of a [passage].
const passageFD = 4

// turn opens or ends what an order says.
func (r *confined) turn(o order) answer {
	if o.Open == nil {
		if err := r.shut(o.Shut); err != nil {
			return answer{Err: err.Error()}
		}
		return answer{ID: o.Shut}
	}
	shown, err := receiveFD(passageFD)
	if err != nil {
		return answer{Err: err.Error()}
	}
	defer unix.Close(shown)
	made := &opened{opening: *o.Open}
	if made.from, err = lookAt(r.old, rel(made.Path)); err == nil && !sameFile(made.from, shown) {
		err = errors.New("something else is there now")
	}
	if err == nil {
		err = r.reopen(made)
	}
	if err != nil {
		if made.from > 0 {
			unix.Close(made.from)
		}
		return answer{Err: err.Error()}
	}
	r.lastID++
	made.id = r.lastID
	r.openings = append(r.openings, made)
	return answer{ID: made.id}
}

// begin opens what the tree starts with, under the next number, if its path still shows that.
func (r *confined) begin(o Opening) error {
	r.lastID++
	made := &opened{opening: opening{Path: o.Path, Access: o.Access}, id: r.lastID}
	var st unix.Stat_t
	var err error
	if made.from, err = lookAt(r.old, rel(o.Path)); err != nil {
		return nil
	}
	if err = unix.Fstat(made.from, &st); err != nil || uint64(st.Dev) != o.Device ||
		st.Ino != o.Inode {
		unix.Close(made.from)
		return nil
	}
	if err = r.reopen(made); err != nil {
		unix.Close(made.from)
		return err
	}
	r.openings = append(r.openings, made)
	return nil
}

// reopen mounts an opening, over whatever is at its path.
func (r *confined) reopen(o *opened) error {
	folder, err := isFolder(o.from)
	if err != nil {
		return err
	}
	at, err := r.make(o.Path, folder)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	set := attrs(Place{Path: o.Path})
	if o.Access == Readable {
		set |= unix.MOUNT_ATTR_RDONLY
	}
	if err := r.mount(o.from, at, unix.AT_RECURSIVE, set); err != nil {
		return err
	}
	o.mount, err = lookAt(r.root, rel(o.Path))
	return err
}

// shut ends an opening. Those that were mounted on it or in it go with it and come back.
func (r *confined) shut(id int) error {
	i := slices.IndexFunc(r.openings, func(o *opened) bool { return o.id == id })
	if i < 0 {
		return nil
	}
	o := r.openings[i]
	r.openings = slices.Delete(r.openings, i, i+1)
	err := unix.Unmount("/proc/self/fd/"+strconv.Itoa(o.mount), unix.MNT_DETACH)
	unix.Close(o.mount)
	unix.Close(o.from)
	if errors.Is(err, unix.EINVAL) {
		err = nil // it was replaced outside, which had unmounted it
	}
	for _, other := range r.openings[i:] {
		if other.Path == o.Path || strings.HasPrefix(other.Path, o.Path+"/") {
			unix.Close(other.mount)
			err = errors.Join(err, r.reopen(other))
		}
	}
	return err
}

func sameFile(a, b int) bool {
	var x, y unix.Stat_t
	return unix.Fstat(a, &x) == nil && unix.Fstat(b, &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
}

func receiveFD(socket int) (int, error) {
	b, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socket, b, oob, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	if err != nil {
		return -1, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) == 0 {
		return -1, errors.Join(errors.New("no descriptor came"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return -1, err
	}
	return fds[0], nil
}

// listen makes the listeners of the tree and hands them out, all in one message.
func (r *confined) listen() error {
	var fds []int
	for _, port := range r.spec.Ports {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{Port: port})
		if err != nil {
			return fmt.Errorf("listen inside: %w", err)
		}
		defer l.Close()
		f, err := l.File()
		if err != nil {
			return fmt.Errorf("listen inside: %w", err)
		}
		defer f.Close()
		fds = append(fds, int(f.Fd()))
	}
	if len(fds) == 0 {
		return nil
	}
	if err := unix.Sendmsg(passageFD, []byte{1}, unix.UnixRights(fds...), nil, 0); err != nil {
		return fmt.Errorf("hand out what listens inside: %w", err)
	}
	return nil
}

func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
}

// coverAgain covers and freezes files again that a process outside replaced, which takes
// the mounts on them away.
func (r *confined) coverAgain() {
	held := map[string]map[string]Place{} // by folder and name
	for _, p := range r.spec.Places {
		if p.Access == Covered || p.Access == Frozen {
			dir, name := path.Split(p.Path)
			if held[dir] == nil {
				held[dir] = map[string]Place{}
			}
			held[dir][name] = p
		}
	}
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil || len(held) == 0 {
		return
	}
	folders := map[int32]map[string]Place{}
	for dir, names := range held {
		fd, err := lookAt(r.root, rel(path.Clean(dir)))
		if err != nil {
			continue
		}
		n, err := unix.InotifyAddWatch(watch, "/proc/self/fd/"+strconv.Itoa(fd),
			unix.IN_MOVED_TO|unix.IN_CREATE)
		unix.Close(fd)
		if err == nil {
			folders[int32(n)] = names
		}
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(watch, buf)
		if err != nil && err != unix.EINTR {
			return
		}
		for b := buf[:max(n, 0)]; len(b) >= unix.SizeofInotifyEvent; {
			size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
			name := strings.TrimRight(string(b[unix.SizeofInotifyEvent:size]), "\x00")
			if p, ok := folders[int32(binary.NativeEndian.Uint32(b))][name]; ok {
				_ = r.hold(p) // it may have been removed again, or become a link, which leads nowhere
			}
			b = b[size:]
		}
	}
}

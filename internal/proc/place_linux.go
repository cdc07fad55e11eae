package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// place gives the tree p.
func (r *confined) place(p Place) error {
	if p.Access >= Pinned {
		return r.hold(p)
	}
	from, err := lookAt(r.old, rel(cmp.Or(p.From, p.Path)))
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(from)
	folder, err := isFolder(from)
	if err != nil {
		return err
	}
	at, err := r.make(p.Path, folder)
	if missing(err) { // what holds it does not show it
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(at)
	switch {
	case p.Access == Layered && folder:
		err = r.layOver(from, at, p.Path)
	case p.Access == Writable:
		err = r.mount(from, at, unix.AT_RECURSIVE, attrs(p))
	default:
		err = r.mount(from, at, unix.AT_RECURSIVE, attrs(p)|unix.MOUNT_ATTR_RDONLY)
	}
	if err == nil {
		r.places = append(r.places, p)
	}
	return err
}

// attrs are what every mount of the tree is without. Devices are in /dev only.
func attrs(p Place) uint64 {
	if strings.HasPrefix(p.Path, "/dev/") {
		return unix.MOUNT_ATTR_NOSUID
	}
	return unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
}

// hold pins, freezes or covers something in what the tree was given.
func (r *confined) hold(p Place) error {
	at, err := lookAt(r.root, rel(p.Path))
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(at)
	switch p.Access {
	case Pinned:
		err = r.mount(at, at, unix.AT_RECURSIVE, 0)
	case Frozen:
		err = r.mount(at, at, unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY)
	default:
		var folder bool
		if folder, err = isFolder(at); err != nil {
			return err
		}
		none := r.none[0]
		if folder {
			none = r.none[1]
		}
		err = r.mount(none, at, 0, unix.MOUNT_ATTR_RDONLY)
	}
	return err
}

// mount shows what from is at the place that at is.
func (r *confined) mount(from, at, recursive int, set uint64) error {
	tree, err := unix.OpenTree(from, "", cloned|uint(recursive))
	if err != nil {
		return fmt.Errorf("copy its mount: %w", err)
	}
	defer unix.Close(tree)
	if set != 0 {
		if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|uint(recursive),
			&unix.MountAttr{Attr_set: set}); err != nil {
			return fmt.Errorf("restrict its mount: %w", err)
		}
	}
	if err := unix.MoveMount(tree, "", at, "", emptyPath); err != nil {
		return fmt.Errorf("mount it: %w", err)
	}
	return nil
}

// layOver mounts a folder whose writes are kept in the private folder; an empty one where
// the file system of that, or the kernel, cannot do it.
func (r *confined) layOver(from, at int, p string) error {
	layer := filepath.Join(r.spec.Private, "layers",
		strings.NewReplacer("%", "%25", "/", "%2f").Replace(p))
	up, work := layer+"/up", layer+"/work"
	if err := errors.Join(os.MkdirAll(up, 0o700), os.MkdirAll(work, 0o700)); err != nil {
		return err
	}
	data := fmt.Sprintf("lowerdir=/proc/self/fd/%d,upperdir=%s,workdir=%s,userxattr", from,
		escaped(up), escaped(work))
	if unix.Mount("overlay", "/proc/self/fd/"+strconv.Itoa(at), "overlay",
		unix.MS_NOSUID|unix.MS_NODEV, data) == nil {
		return nil
	}
	empty, err := unix.Open(up, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(empty)
	return r.mount(empty, at, 0, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}

// escaped writes a path as an option of an overlay.
func escaped(p string) string {
	return strings.NewReplacer(`\`, `\\`, `,`, `\,`, `:`, `\:`).Replace(p)
}

// make opens a path of the new root, and makes it where the tree's own folders hold it. It
// never makes anything in what was given.
func (r *confined) make(p string, folder bool) (int, error) {
	fd, err := lookAt(r.root, rel(p))
	if !errors.Is(err, fs.ErrNotExist) {
		return fd, err
	}
	dir, err := lookAt(r.root, ".")
	if err != nil {
		return -1, err
	}
	parts := strings.Split(rel(p), "/")
	for i, name := range parts {
		next, err := lookAt(dir, name)
		if errors.Is(err, fs.ErrNotExist) && r.isOwn(path.Join("/", path.Join(parts[:i]...))) {
			err = r.makeOne(dir, name, path.Join(parts[:i+1]...), folder || i < len(parts)-1)
			if err == nil {
				next, err = lookAt(dir, name)
			}
		}
		unix.Close(dir)
		if err != nil {
			return -1, err
		}
		dir = next
	}
	return dir, nil
}

func (r *confined) makeOne(dir int, name, whole string, folder bool) error {
	for _, at := range []struct {
		dir  int
		name string
	}{{dir, name}, {r.bare, whole}} {
		var err error
		if folder {
			err = unix.Mkdirat(at.dir, at.name, 0o755)
		} else {
			err = makeFile(at.dir, at.name)
		}
		if err != unix.EROFS || r.bare == 0 {
			return err
		}
	}
	return unix.EROFS
}

func makeFile(dir int, name string) error {
	fd, err := unix.Openat(dir, name,
		unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// isOwn reports whether a folder of the new root is the tree's own, and nothing that was
// given.
func (r *confined) isOwn(dir string) bool {
	for _, p := range slices.Backward(r.places) { // the longest first
		if p.Path == dir || strings.HasPrefix(dir, strings.TrimSuffix(p.Path, "/")+"/") {
			return p == r.ownTmp()
		}
	}
	return true
}

// link makes a link in the new root; what was given has its own.
func (r *confined) link(at, to string) error {
	dir, err := r.make(path.Dir(at), true)
	if missing(err) || err == nil && !r.isOwn(path.Dir(at)) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if err := unix.Symlinkat(to, dir, path.Base(at)); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func isFolder(fd int) (bool, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return st.Mode&unix.S_IFMT == unix.S_IFDIR, err
}

// missing reports whether there is nothing to be given.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, unix.ENOTDIR)
}

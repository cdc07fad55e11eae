package proc

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// confined is the root that a helper makes for its tree, seen by the helper.
type confined struct {
	spec   *Confinement
	old    int     // the root of the machine, which stays mounted where no path leads
	root   int     // the tree's root
	bare   int     // the file system of that root alone, writable, where places are made
	none   [2]int  // a file and a folder that cannot be opened
	places []Place // what was given, by path; what is missing outside is not among it

	openings []*opened
	lastID   int
}

// opening is the order to open a path; its descriptor comes beside it.
type opening struct {
	Path   string
	Access Access
}

type opened struct {
	opening
	id, from, mount int
}

// answer is what became of an order about a confined tree.
type answer struct {
	ID  int
	Err string
}

const (
	heldDir   = "/.held" // where the machine's root is mounted
	emptyPath = unix.MOVE_MOUNT_F_EMPTY_PATH | unix.MOVE_MOUNT_T_EMPTY_PATH
	cloned    = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_EMPTY_PATH
)

// takeUser gives this process, in a user namespace of its own, the user and group it
// had outside, and no other.
func takeUser(uid, gid string) error {
	for _, m := range [][2]string{{"setgroups", "deny"}, {"gid_map", gid + " " + gid + " 1"},
		{"uid_map", uid + " " + uid + " 1"}} {
		if err := os.WriteFile("/proc/self/"+m[0], []byte(m[1]), 0); err != nil {
			return fmt.Errorf("be its user in namespaces of its own: %w", err)
		}
	}
	return nil
}

// enter makes the root that c describes, and moves this process there.
func enter(c *Confinement) (*confined, error) {
	r := &confined{spec: c}
	if err := r.build(); err != nil {
		return nil, err
	}
	for _, o := range c.Openings {
		if err := r.begin(o); err != nil {
			return nil, fmt.Errorf("open %s: %w", o.Path, err)
		}
	}
	if err := loopback(); err != nil {
		return nil, fmt.Errorf("set up its loopback: %w", err)
	}
	if err := r.listen(); err != nil {
		return nil, err
	}
	go r.coverAgain()
	return r, nil
}

func (r *confined) build() (err error) {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("part from the machine's mounts: %w", err)
	}
	if r.old, err = unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("hold the machine's root: %w", err)
	}
	at := filepath.Join(r.spec.Private, "root")
	if err := mountFresh("tmpfs", at, unix.MS_NODEV, "size=16m,mode=755"); err != nil {
		return fmt.Errorf("make a root: %w", err)
	}
	if r.root, err = unix.Open(at, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("make a root: %w", err)
	}
	if err := r.makeNone(at + heldDir); err != nil {
		return err
	}
	all := slices.Concat(r.spec.Places, r.system())
	slices.SortStableFunc(all, func(a, b Place) int { return cmp.Compare(a.Path, b.Path) })
	for _, p := range all {
		if err := r.place(p); err != nil {
			return fmt.Errorf("place %s: %w", p.Path, err)
		}
	}
	if err := r.devices(at); err != nil {
		return err
	}
	for _, link := range slices.Sorted(maps.Keys(r.spec.Links)) {
		if err := r.link(link, r.spec.Links[link]); err != nil {
			return fmt.Errorf("link %s: %w", link, err)
		}
	}
	return r.move(at)
}

// mountFresh mounts an empty file system at a path, which it makes.
func mountFresh(kind, at string, flags uintptr, options string) error {
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	return unix.Mount(kind, at, kind, unix.MS_NOSUID|flags, options)
}

// makeNone makes what lies over covered places.
func (r *confined) makeNone(dir string) error {
	file, folder := dir+"/file", dir+"/folder"
	err := errors.Join(os.MkdirAll(dir+"/old", 0o700), os.WriteFile(file, nil, 0), os.Mkdir(folder, 0))
	for i, name := range []string{file, folder} {
		if err == nil {
			r.none[i], err = unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
		}
	}
	if err != nil {
		return fmt.Errorf("make a cover: %w", err)
	}
	return nil
}

// ownTmp reports whether a folder of the new root is the tree's own, so that places are
// made in it.
func (r *confined) ownTmp() Place {
	return Place{Path: "/tmp", From: filepath.Join(r.spec.Private, "tmp"), Access: Writable}
}

// system lists what every tree has.
func (r *confined) system() []Place {
	tmp := r.ownTmp()
	_ = os.Mkdir(tmp.From, 0o700) // what fails here fails when it is placed
	_ = os.Chmod(tmp.From, 0o1777)
	all := []Place{tmp, {Path: "/proc"}}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		all = append(all, Place{Path: "/dev/" + name, Access: Writable})
	}
	return all
}

func (r *confined) devices(at string) error {
	if err := mountFresh("tmpfs", at+"/dev/shm", unix.MS_NODEV, "mode=1777"); err != nil {
		return fmt.Errorf("place /dev/shm: %w", err)
	}
	if err := mountFresh("devpts", at+"/dev/pts", unix.MS_NOEXEC,
		"newinstance,ptmxmode=0666,mode=620"); err != nil {
		return fmt.Errorf("place /dev/pts: %w", err)
	}
	for name, to := range map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd",
		"stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(to, at+"/dev/"+name); err != nil {
			return fmt.Errorf("place /dev/%s: %w", name, err)
		}
	}
	return nil
}

// move makes the new root that of this process, with the old one where no path leads:
// below a folder that is covered, and that could not be entered without the cover.
func (r *confined) move(at string) (err error) {
	if r.bare, err = unix.OpenTree(r.root, "", cloned); err == nil {
		err = unix.PivotRoot(at, at+heldDir+"/old")
	}
	if err == nil {
		err = os.Chdir("/")
	}
	if err == nil {
		err = os.Chmod(heldDir, 0)
	}
	held := -1
	if err == nil {
		held, err = lookAt(r.root, rel(heldDir))
	}
	if err == nil {
		err = r.mount(r.none[1], held, 0, unix.MOUNT_ATTR_RDONLY)
	}
	if err == nil {
		err = unix.MountSetattr(r.root, "", unix.AT_EMPTY_PATH,
			&unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	}
	if err != nil {
		return fmt.Errorf("move to the new root: %w", err)
	}
	return nil
}

// rel is a path relative to the root it belongs to.
func rel(p string) string { return cmp.Or(strings.TrimPrefix(p, "/"), ".") }

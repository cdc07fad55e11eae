package proc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
)

// A Confinement is what the tree of a [Command] may touch. It is decided before the
// command starts and held by the kernel, for all that the command starts, until the
// tree has ended. [Confines] reports whether this system can.
//
// # What is there
//
// The tree has a root of its own that holds [Confinement.Places] and
// [Confinement.Links], and beside them:
//
//   - /tmp and /dev/shm, private and writable; a TMPDIR is the caller's to set;
//   - /dev with null, zero, full, random, urandom and tty, and terminals of its own;
//   - /proc, read-only. It shows the processes of the machine and their arguments;
//     their memory, environment, files and folders are closed.
//
// Nothing else exists there: it cannot be listed, opened, or made. Of two places the
// longer path decides. A place is never made: where nothing is at its path outside
// there is nothing inside, and where a path has become a link the start fails.
//
// # What is held beside files
//
// The tree has a network of its own in which only its loopback works, and in which the
// caller listens at [Confinement.Ports]. It shares no memory, queues or abstract
// sockets with others. It has no capabilities, as root too, gets none by a set-uid
// program, and makes no namespaces of its own. io_uring, keyrings, bpf, vsock and the
// like are refused, and so is typing into a terminal. It can signal and trace its own
// processes and no other, its helper included; before Linux 6.12 it can signal all
// processes of its user ([HoldsSignals]).
//
// # What is not held
//
// A file that is covered or frozen and is replaced by a process outside (saved anew, as
// editors do) is covered again at once, but a process that waits for that moment can be
// faster. Folders, and what is frozen or covered and only written to, do not have that.
// A process of the same user that is not confined can be asked by a file in a writable
// place. Memory, processor and disk are not limited.
//
// # All or nothing
//
// What cannot be set up fails the start, with an error that names it. Nothing runs less
// confined than asked, except that a layer that the file system cannot carry is an
// empty folder ([Layered]).
type Confinement struct {
	// Private is a folder of the caller's in which the tree's /tmp and the writes over
	// layers are kept. It must exist, belong to one tree at a time, and is the caller's
	// to remove after Stop.
	Private string
	Places  []Place
	// Openings are opened in the tree before its command starts, each over whatever is frozen or
	// covered at its path. One whose path shows another file by then, or leads by a link, is left out.
	Openings []Opening
	// Links are made in the new root: from an absolute path to what the link says.
	Links map[string]string
	// Ports are TCP ports at which the caller listens inside, at all addresses of the
	// tree's loopback; see [Child.Listeners].
	Ports []int
	// Started is called once the command runs, before [Start] returns; nil: nothing is.
	Started func(*Child)
	// Ended is called once, when nothing of the tree is left, before Stop returns, or when
	// the start has failed.
	Ended func()

	only bool // nothing is started: the confinement itself is tried
}

// Opening is a file or folder that a tree starts with as [Child.Open] gives it to one that runs.
type Opening struct {
	Path          string
	Access        Access // Readable or Writable
	Device, Inode uint64 // of what was shown
}

// ErrEnded is wrapped by [Child.Open] for a tree that has ended.
var ErrEnded = errors.New("its processes have ended")

// Place is a file or folder of the new root.
type Place struct {
	// Path is where it is inside: absolute, clean, and without links.
	Path string
	// From is what is shown there, likewise a path outside; empty means Path.
	// Pinned, Frozen and Covered places have none.
	From   string
	Access Access
}

// Access is what the tree may do with a place and what is below it.
type Access int

const (
	// Readable is read and run.
	Readable Access = iota
	// Writable is read, run and written to.
	Writable
	// Layered is a folder that is read and written to, whose writes go to
	// [Confinement.Private] and are seen by this tree only.
	Layered
	// Pinned is a folder in a writable place that stays where it is: writable, but not
	// renamed or removed itself. Without it what is frozen below would move away with it.
	Pinned
	// Frozen is something in a writable place that is read, and not changed, replaced
	// or removed.
	Frozen
	// Covered is something that is seen and cannot be opened, replaced or removed.
	Covered
)

// check reports what of a confinement cannot be meant.
func (c *Confinement) check() error {
	if runtime.GOOS != "linux" {
		return errors.New("nothing can be confined on " + runtime.GOOS)
	}
	if !filepath.IsAbs(c.Private) {
		return errors.New("its private folder has no absolute path")
	}
	for _, p := range c.Places {
		if !isClean(p.Path) || p.From != "" && !isClean(p.From) {
			return fmt.Errorf("the place %q is not an absolute and clean path", p.Path+p.From)
		}
		switch p.Access {
		case Readable, Writable, Layered:
		case Pinned, Frozen, Covered:
			if p.From != "" {
				return fmt.Errorf("the place %s is held in another one and shows nothing else", p.Path)
			}
		default:
			return fmt.Errorf("the place %s has no access that exists: %d", p.Path, p.Access)
		}
	}
	for _, o := range c.Openings {
		if !isClean(o.Path) || o.Access > Writable {
			return fmt.Errorf(
				"%s cannot be opened: its path is not absolute and clean, or it is not to be read or written",
				o.Path)
		}
	}
	for at := range c.Links {
		if !isClean(at) {
			return fmt.Errorf("the link %q is not at an absolute and clean path", at)
		}
	}
	return nil
}

func (c *Confinement) end() {
	if c.Ended != nil {
		c.Ended()
	}
}

func isClean(p string) bool { return filepath.IsAbs(p) && filepath.Clean(p) == p }

// Listeners are those inside a confined tree, in the order of [Confinement.Ports]. They
// are the caller's to close. They accept in this process and carry nothing by themselves.
func (c *Child) Listeners() []net.Listener { return c.listeners }

// Open gives a confined tree that runs a file or folder: what [Hold] returned, at its own
// path, Readable or Writable, whatever was frozen or covered there. It takes effect at
// once, for what the tree opens from then on. If something else is at the path now, or a
// folder above it has become a link, nothing is opened. The caller still has to close held.
//
// The function it returns ends it: the tree has again what it had. What was opened
// meanwhile stays open. It may be called after the tree's end.
func (c *Child) Open(held *os.File, access Access) (end func() error, err error) {
	return c.tree.open(held, access)
}

// Shut ends one of [Confinement].Openings, as the function that [Child.Open] returns does.
func (c *Child) Shut(opening int) error { return c.tree.shut(opening + 1) }

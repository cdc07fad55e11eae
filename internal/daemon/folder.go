package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"webchat/internal/document"
)

// Folder is a data folder that this process has locked.
type Folder struct {
	path   string
	folder fs.FileInfo

	mu    sync.Mutex  // guards what follows
	lock  *os.File    // its file
	is    fs.FileInfo // of lock
	taken bool        // another server has the folder
}

// Info is server.json: how to find the running server.
type Info struct {
	URL string `json:"url"`
	PID int    `json:"pid"`
}

// MakeFolder makes the folder, for its owner only, and refuses one that others can
// change.
func MakeFolder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil && !isLink(path) {
		return fmt.Errorf("the data folder %s cannot be made: %w; choose another with --data-dir", path,
			Plain(err))
	}
	return checkFolder(path)
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// Open makes the folder and locks it: two servers on one log would each believe to
// be alone.
func Open(path string) (*Folder, error) {
	if err := MakeFolder(path); err != nil {
		return nil, err
	}
	f, err := document.Lock(filepath.Join(path, "lock"))
	if errors.Is(err, document.ErrLocked) {
		return nil, inUse(path)
	}
	if err != nil {
		return nil, fmt.Errorf("the data folder %s cannot be written: %w; choose another with --data-dir",
			path, Plain(err))
	}
	d := &Folder{path: path, lock: f}
	d.folder, err = os.Stat(path)
	if err == nil {
		d.is, err = f.Stat()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the data folder %s cannot be read: %w", path, Plain(err)),
			f.Close())
	}
	// what is there can be read
	if err := d.Announce(Info{PID: os.Getpid()}); err != nil && !errors.Is(err, ErrNotKept) {
		return nil,
			errors.Join(
				fmt.Errorf("the data folder %s cannot be written: %w; choose another with --data-dir", path,
					Plain(err)), f.Close())
	}
	return d, nil
}

// isLocked reports whether a server has the data folder.
func isLocked(path string) (held bool, err error) {
	name := filepath.Join(path, "lock")
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	f, err := document.Lock(name)
	if err == nil {
		return false, f.Close() // which releases it
	}
	if held = errors.Is(err, document.ErrLocked); held {
		err = nil
	}
	return held, err
}

// ErrInUse is wrapped by [Open] for a folder that a server runs with.
var ErrInUse = errors.New("is in use")

func inUse(path string) error {
	who := "another webchat"
	if info, err := Read(path); err == nil && info.PID != 0 {
		who = fmt.Sprintf("webchat with pid %d", info.PID)
	}
	return fmt.Errorf(
		"the data folder %s %w by %s: \"webchat url\" prints a link to it; or choose another with "+
			"--data-dir", path, ErrInUse, who)
}

// Read returns what server.json of a data folder says. Without a server there is
// none, or one without a URL while it starts.
func Read(path string) (info Info, err error) {
	b, err := os.ReadFile(filepath.Join(path, "server.json"))
	if err != nil {
		return info, err
	}
	return info, json.Unmarshal(b, &info)
}

// ErrNotKept says that the disk is full or can only be read.
var ErrNotKept = errors.New("the disk takes nothing")

// Announce writes server.json. Its error is [ErrNotKept] if the disk takes nothing.
func (d *Folder) Announce(info Info) error {
	b, err := json.Marshal(info)
	if err != nil {
		return err
	}
	err = document.Note(filepath.Join(d.path, "server.json"), append(b, '\n'))
	if takesNothing(err) {
		return fmt.Errorf("%w: %w", ErrNotKept, Plain(err))
	}
	return err
}

// Close leaves nothing behind that says a server runs, unless another one does.
func (d *Folder) Close() error {
	if errors.Is(d.Held(), ErrTaken) {
		return d.lock.Close()
	}
	return errors.Join(remove(filepath.Join(d.path, "server.json")), d.lock.Close())
}

// takesNothing reports whether err is of a disk that is full or can only be read.
func takesNothing(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS)
}

// remove removes a file of this server. One that is not there, or stays because the
// disk can only be read, is not an error.
func remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) &&
		!errors.Is(err, syscall.EROFS) {
		return err
	}
	return nil
}

package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"webchat/internal/document"
)

// ErrTaken: another server has the folder; this one has to end. It stays so.
var ErrTaken error = &lost{"another webchat has the data folder",
	"Use that one: \"webchat url\" prints a link to it"}

var (
	errRemoved error = &lost{"the data folder was removed",
		"Put it back, or restart webchat to begin a new one"}
	errReplaced error = &lost{"the data folder was replaced by another",
		"Put the old one back, or restart webchat to go on with the new one"}
)

// lost says why the folder is not this server's, and to a user what to do.
type lost struct{ text, advice string }

func (l *lost) Error() string  { return l.text }
func (l *lost) Advice() string { return l.advice }
func (l *lost) Lasting() bool  { return l == ErrTaken }

// Held returns an error while the folder does not belong to this process: then another
// server could have it, and nothing may be written there. A lock that was removed or
// replaced is taken anew if no other server has it. It may be called concurrently.
func (d *Folder) Held() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.taken {
		return ErrTaken
	}
	name := filepath.Join(d.path, "lock")
	now, err := os.Stat(name)
	if err == nil && os.SameFile(now, d.is) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		switch folder, err := os.Stat(d.path); {
		case errors.Is(err, fs.ErrNotExist):
			return errRemoved
		case err == nil && !os.SameFile(folder, d.folder):
			return errReplaced // which is not ours to lock
		}
	}
	return d.lockAgain(name)
}

func (d *Folder) lockAgain(name string) error {
	f, err := document.Lock(name)
	if errors.Is(err, document.ErrLocked) {
		d.taken = true
		return ErrTaken
	}
	if err != nil {
		return err
	}
	is, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	old := d.lock
	d.lock, d.is = f, is
	return old.Close()
}

// Package document keeps small texts that are read whole and replaced whole, by compare-and-set.
//
// # Guarantees
//
// A reader, and a start after a crash, finds the text before a change or after it, never a part. Of
// two that change it at once, in one program or in two, one does its change on what the other
// wrote. A new file may be read by its owner only, from its first byte on. A text that cannot be
// understood is copied before it is replaced.
//
// # Concurrency
//
// Everything may be used from any goroutine, and a folder by several programs.
package document

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrChanged is wrapped by Replace if the text has changed since it was read.
var ErrChanged = errors.New("it was changed meanwhile")

// Store has texts by name. Package documenttest is what each owes.
type Store interface {
	// Read returns a text and its version, which is empty if there is no such text.
	Read(name string) (text []byte, version string, err error)
	// Replace replaces a text that has this version, and returns the version of the new one. After
	// an error nothing has changed; it wraps [ErrChanged] if there is another version.
	Replace(name, version string, text []byte) (now string, err error)
}

// Folder is a folder that exists, whose files are texts. A file that is a link is replaced where it
// leads.
type Folder string

const maxText = 16 << 20 // bytes

// Read implements [Store].
func (d Folder) Read(name string) (text []byte, version string, err error) {
	f, err := os.Open(filepath.Join(string(d), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	text, err = io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(text) > maxText {
		err = fmt.Errorf("%s has more than 16 MiB", f.Name())
	}
	return text, versionOf(text), errors.Join(err, f.Close())
}

func versionOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Replace implements [Store].
func (d Folder) Replace(name, version string, text []byte) (now string, err error) {
	path := filepath.Join(string(d), name)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir, file := filepath.Split(path)
	lock, err := Lock(filepath.Join(dir, "documents.lock"))
	for n := 0; errors.Is(err, ErrLocked) && n < 2500; n++ { // 5 s: another program changes one
		time.Sleep(2 * time.Millisecond)
		lock, err = Lock(filepath.Join(dir, "documents.lock"))
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be changed: %w", path, err)
	}
	_, is, err := Folder(dir).Read(file)
	if err == nil && is != version {
		err = fmt.Errorf("%s: %w", path, ErrChanged)
	}
	if err == nil {
		left, _ := filepath.Glob(path + ".*.tmp") // of programs that were killed; there may be none
		for _, name := range left {
			_ = os.Remove(name) // else the next change tries
		}
		err = Write(path, text)
	}
	return versionOf(text), errors.Join(err, lock.Close())
}

// ErrLocked is wrapped by [Lock] for a file that is locked.
var ErrLocked = errors.New("another program has it")

// Lock opens a file, which is made if it is not there, and locks it for as long as it is open: the
// system lets go when the process ends, however it does.
func Lock(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, syscall.EROFS) {
		f, err = os.Open(name)
	}
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), f.Close())
	}
	return f, nil
}

// Write replaces a file, whose folder has to exist. After an error the file is as it was.
func Write(name string, body []byte) error { return write(name, body, true) }

// Note is [Write] of what holds only while this program runs, and is not synced: after a loss of
// power the file may be empty.
func Note(name string, body []byte) error {
	return write(name, body, false)
}

func write(name string, body []byte, synced bool) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err == nil && synced {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"webchat/internal/eventlog"
)

// What callers may ask errors.Is about, beside eventlog.ErrNotFound and eventlog.ErrInvalid.
var (
	// ErrCorrupt: the file is damaged or no webchat database.
	ErrCorrupt error = &refusal{text: "the database file is damaged",
		advice: "Stop webchat and move the file away, or restore a copy"}
	// ErrVersion: the file was written by a newer webchat, or by one before the first release.
	ErrVersion = errors.New("the database file is of another version of webchat")
	// ErrLocked: another program holds the file.
	ErrLocked error = &refusal{text: "the database file is in use by another program",
		advice: "Stop the other program"}
	// ErrFull: there is no space left to write.
	ErrFull error = &refusal{text: "the disk is full", advice: "Free some space"}
	// ErrDisk: the disk failed to read or write.
	ErrDisk error = &refusal{
		text:   "the disk fails",
		advice: "Check the disk, and that it has space left",
	}
	// ErrGone: the file, or one SQLite keeps beside it, was removed while it was open.
	ErrGone error = &refusal{text: "the database file was removed",
		advice: "Put it back, or restart webchat to begin a new one"}
	// ErrReplaced: another file is in its place, or in that of its journal.
	ErrReplaced error = &refusal{text: "the database file was replaced by another",
		advice: "Put the old one back, or restart webchat to go on with the new one"}
	// ErrOverwritten: another program wrote into the file, or into its journal, while it was open. It
	// stays so.
	ErrOverwritten error = &refusal{text: "the database file was changed by another program",
		advice: "Restart webchat to go on with what is there now", lasting: true}
	// ErrReadOnly: the file or its folder cannot be written.
	ErrReadOnly error = &refusal{text: "the database file cannot be written",
		advice: "Check who owns the file and its folder"}
	// errReadOnlyDisk is the case of [ErrReadOnly] that is the disk's.
	errReadOnlyDisk error = &refusal{text: "the disk can only be read", kind: ErrReadOnly,
		advice: "Look in the system's log for why, and mount the disk for writing again"}
	// ErrSequence: the entries do not go on from the last one.
	ErrSequence = errors.New("not the next sequence")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("the store is closed")
)

// refusal is a kind of error of the disk, or a case of one; it implements [sessions.Refusal].
type refusal struct {
	text, advice string
	lasting      bool
	kind         error // what it is a case of
}

// caseOf is a kind of error with a text of its own.
func caseOf(kind error, text string) error {
	r := *kind.(*refusal)
	r.text, r.kind = text, kind
	return &r
}

// replaced is [ErrReplaced] that names the file.
func replaced(path string) error {
	return caseOf(ErrReplaced, filepath.Base(path)+" was replaced by another file")
}

// overwritten is [ErrOverwritten] that names the file.
func overwritten(path string) error {
	return caseOf(ErrOverwritten, filepath.Base(path)+" was changed by another program")
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.kind }

// Advice implements [sessions.Refusal].
func (r *refusal) Advice() string { return r.advice }

// Lasting implements [sessions.Refusal].
func (r *refusal) Lasting() bool { return r.lasting }

// away is the refusal of a database that does not answer.
type away struct{ refusal }

func (*away) Unwrap() error { return eventlog.ErrAway }

// kinds are the errors of this package for the primary result codes of SQLite.
var kinds = map[int]error{
	lib.SQLITE_CORRUPT: ErrCorrupt, lib.SQLITE_NOTADB: ErrCorrupt, lib.SQLITE_FORMAT: ErrCorrupt,
	lib.SQLITE_BUSY: ErrLocked, lib.SQLITE_LOCKED: ErrLocked, lib.SQLITE_PROTOCOL: ErrLocked,
	lib.SQLITE_READONLY: ErrReadOnly, lib.SQLITE_PERM: ErrReadOnly, lib.SQLITE_AUTH: ErrReadOnly,
	lib.SQLITE_CANTOPEN: ErrReadOnly,
	lib.SQLITE_FULL:     ErrFull, lib.SQLITE_IOERR: ErrDisk, lib.SQLITE_CONSTRAINT: ErrSequence,
	lib.SQLITE_INTERRUPT: context.Canceled,
}

// translated turns an error of the driver into one of this package, keeping its text.
func translated(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	// database/sql has no variable for the second.
	if errors.Is(err, sql.ErrConnDone) || err.Error() == "sql: database is closed" {
		return ErrClosed
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	kind := kinds[e.Code()&0xff]
	switch {
	case e.Code() == lib.SQLITE_IOERR_SHMSIZE: // the shared memory of readers is a file, too
		kind = ErrFull
	case kind == nil:
		return fmt.Errorf("the database failed: %v", err)
	}
	return fmt.Errorf("%w: %v", kind, err)
}

// ofDisk sorts an error of the file at path: a disk that can only be read is for SQLite a
// disk that fails, or a file that may not be written. What is tried is the file beside it: to close
// the file itself would end SQLite's locks.
func ofDisk(path string, err error) error {
	if !errors.Is(err, ErrDisk) && !errors.Is(err, ErrReadOnly) || errors.Is(err, errReadOnlyDisk) {
		return err
	}
	f, tried := os.OpenFile(path+lastName, os.O_WRONLY|os.O_CREATE, 0o600)
	if tried == nil {
		_ = f.Close() // nothing was written
	}
	if errors.Is(tried, syscall.EROFS) {
		return fmt.Errorf("%w: %v", errReadOnlyDisk, err)
	}
	return err
}

// damaged is what err means when a statement of ours does not fit a file of our version: its schema
// is not what it was.
func damaged(err error) error {
	for _, kind := range kinds {
		if errors.Is(err, kind) && kind != ErrSequence {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// fileError is ours for errors of the file system.
func fileError(err error) error {
	if errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: %w", errReadOnlyDisk, err)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w (check who owns the file and its folder): %w", ErrReadOnly, err)
	}
	return err
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// refusal is a kind of error of the disk; it implements [session.Refusal].
type refusal struct{ text, advice string }

func (r *refusal) Error() string { return r.text }

// Advice implements [session.Refusal].
func (r *refusal) Advice() string { return r.advice }

// ours turns an error of the driver into one of this package, keeping its text.
func ours(err error) error {
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
	if e.Code() == lib.SQLITE_IOERR_SHMSIZE { // the shared memory of readers is a file, too
		return fmt.Errorf("%w: %v", ErrFull, err)
	}
	var kind error
	switch e.Code() & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB, lib.SQLITE_FORMAT:
		kind = ErrCorrupt
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		kind = ErrLocked
	case lib.SQLITE_FULL:
		kind = ErrFull
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_AUTH, lib.SQLITE_CANTOPEN:
		kind = ErrReadOnly
	case lib.SQLITE_IOERR:
		kind = ErrDisk
	case lib.SQLITE_INTERRUPT:
		return context.Canceled
	case lib.SQLITE_CONSTRAINT:
		return fmt.Errorf("%w: %v", ErrSequence, err)
	default:
		return fmt.Errorf("the database failed: %v", err)
	}
	return fmt.Errorf("%w: %v", kind, err)
}

// damaged is what err means when a statement of ours does not fit a file of our
// version: its schema is not what it was.
func damaged(err error) error {
	for _, kind := range []error{ErrLocked, ErrFull, ErrReadOnly, ErrDisk, ErrGone, ErrReplaced, ErrCorrupt} {
		if errors.Is(err, kind) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// fileError is ours for errors of the file system.
func fileError(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w (check who owns the file and its folder): %w", ErrReadOnly, err)
	}
	return err
}

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
	kind, hint := error(nil), ""
	if e.Code() == lib.SQLITE_IOERR_SHMSIZE { // the shared memory of readers is a file, too
		return fmt.Errorf("%w (free some space): %v", ErrFull, err)
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB, lib.SQLITE_FORMAT:
		kind, hint = ErrCorrupt, "move it away to start anew, or restore a copy"
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		kind, hint = ErrLocked, "stop the other program"
	case lib.SQLITE_FULL:
		kind, hint = ErrFull, "free some space"
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_AUTH, lib.SQLITE_CANTOPEN:
		kind, hint = ErrReadOnly, "check who owns the file and its folder"
	case lib.SQLITE_INTERRUPT:
		return context.Canceled
	case lib.SQLITE_CONSTRAINT:
		return fmt.Errorf("%w: %v", ErrSequence, err)
	default:
		return fmt.Errorf("the database failed: %v", err)
	}
	return fmt.Errorf("%w (%s): %v", kind, hint, err)
}

// damaged is what err means when a statement of ours does not fit a file of our
// version: its schema is not what it was.
func damaged(err error) error {
	for _, kind := range []error{ErrLocked, ErrFull, ErrReadOnly, ErrCorrupt} {
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

package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Size is how many bytes the file and what SQLite keeps beside it take.
func (db *DB) Size() (int64, error) {
	var sum int64
	for _, name := range []string{db.path, db.path + "-wal"} {
		fi, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, fileError(err)
		}
		sum += fi.Size()
	}
	return sum, nil
}

// vacuumStep is how many pages (4 KiB each) are given back under one hold of the
// file, so that who writes meanwhile waits some milliseconds only.
const vacuumStep = 500

// Vacuum gives the room of what was deleted back to the disk, in steps beside
// everything else.
func (db *DB) Vacuum(ctx context.Context) error {
	err := db.vacuum(ctx)
	if err == nil {
		err = db.Scrub(ctx)
	}
	if err != nil {
		return fmt.Errorf("vacuum %s: %w", db.path, err)
	}
	return nil
}

func (db *DB) vacuum(ctx context.Context) error {
	for before := 0; ; {
		var free int
		err := db.read.QueryRowContext(ctx, `PRAGMA freelist_count`).Scan(&free)
		if err != nil || free == 0 || free == before {
			return ours(err)
		}
		before = free
		err = db.alone(ctx, func() error {
			_, err := db.conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, vacuumStep))
			return ours(err)
		})
		if err != nil {
			return err
		}
	}
}

// mergeStep is how many pages of the full-text table are written anew under one hold
// of the file.
const mergeStep = 500

// Scrub takes what is left of deleted sessions off the disk: their words in the
// full-text table, which only marks them as gone, and the copies in the write-ahead
// log. It works in steps beside everything else.
func (db *DB) Scrub(ctx context.Context) error {
	// A negative number has all parts of the table merged, not only those it is worth
	// it for; the number of changes says whether anything was left to do (FTS5).
	for pages := -mergeStep; ; pages = mergeStep {
		var before, after int64
		err := db.follow(ctx, func(ctx context.Context) error {
			if err := db.conn.QueryRowContext(ctx, `SELECT total_changes()`).Scan(&before); err != nil {
				return ours(err)
			}
			if _, err := db.conn.ExecContext(ctx, `INSERT INTO found (found, rank) VALUES ('merge', ?)`, pages); err != nil {
				return ours(err)
			}
			return ours(db.conn.QueryRowContext(ctx, `SELECT total_changes()`).Scan(&after))
		})
		if err != nil {
			return fmt.Errorf("scrub %s: %w", db.path, err)
		}
		if after-before < 2 {
			break
		}
	}
	err := db.alone(ctx, func() error {
		_, err := db.conn.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
		return ours(err)
	})
	if err != nil {
		return fmt.Errorf("scrub %s: %w", db.path, err)
	}
	return nil
}

// alone calls f while no transaction runs.
func (c *committer) alone(ctx context.Context, f func() error) error {
	select {
	case <-c.baton:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.stopped:
		return ErrClosed
	}
	defer func() { c.baton <- struct{}{} }()
	return f()
}

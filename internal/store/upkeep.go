package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// Mark implements [sessions.Catalog].
func (db *DB) Mark(ctx context.Context, id eventlog.ID, m sessions.Mark) error {
	var pinned, deleted any
	if m.Pinned != nil {
		pinned = *m.Pinned
	}
	if m.DeletedAt != nil {
		deleted = nanos(*m.DeletedAt)
	}
	err := db.run(ctx, func(ctx context.Context, f *file) error {
		return changedOne(f.exec(ctx, mark, string(id), pinned, deleted))
	})
	if err != nil {
		return fmt.Errorf("mark session %s: %w", id, err)
	}
	return nil
}

// Delete implements [sessions.Catalog]. The session is gone at once; its events follow in steps, at
// the next Open if this process ends between.
func (db *DB) Delete(ctx context.Context, id eventlog.ID) error {
	var key int64
	err := db.await(ctx, &job{last: last{Session: id}, do: func(ctx context.Context, f *file) error {
		key = 0
		if _, err := f.exec(ctx, dropDrafts, string(id)); err != nil {
			return err
		}
		err := f.hot[dropSession].QueryRowContext(ctx, string(id)).Scan(&key)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			_, err = f.exec(ctx, purging, key)
		}
		return translated(err)
	}})
	if err == nil && key != 0 {
		err = errors.Join(db.purge(ctx, key), db.damage.forget(id))
	}
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}

// purgeStep is how many events one transaction deletes, so that others need not wait long.
const purgeStep = 1000

func (db *DB) purge(ctx context.Context, key int64) (err error) {
	for gone := int64(purgeStep); gone == purgeStep && err == nil; {
		err = db.follow(ctx, func(ctx context.Context, f *file) (err error) {
			if _, err = f.exec(ctx, dropWords, key, purgeStep); err != nil {
				return err
			}
			if gone, err = f.exec(ctx, dropEvents, key, purgeStep); err == nil && gone < purgeStep {
				_, err = f.exec(ctx, purged, key)
			}
			return err
		})
	}
	return err
}

// step is how many pages (4 KiB each) are given back, or of the full-text table written anew, under
// one hold of the file, so that concurrent writers wait a few milliseconds.
const step = 500

// Vacuum gives the room of what was deleted back to the disk, in steps beside everything else.
func (db *DB) Vacuum(ctx context.Context) (err error) {
	for before, free := 0, 1; err == nil && free != 0 && free != before; {
		before = free
		err = db.writing(ctx, func(f *file) error {
			_, err := f.exec(ctx, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, step))
			if err == nil {
				_, err = f.get(ctx, `PRAGMA freelist_count`, nil, &free)
			}
			return err
		})
	}
	if err == nil {
		err = db.Scrub(ctx)
	}
	if err != nil {
		return fmt.Errorf("vacuum %s: %w", db.path, err)
	}
	return nil
}

// Scrub takes what is left of deleted sessions off the disk: their words in the full-text table,
// which only marks them as gone, and the copies in the write-ahead log. It works in steps beside
// everything else.
func (db *DB) Scrub(ctx context.Context) error {
	// A negative number has all parts of the table merged, not only those it is worth it for; the
	// number of changes says whether anything was left to do (FTS5).
	var err error
	for pages, changed := -step, int64(2); err == nil && changed >= 2; pages = step {
		err = db.follow(ctx, func(ctx context.Context, f *file) error {
			var before, after int64
			const count = `SELECT total_changes()`
			if err := f.conn.QueryRowContext(ctx, count).Scan(&before); err != nil {
				return translated(err)
			}
			if _, err := f.exec(ctx, `INSERT INTO found (found, rank) VALUES ('merge', ?)`,
				pages); err != nil {
				return err
			}
			err := f.conn.QueryRowContext(ctx, count).Scan(&after)
			changed = after - before
			return translated(err)
		})
	}
	if err == nil {
		err = db.writing(ctx, func(f *file) error {
			_, err := f.fold(ctx, "TRUNCATE")
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("scrub %s: %w", db.path, err)
	}
	return nil
}

// writing calls do while no transaction runs, with a file that can be written.
func (db *DB) writing(ctx context.Context, do func(*file) error) error {
	return db.alone(ctx, func() error {
		f := db.file.Load()
		if err := db.intact(f); err != nil {
			return err
		}
		return errors.Join(do(f), f.foldLong(ctx))
	})
}

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
	err := db.run(ctx, func(ctx context.Context) error {
		return one(db.put.mark.ExecContext(ctx, string(id), pinned, deleted))
	})
	if err != nil {
		return fmt.Errorf("mark session %s: %w", id, err)
	}
	return nil
}

// purgeStep is how many events one transaction deletes, so that others need not
// wait long.
const purgeStep = 1000

// Delete implements [sessions.Catalog]. The session is gone at once; its events
// follow in steps, at the next Open if this process ends between.
func (db *DB) Delete(ctx context.Context, id eventlog.ID) error {
	var key int64
	err := db.runAs(ctx, last{Session: id}, false, func(ctx context.Context) error {
		key = 0
		if _, err := db.put.noDrafts.ExecContext(ctx, string(id)); err != nil {
			return ours(err)
		}
		switch err := db.put.dropOne.QueryRowContext(ctx, string(id)).Scan(&key); {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil:
			return ours(err)
		}
		_, err := db.put.remember.ExecContext(ctx, key)
		return ours(err)
	})
	if err == nil && key != 0 {
		err = errors.Join(db.purge(ctx, key), db.damage.forget(id))
	}
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}

func (db *DB) purge(ctx context.Context, key int64) error {
	for gone := int64(purgeStep); gone == purgeStep; {
		err := db.follow(ctx, func(ctx context.Context) error {
			if _, err := db.put.dropFound.ExecContext(ctx, key, purgeStep); err != nil {
				return ours(err)
			}
			r, err := db.put.dropEvents.ExecContext(ctx, key, purgeStep)
			if err != nil {
				return ours(err)
			}
			if gone, err = r.RowsAffected(); err == nil && gone < purgeStep {
				_, err = db.put.forgetPurged.ExecContext(ctx, key)
			}
			return ours(err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// purgeAll finishes what an earlier process did not.
func (db *DB) purgeAll(ctx context.Context) error {
	rows, err := db.read.QueryContext(ctx, `SELECT session FROM purges`)
	if err != nil {
		return ours(err)
	}
	defer rows.Close()
	var keys []int64
	for rows.Next() {
		var k int64
		if err := rows.Scan(&k); err != nil {
			return ours(err)
		}
		keys = append(keys, k)
	}
	if err := rows.Err(); err != nil {
		return ours(err)
	}
	rows.Close()
	for _, k := range keys {
		if err := db.purge(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

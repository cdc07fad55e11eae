package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"webchat/internal/fold"
)

// Adopted is what came of taking over the sessions of another file.
type Adopted struct {
	Here int // sessions of the other file that are in this one, event for event
	New  int // those of them that were not before
	Left int // sessions that are not, because the other file is damaged or says something else
}

// Adopt copies the sessions of the file in the folder dir that are not in this one,
// each whole and in a transaction of its own, and compares those that are. So it can be
// cut off and called again. The other file, of this version or an older one, stays as it
// is; without one there is nothing to adopt. The error, which wraps [ErrCorrupt] or
// [ErrNewer] where it can, says why the other file could not be read to its end: what is
// not in the numbers then is not known.
func (db *DB) Adopt(ctx context.Context, dir string) (a Adopted, err error) {
	path := filepath.Join(dir, FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	err = checkHeader(path)
	if err == nil {
		err = db.alone(ctx, func() error {
			_, err := db.conn.ExecContext(ctx, `ATTACH DATABASE ? AS other`, bareSource(path)+"?mode=rw")
			return ours(err)
		})
	}
	if err != nil {
		return a, fmt.Errorf("adopt the sessions of %s: %w", path, err)
	}
	defer func() {
		detached := db.alone(context.Background(), func() error {
			_, err := db.conn.ExecContext(context.Background(), `DETACH DATABASE other`)
			return ours(err)
		})
		if err = errors.Join(err, detached); err != nil {
			err = fmt.Errorf("adopt the sessions of %s: %w", path, err)
		}
	}()
	others, err := db.others(ctx) // those before the damage, if there is some
	for _, o := range others {
		added, failed := db.adoptOne(ctx, o)
		switch {
		case failed == nil:
			a.Here++
			if added {
				a.New++
			}
		case errors.Is(failed, ErrCorrupt), errors.Is(failed, ErrSequence), errors.Is(failed, errDiffers):
			a.Left++
		default:
			return a, failed
		}
	}
	return a, err
}

// errDiffers is of a session that says something else in each file.
var errDiffers = errors.New("the session says something else here")

// other is a session of the other file.
type other struct {
	id      string
	key     int64
	lastSeq int64
}

// others lists the sessions of the attached file; of one without any table there are
// none. An index of it may be damaged, so none is used.
func (db *DB) others(ctx context.Context) (list []other, err error) {
	var tables int
	if err := db.conn.QueryRowContext(ctx, `SELECT count(*) FROM other.sqlite_schema WHERE name = 'sessions'`).Scan(&tables); err != nil || tables == 0 {
		return nil, ours(err)
	}
	rows, err := db.conn.QueryContext(ctx, `SELECT id, key, last_seq FROM other.sessions NOT INDEXED ORDER BY key`)
	if err != nil {
		return nil, damaged(ours(err))
	}
	defer rows.Close()
	for rows.Next() {
		var o other
		if err := rows.Scan(&o.id, &o.key, &o.lastSeq); err != nil {
			return list, damaged(ours(err))
		}
		list = append(list, o)
	}
	return list, ours(rows.Err())
}

const adoptSession = `INSERT INTO sessions (id, backend, model, title, folded, created_at, updated_at, deleted_at, pinned, status, pending, unfinished, last_seq, rest, workspace)
	SELECT id, backend, model, title, folded, created_at, updated_at, deleted_at, pinned, status, pending, unfinished, last_seq, rest,
		coalesce((SELECT json_extract(text, '$.data.context.cwd') FROM (SELECT CAST(json AS TEXT) AS text FROM other.events WHERE at = ?1 << 32 | 1) WHERE json_valid(text)), '')
	FROM other.sessions WHERE key = ?1 RETURNING key`

// adoptOne copies a session of the attached file if it is not here, and compares its
// log with that of here.
func (db *DB) adoptOne(ctx context.Context, o other) (added bool, err error) {
	err = db.run(ctx, func(ctx context.Context) error {
		var key, same int64
		added = false
		err := db.conn.QueryRowContext(ctx, `SELECT coalesce(max(key), 0) FROM sessions WHERE id = ?`, o.id).Scan(&key)
		if err != nil {
			return ours(err)
		}
		if key == 0 {
			if key, err = db.copyOther(ctx, o); err != nil {
				return err
			}
			added = true
		}
		err = db.conn.QueryRowContext(ctx, `SELECT count(*) FROM other.events o JOIN events e ON e.at = ?2 << 32 | (o.at & 0xffffffff) AND e.json = o.json
			WHERE o.at BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff`, o.key, key).Scan(&same)
		if err == nil && same != o.lastSeq {
			return fmt.Errorf("%w: %d of %d events of session %s are the same", errDiffers, same, o.lastSeq, o.id)
		}
		return ours(err)
	})
	return added, err
}

func (db *DB) copyOther(ctx context.Context, o other) (key int64, err error) {
	if err := db.conn.QueryRowContext(ctx, adoptSession, o.key).Scan(&key); err != nil {
		return 0, ours(err)
	}
	for _, step := range []string{
		`INSERT INTO events (at, json) SELECT ?2 << 32 | (at & 0xffffffff), json FROM other.events WHERE at BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff ORDER BY at`,
		`INSERT INTO drafts (session, json) SELECT ?2, json FROM other.drafts WHERE session = ?1`,
		`INSERT INTO unsearched SELECT ?2, 0, last_seq FROM sessions WHERE key = ?2`,
	} {
		if _, err := db.conn.ExecContext(ctx, step, o.key, key); err != nil {
			return 0, ours(err)
		}
	}
	return key, nil
}

// DeleteIn deletes a session from the file in the folder dir and takes what is left of
// it off the disk. Without a file, or without the session, there is nothing to do.
func DeleteIn(ctx context.Context, dir, id string) (err error) {
	if _, err := os.Stat(filepath.Join(dir, FileName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := Open(Config{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Delete(ctx, fold.ID(id)); err != nil {
		return err
	}
	return db.Scrub(ctx)
}

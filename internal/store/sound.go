package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"webchat/internal/event"
	"webchat/internal/sessions"
)

// checkTime bounds how long a start looks for damage, each time it looks: a file that is not read
// through in this time is used, and what is damaged in it shows when it is read. Tests raise it:
// beside a busy machine it is short even for small files.
var checkTime = 300 * time.Millisecond

// openSound opens the file and looks for damage as long as a start may take. What follows from the
// logs and the rows of sessions, indexes and the words of the search, is made anew if it is
// damaged.
func (db *DB) openSound(ctx context.Context) (*file, error) {
	f, err := db.openChecked(ctx)
	if err != nil {
		return nil, err
	}
	// The check of the whole file compares no rows with their indexes, and no check knows what the
	// full-text search keeps in its tables.
	err = briefly(ctx, func(ctx context.Context) error {
		return f.check(ctx, `PRAGMA integrity_check(sessions)`)
	})
	err = errors.Join(err, f.probeWords(ctx))
	if err == nil {
		return f, nil
	}
	db.log.Warn("what sessions are listed and searched by is damaged and made anew", "error", err)
	if err := errors.Join(f.rebuild(ctx), f.close()); err != nil {
		return nil, fmt.Errorf("open %s: %w", db.path, damaged(err))
	}
	return db.openChecked(ctx)
}

func (db *DB) openChecked(ctx context.Context) (*file, error) {
	f, err := db.open(ctx)
	if err != nil {
		return nil, err
	}
	err = briefly(ctx, func(ctx context.Context) error {
		return f.check(ctx, `PRAGMA quick_check(1)`)
	})
	if err == nil {
		err = briefly(ctx, f.probe)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", db.path, errors.Join(err, f.close()))
	}
	return f, nil
}

// briefly calls look with [checkTime]; what it has not found by then is not an error.
func briefly(ctx context.Context, look func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if err := look(ctx); ctx.Err() == nil {
		return err
	}
	return nil
}

// check runs one of SQLite's checks.
func (f *file) check(ctx context.Context, pragma string) error {
	var verdict string
	_, err := f.get(ctx, pragma, nil, &verdict)
	if err == nil && verdict != "ok" {
		err = fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	}
	return err
}

// probe tries what every page needs: the names in the schema may be damaged where its pages are
// sound.
func (f *file) probe(ctx context.Context) error {
	for _, q := range []sessions.Query{{Text: "anything", Limit: 1},
		{Kind: sessions.QueryUnfinished, Limit: 1}, {Kind: sessions.QueryDeleted, Limit: 1}} {
		p, err := pageOf(q)
		if err == nil {
			_, err = list(ctx, f, p)
		}
		if ctx.Err() == nil && err != nil {
			return damaged(err)
		}
	}
	return nil
}

// probeWords writes a word as an event would, and takes it back.
func (f *file) probeWords(ctx context.Context) error {
	_, err := f.exec(ctx,
		`BEGIN IMMEDIATE; INSERT INTO found (rowid, words) VALUES (0, 'probe'); SAVEPOINT flushed`)
	if err == nil {
		var n int
		const count = `SELECT count(*) FROM found WHERE found MATCH 'probe'`
		err = translated(f.conn.QueryRowContext(ctx, count).Scan(&n))
	}
	_, rollback := f.exec(ctx, `ROLLBACK`)
	if err == nil {
		err = rollback
	}
	if errors.Is(err, ErrFull) || errors.Is(err, ErrReadOnly) || errors.Is(err, ErrLocked) {
		return nil // which an append will say
	}
	return err
}

// rebuild makes the indexes and the words of the search anew.
func (f *file) rebuild(ctx context.Context) error {
	_, err := f.exec(ctx, `BEGIN IMMEDIATE; DROP TABLE found;`+wordsTable+`REINDEX sessions`)
	if err == nil {
		err = f.query(ctx, func(rows record) error {
			var at, sum int64
			var e event.Entry
			if err := rows.Scan(&at, &e.JSON, &sum); err != nil {
				return err
			}
			e.Event, _ = decode(e.JSON, sum) // a damaged one has no words
			for _, w := range wordsOf([]event.Entry{e}) {
				if _, err := f.conn.ExecContext(ctx, putWords, at, w.words); err != nil {
					return err
				}
			}
			return nil
		}, `SELECT at, json, coalesce(sum, -1) FROM events`)
	}
	if err == nil {
		_, err = f.exec(ctx, commit)
	} else {
		_, _ = f.exec(ctx, `ROLLBACK`) // the first error is the one to know
	}
	return err
}

// corrupt begins what ends the name of a damaged file that is kept.
const corrupt = ".corrupt-"

// Aside returns the damaged files that are kept in a data folder, without their journals.
func Aside(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, FileName+corrupt+"*Z")) // as [stamp] ends
	return names
}

// moveAside renames the file and what SQLite keeps beside it.
func moveAside(path string) (moved []string, err error) {
	to := path + corrupt + time.Now().UTC().Format(stamp)
	for _, end := range []string{"", "-wal", "-shm"} {
		switch err := os.Rename(path+end, to+end); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("move the damaged file aside: %w", fileError(err))
		case end != "-shm":
			moved = append(moved, to+end)
		}
	}
	// It would be compared with the new file.
	if err := os.Remove(path + lastName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("move the damaged file aside: %w", fileError(err))
	}
	return moved, nil
}

package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// place is where a file of the database was when it was opened, and which file it was.
type place struct {
	path string
	is   fs.FileInfo
}

// places are those of the file and of what SQLite keeps beside it while it is open.
func places(path string) (all []place, err error) {
	for _, end := range []string{"", "-wal", "-shm"} {
		is, err := os.Stat(path + end)
		switch {
		case err == nil:
			all = append(all, place{path + end, is})
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fileError(err)
		}
	}
	return all, nil
}

// check returns an error if the file is not in its place: whoever opens that path now
// would not see what is written.
func (p place) check() error {
	switch now, err := os.Stat(p.path); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is not there", ErrGone, p.path)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrGone, fileError(err))
	case !os.SameFile(p.is, now):
		return fmt.Errorf("%w: %s", ErrReplaced, p.path)
	}
	return nil
}

// intact returns an error if what is written would not be found at the next start: a file
// of the database, or the claim to the folder, is not in its place.
func (db *DB) intact() error {
	if db.held != nil {
		if err := db.held(); err != nil {
			return err
		}
	}
	for _, p := range db.places {
		if err := p.check(); err != nil {
			return err
		}
	}
	return nil
}

// goOn opens the file of now anew, if what is in its place has all that was committed:
// the file itself whose journal was removed, or a copy of it. f.mu is held.
func (f *File) goOn(ctx context.Context, now *DB) error {
	err := now.intact()
	switch moved := now.places[0].check(); {
	case err == nil:
		return nil
	case moved == nil && errors.Is(err, ErrGone): // SQLite still has the journal open
		err = now.alone(ctx, func() error { return now.settle(ctx) })
	case errors.Is(moved, ErrReplaced):
		if err = now.compare(ctx, f.config); err == nil && now.held != nil {
			err = now.held()
		}
	}
	if err != nil {
		return err
	}
	if err := now.Close(); err != nil { // what is being read is read to its end
		return err
	}
	fresh, err := Open(f.config)
	f.db.Store(&opened{DB: fresh, why: err})
	if err == nil {
		f.log.Warn("the sessions' file was opened anew: all that was saved is in it", "file", fresh.path)
	}
	return err
}

// compare returns an error unless the file in the place of db holds the same sessions up
// to the same events.
func (db *DB) compare(ctx context.Context, c Config) error {
	there, err := openToRead(c)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrReplaced, err)
	}
	defer there.Close() // it was only read
	was, err := db.extent(ctx)
	if err != nil {
		return err
	}
	if is, err := there.extent(ctx); err != nil || is != was {
		return fmt.Errorf("%w, which has other sessions (%w)", ErrReplaced, err)
	}
	return nil
}

// extent is what tells a file from one with other sessions or other events.
func (db *DB) extent(ctx context.Context) (e struct {
	sessions, events int64
	last             string
}, err error) {
	err = db.read.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(key * last_seq), 0), coalesce(max(id), '') FROM sessions`).Scan(&e.sessions, &e.events, &e.last)
	return e, ours(err)
}

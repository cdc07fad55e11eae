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
	file *os.File
}

func openPlace(path string) (p place, err error) {
	p.path = path
	if p.file, err = os.Open(path); err == nil {
		p.is, err = p.file.Stat()
	}
	return p, err
}

// check returns an error if the file is not in its place: a program that opens that path now would
// not see what is written.
func (p place) check() (now fs.FileInfo, err error) {
	switch now, err = os.Stat(p.path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %s is not there", ErrGone, p.path)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrGone, fileError(err))
	case !os.SameFile(p.is, now):
		return nil, fmt.Errorf("%w: %s", replaced(p.path), p.path)
	}
	return now, nil
}

// intact returns an error if what is written would not be found at the next start: f cannot be
// written, the claim to the folder is lost, or the file or its journal is not what this program
// left in its place. Its caller has the baton.
func (db *DB) intact(f *file) error {
	if db.held != nil {
		if err := db.held(); err != nil {
			return err
		}
	}
	if f.why != nil || f.raw == nil {
		return f.why
	}
	err := f.raw.check()
	if errors.Is(err, ErrOverwritten) { // what SQLite has in memory is of neither
		lost := *f
		lost.why = err
		db.file.Store(&lost)
	}
	return err
}

// secure returns an error unless the file in the place of f has all that was committed: it is that
// file, whose journal was removed, or a copy with the same sessions up to the same events.
func (db *DB) secure(ctx context.Context, f *file) error {
	err := db.intact(f)
	_, moved := f.raw.main.check()
	if moved == nil && errors.Is(err, ErrGone) { // SQLite still has the journal open
		return db.settle(ctx, f)
	}
	if !errors.Is(moved, ErrReplaced) {
		return err
	}
	ways := readWays(f.path)
	if _, err := f.raw.journal.check(); err == nil {
		ways = []string{withoutJournal} // which is that of f
	}
	there, err := db.openToRead(ctx, ways)
	if err != nil {
		return fmt.Errorf("%w: %w", moved, err)
	}
	was, err1 := f.extent(ctx)
	is, err2 := there.extent(ctx)
	if err := errors.Join(err1, err2, there.close()); err != nil || is != was {
		return fmt.Errorf("%w, which has other sessions (%w)", moved, err)
	}
	if db.held != nil {
		return db.held()
	}
	return nil
}

// dropJournal removes that of f, which is closed, from beside a file that has all of it, as SQLite
// does where the file was not replaced.
func (f *file) dropJournal() error {
	for _, p := range []place{f.raw.journal, {path: f.path + "-shm"}} {
		now, err := os.Stat(p.path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && p.is != nil && !os.SameFile(p.is, now) {
			return nil
		}
		if err = errors.Join(err, os.Remove(p.path)); err != nil {
			return fileError(err)
		}
	}
	return nil
}

// extent is what distinguishes a file from one with other sessions or other events.
func (f *file) extent(ctx context.Context) (e struct {
	sessions, events int64
	last             string
}, err error) {
	_, err = f.get(ctx, `SELECT count(*), coalesce(sum(key * last_seq), 0), coalesce(max(id), '')
		FROM sessions`, nil, &e.sessions, &e.events, &e.last)
	return e, err
}

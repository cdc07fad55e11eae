package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"webchat/internal/eventlog"
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

// check returns an error if the file is not in its place: a program that opens that path now would
// not see what is written.
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

// intact returns an error if what is written would not be found at the next start: f cannot be
// written, or a file of the database, or the claim to the folder, is not in its place.
func (db *DB) intact(f *file) error {
	if db.held != nil {
		if err := db.held(); err != nil {
			return err
		}
	}
	for _, p := range f.places {
		if err := p.check(); err != nil {
			return err
		}
	}
	return f.why
}

// secure returns an error unless the file in the place of f has all that was committed: it is that
// file, whose journal was removed, or a copy with the same sessions up to the same events.
func (db *DB) secure(ctx context.Context, f *file) error {
	err, moved := db.intact(f), f.places[0].check()
	if moved == nil && errors.Is(err, ErrGone) { // SQLite still has the journal open
		return db.settle(ctx, f)
	}
	if !errors.Is(moved, ErrReplaced) {
		return err
	}
	there, err := db.openToRead(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrReplaced, err)
	}
	was, err1 := f.extent(ctx)
	is, err2 := there.extent(ctx)
	if err := errors.Join(err1, err2, there.close()); err != nil || is != was {
		return fmt.Errorf("%w, which has other sessions (%w)", ErrReplaced, err)
	}
	if db.held != nil {
		return db.held()
	}
	return nil
}

// extent is what distinguishes a file from one with other sessions or other events.
func (f *file) extent(ctx context.Context) (e struct {
	sessions, events int64
	last             string
}, err error) {
	_, err = f.get(ctx, `SELECT count(*), coalesce(sum(key * last_seq), 0), coalesce(max(id), '') FROM sessions`,
		nil, &e.sessions, &e.events, &e.last)
	return e, err
}

// lastName ends the name of the file that says what was synced last.
const lastName = "-last"

// lastSize is the size of that file: less than a disk writes at once.
const lastSize = 256

// last is what was synced last, kept outside of the journal: one that was removed or cut short
// reads like one in which less was written. It is written after each sync, without one of its own,
// so it never says more than the journal held; after a loss of power it may say less.
type last struct {
	Session eventlog.ID `json:"session"`
	Seq     int64       `json:"seq"` // of its last event; 0: it was deleted
}

// noteLast writes what jobs that were synced came to. A disk that refuses it costs only that a
// journal that is removed next is not noticed.
func (f *file) noteLast(jobs []*job) {
	for _, j := range jobs {
		if j.last.Session == "" || j.follows {
			continue
		}
		if b, err := json.Marshal(j.last); err == nil && len(b) <= lastSize && f.last != nil {
			_, _ = f.last.WriteAt(fmt.Appendf(nil, "%-*s", lastSize, b), 0)
		}
		return // they are of one transaction
	}
}

// openLast compares the file with what was synced last, and keeps that from now on.
func (f *file) openLast(ctx context.Context) error {
	b, err := os.ReadFile(f.path + lastName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileError(err)
	}
	var l last
	if json.Unmarshal([]byte(strings.TrimSpace(string(b))), &l) == nil && l.Session != "" {
		var seq int64
		if _, err := f.get(ctx, `SELECT last_seq FROM sessions WHERE id = ?`, []any{string(l.Session)}, &seq); err != nil {
			return err
		}
		const why = FileName + "-wal was removed, cut short, or is older than the sessions were."
		switch {
		case l.Seq > seq:
			f.missing = fmt.Sprintf("The last events that were saved are missing, at least %d of session %s: %s",
				l.Seq-seq, l.Session, why)
		case l.Seq == 0 && seq > 0:
			f.missing = fmt.Sprintf("The last changes that were saved are missing: session %s had been deleted. %s",
				l.Session, why)
		}
	}
	if f.last, err = os.OpenFile(f.path+lastName, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		f.last = nil // a disk that is full; what an earlier program noted still holds
	}
	return nil
}

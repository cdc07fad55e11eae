package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"webchat/internal/event"
	"webchat/internal/session"
)

// maxLate is how many bytes of events a Steady keeps in memory for a disk that
// takes none; then Append fails.
const maxLate = 64 << 20

// checkTime bounds how long a start looks for damage: a file that is not read
// through in this time is used, and what is damaged in it shows when it is read.
const checkTime = 300 * time.Millisecond

// disk is what a Steady writes to.
type disk interface {
	session.Log
	session.Catalog
	session.Drafts
	rows(ctx context.Context, p page) ([]row, error)
	Index(ctx context.Context) error
	Vacuum(ctx context.Context) error
	Size() (int64, error)
	Close() error
}

// Steady is a store that goes on when the disk does not: what cannot be written
// is kept in memory, can be read like everything else, and is written when the
// disk takes it again. A sequence has no hole and no repeat then, either.
//
// A damaged file is moved aside, never deleted; a newer one is refused.
//
// Concurrency: as [DB]. [Steady.Run] is what tries again.
type Steady struct {
	open func() (disk, error)
	log  *slog.Logger
	wake chan struct{} // has room for one signal: trouble began

	flushing sync.Mutex // one at a time moves what is late to the disk

	mu      sync.RWMutex // guards what follows
	disk    disk         // nil: it could not be opened
	late    map[session.ID]*late
	keys    int64 // of sessions the disk does not know
	bytes   int64 // of late events
	trouble error // why something is late; nil: nothing is
	closed  bool
}

// OpenSteady opens the file of c as [Open] does, and starts without one where
// that cannot be. moved is where a damaged file is now; empty: there was none. The
// error wraps [ErrNewer], or says that c is wrong.
func OpenSteady(c Config, log *slog.Logger) (s *Steady, moved string, err error) {
	open := func() (disk, error) {
		db, err := Open(c)
		if err != nil {
			return nil, err
		}
		return db, nil
	}
	db, err := openSound(c)
	if errors.Is(err, ErrCorrupt) {
		log.Error("the sessions' file is damaged; it is moved aside and a new one begun", "error", err)
		if moved, err = moveAside(c); err == nil {
			log.Error("the damaged file was kept", "file", moved)
			db, err = openSound(c)
		}
	}
	if errors.Is(err, ErrNewer) || errors.Is(err, errConfig) {
		return nil, "", err
	}
	s = newSteady(open, log)
	if err == nil {
		s.disk = db
		return s, moved, nil
	}
	if db, e := openToRead(c); e == nil {
		s.disk = db
	}
	s.trouble = err
	s.signal()
	return s, moved, nil
}

func newSteady(open func() (disk, error), log *slog.Logger) *Steady {
	return &Steady{open: open, log: log, wake: make(chan struct{}, 1), late: map[session.ID]*late{}, keys: 1 << 40}
}

// openSound opens the file and looks for damage as long as a start may take.
func openSound(c Config) (*DB, error) {
	db, err := Open(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	var verdict string
	err = db.read.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict)
	switch {
	case ctx.Err() != nil: // it is large; what is looked at next is not
		err = db.probe()
	case err != nil:
		err = ours(err)
	case verdict != "ok":
		err = fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	default:
		err = db.probe()
	}
	if err == nil {
		return db, nil
	}
	return nil, fmt.Errorf("open %s: %w", db.path, errors.Join(err, db.Close()))
}

// probe tries what every page needs: the names in the schema may be damaged where
// its pages are sound.
func (db *DB) probe() error {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	for _, q := range []session.Query{{Text: "anything", Limit: 1}, {Kind: session.QueryUnfinished, Limit: 1}, {Kind: session.QueryDeleted, Limit: 1}} {
		_, err := db.List(ctx, q)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
	}
	return nil
}

// moveAside renames the file and what SQLite keeps beside it.
func moveAside(c Config) (moved string, err error) {
	path := filePath(c)
	moved = path + ".corrupt-" + time.Now().UTC().Format("20060102T150405.000Z")
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+end, moved+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("move the damaged file aside: %w", fileError(err))
		}
	}
	return moved, nil
}

// ofDisk says whether err is about the disk: then what was to be written is kept.
func ofDisk(err error) bool {
	for _, other := range []error{ErrSequence, ErrClosed, session.ErrInvalid, session.ErrNotFound, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, other) {
			return false
		}
	}
	return err != nil
}

func (s *Steady) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// troubled notes why the disk takes nothing. s.mu is held for writing.
func (s *Steady) troubled(err error) {
	if s.trouble == nil {
		s.trouble = err
		s.signal()
	}
}

// of returns the disk and what is late of a session.
func (s *Steady) of(id session.ID) (disk, *late) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.disk, s.late[id]
}

// Append implements [session.Log]. It fails for the disk's sake only when memory
// holds as much as it may.
func (s *Steady) Append(ctx context.Context, id session.ID, entries []event.Entry, sum session.Summary) error {
	if len(entries) == 0 {
		return nil
	}
	err := errNoDisk
	d, l := s.of(id)
	if l == nil && d != nil {
		if err = d.Append(ctx, id, entries, sum); !ofDisk(err) {
			return err
		}
	}
	if e := ctx.Err(); e != nil {
		return e
	}
	if err := checkEntries(id, entries, sum); err != nil {
		return err
	}
	last := int64(0)
	if l == nil && d != nil {
		if now, err := d.Summary(ctx, id); err == nil {
			last, sum.Pinned, sum.DeletedAt = now.LastSeq, now.Pinned, now.DeletedAt
		} else if !errors.Is(err, session.ErrNotFound) {
			last = entries[0].Seq - 1 // the disk does not say: who appends knows
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keep(id, last, entries, sum, err)
}

var errNoDisk = errors.New("the sessions' file is not open")

// keep takes entries into memory; last is where the log ends on the disk. s.mu is
// held for writing.
func (s *Steady) keep(id session.ID, last int64, entries []event.Entry, sum session.Summary, why error) error {
	size := int64(0)
	for _, e := range entries {
		size += int64(len(e.JSON))
	}
	l := s.late[id]
	switch {
	case s.closed:
		return fmt.Errorf("append to the log of session %s: %w", id, ErrClosed)
	case s.bytes+size > maxLate:
		return fmt.Errorf("append to the log of session %s: %w, and %d bytes wait for it already", id, why, s.bytes)
	case l != nil && l.gone:
		last = 0
	case l != nil:
		last = l.LastSeq
	}
	if entries[0].Seq != last+1 {
		return fmt.Errorf("append to the log of session %s: %w: the log ends at %d", id, ErrSequence, last)
	}
	if l == nil || l.gone {
		s.keys++
		l = &late{row: row{key: s.keys}, drop: l != nil}
		s.late[id] = l
	} else {
		sum.Pinned, sum.DeletedAt = l.Pinned, l.DeletedAt
	}
	l.Summary = sum
	l.batches = append(l.batches, batch{entries, sum})
	s.bytes += size
	s.troubled(why)
	return nil
}

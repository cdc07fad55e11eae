// Package store keeps the sessions' logs in one SQLite file. [DB] implements sessions.Log,
// sessions.Catalog and eventlog.Drafts; package storetest is their contract, and has a store in
// memory for tests.
//
// Guarantees:
//
//   - What Append returned nil for survives a kill -9 at any instant, and a loss of power: it
//     is synced before. Only what an agent says on the way ([event.Relayed]) and drafts are
//     synced up to [syncWithin] later. What was refused because a sync failed may be there
//     after a kill that follows at once.
//   - Sequences have no hole and no repeat: the database itself refuses them.
//   - Appends of many sessions share transactions; one alone does not wait. An Append whose
//     context ends is either withdrawn, and nothing of it is written, or its commit is waited
//     for and reported as what it was.
//   - Prompts, answers and calls are found by their words ([DB.List]).
//   - A damaged event costs that event, and is known by the sum of its bytes: its place is kept
//     ([event.SessionDamaged]), and a copy of its row.
//   - [OpenFile] starts whatever the disk is like: what can be read is read, what cannot be written
//     is refused, and the file is opened for writing as soon as that works ([DB.Writable]). What is
//     sound in a damaged file is taken out into a new one, and the damaged one is kept ([Rescue]);
//     one of another version is refused with [ErrVersion] and left as it is. Nothing is ever
//     deleted but by Delete.
//
// Concurrency: all methods may be called concurrently. There is no writing goroutine: each writer
// commits for all that wait.
//
//	db, err := store.Open(store.Config{Dir: dir})
//	defer db.Close()
//	err = db.Append(ctx, id, entries, summary)
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// FileName is the database's name in its folder. SQLite keeps two more files beside it while it is
// open, and this package one that says what was synced last.
const FileName = "webchat.db"

// Config says where to keep the file.
type Config struct {
	Dir string // made if missing, for this user only
	// Held returns why the folder does not belong to this program any longer; nil if it does. It is
	// called before each commit. No function: it always does.
	Held func() error
}

// DB keeps sessions in a SQLite file.
type DB struct {
	reading
	path    string
	held    func() error
	log     *slog.Logger
	damage  *damage
	file    atomic.Pointer[file] // what is open now; replaced by the holder of the baton only
	readers []*file              // replaced, but perhaps still read; guarded by the baton
	commits
	syncing

	closing sync.Once
	closed  error // of Close
}

func newDB(c Config, log *slog.Logger) *DB {
	db := &DB{path: filepath.Join(c.Dir, FileName), held: c.Held, log: log, damage: openDamage(c.Dir)}
	db.reading = reading{func() tables { return db.file.Load() }}
	db.baton, db.stopped = make(chan struct{}, 1), make(chan struct{})
	db.baton <- struct{}{}
	return db
}

// Open opens the file in c.Dir and makes it if it is missing. The error wraps one of this package's
// where it can.
func Open(c Config) (*DB, error) {
	db := newDB(c, slog.Default())
	f, err := db.open(context.Background())
	if err != nil {
		return nil, err
	}
	db.file.Store(f)
	return db, nil
}

// OpenFile opens the file in c.Dir as [Open] does, and starts without it where that cannot be.
// r says what became of a damaged file. The error wraps [ErrVersion].
func OpenFile(c Config, log *slog.Logger) (_ *DB, r Rescue, err error) {
	db, ctx := newDB(c, log), context.Background()
	if err := putRescued(db.path); err != nil {
		log.Warn("what was taken out of a damaged file could not be put in its place", "error", err)
	}
	f, err := db.openSound(ctx)
	if errors.Is(err, ErrCorrupt) {
		log.Error("the sessions' file is damaged; what is sound is taken out into a new one", "error",
			err)
		if r, err = db.rescue(ctx); err != nil {
			log.Error("nothing could be taken out of the damaged file; a new one is begun", "error", err)
			r = Rescue{}
		}
		if r.Aside, err = moveAside(db.path); err == nil {
			log.Error("the damaged file was kept", "files", r.Aside, "sessions", r.Sessions, "with_damage",
				r.Damaged,
				"events_lost", r.Events, "sessions_lost", r.Lost)
			err = putRescued(db.path)
		}
		if err == nil {
			f, err = db.openSound(ctx)
		}
	}
	if errors.Is(err, ErrVersion) {
		return nil, Rescue{}, err
	}
	if err != nil {
		f = db.standIn(ctx, err)
	}
	if f.aside != "" {
		log.Warn("the sessions' file was replaced, so the journal of the one before was kept aside",
			"file", db.path, "journal", f.aside)
	}
	if db.file.Store(f); f.missing != "" {
		log.Error("saved events are missing", "missing", f.missing)
	}
	return db, r, nil
}

// Missing says what the file should hold and does not, as it was when it was opened; empty means
// nothing is known to be missing.
func (db *DB) Missing() string { return db.file.Load().missing }

// Writable implements [sessions.Log]: so many bytes are written and deleted again. It opens the
// file for writing if that has not worked yet, and anew if it was away and has come back as
// another.
func (db *DB) Writable(ctx context.Context, bytes int) (err error) {
	defer func() { err = ofDisk(db.path, err) }()
	err = db.alone(ctx, func() error {
		f := db.file.Load()
		if err := db.intact(f); err == nil || f.why == nil && bytes <= 0 {
			return err
		}
		return db.reopen(ctx)
	})
	if err != nil || bytes <= 0 {
		return errors.Join(err, db.doubted())
	}
	for _, text := range []string{putScratch, dropScratch} {
		if err := db.run(ctx, func(ctx context.Context, f *file) error {
			_, err := f.exec(ctx, text, bytes)
			return err
		}); err != nil {
			return fmt.Errorf("try to write %s: %w", db.path, err)
		}
	}
	return nil
}

// reopen opens the file for writing, or anew if what is in its place has all that was committed.
// Its caller has the baton.
func (db *DB) reopen(ctx context.Context) error {
	now := db.file.Load()
	var fresh *file
	var err error
	switch {
	case now.lost():
		return now.why
	case now.why == nil:
		if err := db.secure(ctx, now); err != nil {
			return err
		}
	default:
		if fresh, err = db.open(ctx); err == nil {
			db.readers = append(db.readers, now) // what is being read is read to its end
			db.file.Store(fresh)
			return nil
		}
		if !errors.Is(err, ErrReadOnly) || !canWrite(db.path) {
			failed := *now
			failed.why = err
			db.file.Store(&failed)
			return err
		}
		// SQLite takes the index of a journal for the whole process as it was opened first. So the
		// readers go before the writer comes; reads fail in this instant.
	}
	if err = now.close(); err == nil && now.raw != nil {
		err = now.dropJournal()
	}
	if err == nil {
		fresh, err = db.open(ctx)
	}
	if err != nil {
		db.file.Store(db.standIn(ctx, err))
		return err
	}
	db.file.Store(fresh)
	db.log.Info("the sessions' file was opened anew: all that was saved is in it", "file", db.path)
	return nil
}

func canWrite(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	return err == nil && f.Close() == nil
}

// Size is how many bytes the file and its journal take.
func (db *DB) Size() (sum int64, err error) {
	for _, name := range []string{db.path, db.path + "-wal"} {
		switch fi, err := os.Stat(name); {
		case err == nil:
			sum += fi.Size()
		case !errors.Is(err, fs.ErrNotExist):
			return 0, fileError(err)
		}
	}
	return sum, nil
}

// Check reads the whole file and returns an error that wraps [ErrCorrupt] if anything in it is
// wrong. It takes long on a large file.
func (db *DB) Check(ctx context.Context) error {
	if err := db.file.Load().check(ctx, `PRAGMA integrity_check(1)`); err != nil {
		return fmt.Errorf("check %s: %w", db.path, err)
	}
	return nil
}

// Close waits for the commit that runs, refuses what waits with [ErrClosed] and closes the file. It
// may be called twice.
func (db *DB) Close() error {
	db.closing.Do(func() {
		db.stop()
		db.stopFollowing()
		db.calls.Wait()
		for _, f := range append(db.readers, db.file.Load()) {
			db.closed = errors.Join(db.closed, f.close())
		}
		if db.closed != nil {
			db.closed = fmt.Errorf("close %s: %w", db.path, db.closed)
		}
	})
	return db.closed
}

package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// checkTime bounds how long a start looks for damage: a file that is not read
// through in this time is used, and what is damaged in it shows when it is read.
// Tests raise it: beside a busy machine it is short even for small files.
var checkTime = 300 * time.Millisecond

// File is the sessions' file of a program that has to start whatever its disk is
// like: it reads what can be read, refuses what cannot be written, and opens the
// file for writing as soon as that works ([File.Writable]). What it did not refuse
// is in the file.
//
// A damaged file is moved aside, never deleted; a newer one is refused.
//
// Concurrency: as [DB].
type File struct {
	config Config
	log    *slog.Logger
	db     atomic.Pointer[opened]

	mu     sync.Mutex // guards what follows, and who sets db
	old    *DB        // the one that was replaced; closed at the end, for it may still be read
	closed bool
}

// opened is a file that is open, or why it is not.
type opened struct {
	*DB       // nil: not even for reading
	why error // why nothing can be written; nil: it can
}

// OpenFile opens the file of c as [Open] does, and starts without one where that
// cannot be. moved is where a damaged file, and its journal, are now; none: there was
// none. The error
// wraps [ErrVersion].
func OpenFile(c Config, log *slog.Logger) (f *File, moved []string, err error) {
	db, err := openSound(c, log)
	if errors.Is(err, ErrCorrupt) {
		log.Error("the sessions' file is damaged; it is moved aside and a new one begun", "error", err)
		if moved, err = moveAside(c); err == nil {
			log.Error("the damaged file was kept", "files", moved)
			db, err = openSound(c, log)
		}
	}
	if errors.Is(err, ErrVersion) {
		return nil, nil, err
	}
	f = &File{config: c, log: log}
	now := &opened{DB: db, why: err}
	if err != nil {
		if now.DB, err = openToRead(c); err != nil {
			now.DB = nil
		}
	}
	if f.db.Store(now); now.DB != nil && now.missing != "" {
		log.Error("saved events are missing", "missing", now.missing)
	}
	return f, moved, nil
}

// Writable implements [sessions.Log]. It opens the file for writing if that has not
// worked yet, and anew if it was away and has come back as another.
func (f *File) Writable(ctx context.Context, bytes int) error {
	if now := f.db.Load(); now.why != nil || bytes > 0 && now.intact() != nil {
		if err := f.reopen(ctx); err != nil {
			return err
		}
	}
	return f.db.Load().Writable(ctx, bytes)
}

func (f *File) reopen(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.db.Load()
	switch {
	case f.closed:
		return ErrClosed
	case now.why == nil:
		return f.goOn(ctx, now.DB)
	}
	fresh, err := Open(f.config)
	reader := now.DB
	if errors.Is(err, ErrReadOnly) && reader != nil && canWrite(reader.path) {
		// SQLite takes the index of a journal for the whole process as it was opened first.
		// So the readers go before the writer comes; who reads in this instant fails.
		if err = reader.Close(); err == nil {
			fresh, err = Open(f.config)
		}
		if err == nil {
			reader = nil
		} else if again, e := openToRead(f.config); e == nil {
			reader = again
		}
	}
	if err != nil {
		f.db.Store(&opened{DB: reader, why: err})
		return err
	}
	f.old = reader
	f.db.Store(&opened{DB: fresh})
	return nil
}

func canWrite(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	return err == nil && f.Close() == nil
}

// writer returns the file if it can be written, else why not.
func (f *File) writer() (*DB, error) {
	now := f.db.Load()
	return now.DB, now.why
}

// Append implements [eventlog.Store].
func (f *File) Append(ctx context.Context, id eventlog.ID, entries []event.Entry, s eventlog.Summary) error {
	db, err := f.writer()
	if err != nil {
		return fmt.Errorf("append to the log of session %s: %w", id, err)
	}
	return db.Append(ctx, id, entries, s)
}

// After implements [eventlog.Store].
func (f *File) After(ctx context.Context, id eventlog.ID, seq int64, limit int) ([]event.Entry, error) {
	if db := f.db.Load().DB; db != nil {
		return db.After(ctx, id, seq, limit)
	}
	return nil, ctx.Err()
}

// Summary implements [sessions.Catalog].
func (f *File) Summary(ctx context.Context, id eventlog.ID) (eventlog.Summary, error) {
	if db := f.db.Load().DB; db != nil {
		return db.Summary(ctx, id)
	}
	return eventlog.Summary{}, fmt.Errorf("session %s: %w", id, eventlog.ErrNotFound)
}

// List implements [sessions.Catalog].
func (f *File) List(ctx context.Context, q sessions.Query) (sessions.Page, error) {
	if db := f.db.Load().DB; db != nil {
		return db.List(ctx, q)
	}
	_, err := pageOf(q)
	return sessions.Page{}, err
}

// Workspaces implements [sessions.Catalog].
func (f *File) Workspaces(ctx context.Context) ([]sessions.Workspace, error) {
	if db := f.db.Load().DB; db != nil {
		return db.Workspaces(ctx)
	}
	return nil, ctx.Err()
}

// Mark implements [sessions.Catalog].
func (f *File) Mark(ctx context.Context, id eventlog.ID, m sessions.Mark) error {
	db, err := f.writer()
	if err != nil {
		return fmt.Errorf("mark session %s: %w", id, err)
	}
	return db.Mark(ctx, id, m)
}

// Delete implements [sessions.Catalog].
func (f *File) Delete(ctx context.Context, id eventlog.ID) error {
	db, err := f.writer()
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return db.Delete(ctx, id)
}

// SaveDrafts implements [eventlog.Drafts].
func (f *File) SaveDrafts(ctx context.Context, id eventlog.ID, drafts []eventlog.Draft) error {
	db, err := f.writer()
	if err != nil {
		return fmt.Errorf("save the drafts of session %s: %w", id, err)
	}
	return db.SaveDrafts(ctx, id, drafts)
}

// LoadDrafts implements [eventlog.Drafts].
func (f *File) LoadDrafts(ctx context.Context, id eventlog.ID) ([]eventlog.Draft, error) {
	if db := f.db.Load().DB; db != nil {
		return db.LoadDrafts(ctx, id)
	}
	return nil, ctx.Err()
}

// Inspect does what [DB.Inspect] does; a failure of it costs nothing but that.
func (f *File) Inspect(ctx context.Context) {
	if db := f.db.Load().DB; db != nil {
		if err := db.Inspect(ctx); err != nil && ctx.Err() == nil {
			f.log.Error("the sessions' logs cannot be looked through for damage", "error", err)
		}
	}
}

// Size implements what [DB.Size] does; without a file it is 0.
func (f *File) Size() (int64, error) {
	if db := f.db.Load().DB; db != nil {
		return db.Size()
	}
	return 0, nil
}

// Vacuum implements what [DB.Vacuum] does.
func (f *File) Vacuum(ctx context.Context) error {
	db, err := f.writer()
	if err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	return db.Vacuum(ctx)
}

// Close closes the file. It may be called twice.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	var err error
	for _, db := range []*DB{f.old, f.db.Load().DB} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// openSound opens the file and looks for damage as long as a start may take. What
// follows from the logs and the rows of sessions, indexes and the words of the
// search, is made anew if it is damaged.
func openSound(c Config, log *slog.Logger) (*DB, error) {
	db, err := openChecked(c)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(db.checkIndexes(), db.probeWords()); err != nil {
		log.Warn("what sessions are listed and searched by is damaged and made anew", "error", err)
		if err := errors.Join(db.dropDerived(context.Background()), db.Close()); err != nil {
			return nil, fmt.Errorf("open %s: %w", db.path, damaged(err))
		}
		return openChecked(c)
	}
	return db, nil
}

func openChecked(c Config) (*DB, error) {
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
	for _, q := range []sessions.Query{{Text: "anything", Limit: 1}, {Kind: sessions.QueryUnfinished, Limit: 1}, {Kind: sessions.QueryDeleted, Limit: 1}} {
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

// probeWords writes a word as an event would, and takes it back: the checks of a
// file know nothing of what the full-text search keeps in its tables.
func (db *DB) probeWords() error {
	ctx := context.Background()
	_, err := db.conn.ExecContext(ctx, `BEGIN IMMEDIATE; INSERT INTO found (rowid, words) VALUES (0, 'probe'); SAVEPOINT flushed`)
	if err == nil {
		var n int
		err = db.conn.QueryRowContext(ctx, `SELECT count(*) FROM found WHERE found MATCH 'probe'`).Scan(&n)
	}
	_, rollback := db.conn.ExecContext(ctx, `ROLLBACK`)
	if err == nil {
		err = rollback
	}
	if err = ours(err); errors.Is(err, ErrFull) || errors.Is(err, ErrReadOnly) || errors.Is(err, ErrLocked) {
		return nil // which an append will say
	}
	return err
}

// checkIndexes compares the rows of sessions with their indexes, which the check of
// the whole file does not.
func (db *DB) checkIndexes() error {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	var verdict string
	err := db.read.QueryRowContext(ctx, `PRAGMA integrity_check(sessions)`).Scan(&verdict)
	switch {
	case ctx.Err() != nil: // there are many
		return nil
	case err == nil && verdict != "ok":
		return fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	}
	return ours(err)
}

// dropDerived makes the indexes and the words of the search anew.
func (db *DB) dropDerived(ctx context.Context) (err error) {
	if _, err := db.conn.ExecContext(ctx, `BEGIN IMMEDIATE; DROP TABLE found;`+wordsTable); err != nil {
		return ours(err)
	}
	end := `ROLLBACK`
	defer func() {
		_, ended := db.conn.ExecContext(ctx, end)
		err = errors.Join(err, ours(ended))
	}()
	rows, err := db.read.QueryContext(ctx, `SELECT at, json FROM events`)
	if err != nil {
		return ours(err)
	}
	defer rows.Close()
	for rows.Next() {
		var at int64
		var e event.Entry
		if err := rows.Scan(&at, &e.JSON); err != nil {
			return ours(err)
		}
		if e.Event, err = event.Unmarshal(e.JSON); err != nil {
			continue // it is damaged, which its session says
		}
		e.Seq = at & 0xffffffff
		if err := db.putWords(ctx, at>>32, wordsOf([]event.Entry{e})); err != nil {
			return err
		}
	}
	if _, err = db.conn.ExecContext(ctx, `REINDEX sessions`); err == nil && rows.Err() == nil {
		end = `COMMIT`
	}
	return ours(errors.Join(err, rows.Err()))
}

// moveAside renames the file and what SQLite keeps beside it.
func moveAside(c Config) (moved []string, err error) {
	path := filePath(c)
	to := path + ".corrupt-" + time.Now().UTC().Format("20060102T150405.000Z")
	for _, end := range []string{"", "-wal", "-shm"} {
		switch err := os.Rename(path+end, to+end); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("move the damaged file aside: %w", fileError(err))
		case end == "" || end == "-wal":
			moved = append(moved, to+end)
		}
	}
	// What it says of them would be said of the new file.
	if err := os.Remove(path + lastName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("move the damaged file aside: %w", fileError(err))
	}
	return moved, nil
}

// Missing does what [DB.Missing] does.
func (f *File) Missing() string {
	if db := f.db.Load().DB; db != nil {
		return db.missing
	}
	return ""
}

// Scrub does what [DB.Scrub] does.
func (f *File) Scrub(ctx context.Context) error {
	db, err := f.writer()
	if err != nil {
		return fmt.Errorf("scrub: %w", err)
	}
	return db.Scrub(ctx)
}

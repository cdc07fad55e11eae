// Package store keeps the sessions' logs: in one SQLite file ([DB]), and in a file that a
// program can start without ([File], which webchat uses). Both implement sessions.Log,
// sessions.Catalog and eventlog.Drafts, and pass storetest.
//
// Guarantees of DB:
//
//   - What Append returned nil for survives a kill -9 at any instant, and a loss
//     of power: it is synced before. Only what an agent says on the way
//     ([event.Relayed]) and drafts are synced up to [syncWithin] later. What was
//     refused because a sync failed may be there after a kill that follows at once.
//   - Sequences have no hole and no repeat: the database itself refuses them.
//   - Appends of many sessions share transactions; one alone does not wait. An
//     Append whose context ends is either withdrawn, and nothing of it is
//     written, or its commit is waited for and reported as what it was.
//   - What was said, shown and run is found by its words ([DB.List]).
//   - A damaged event costs that event: its place is kept ([event.SessionDamaged]), and a
//     copy of its row.
//   - A file that is damaged, of another version or not ours is refused with
//     [ErrCorrupt] or [ErrVersion] and left as it is. Nothing is ever deleted but
//     by Delete.
//
// Concurrency: all methods may be called concurrently. There is no writing
// goroutine: each writer commits for all that wait.
//
//	db, err := store.Open(store.Config{Dir: dir})
//	defer db.Close()
//	err = db.Append(ctx, id, entries, summary)
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	_ "modernc.org/sqlite"
)

// What callers may ask errors.Is about, beside eventlog.ErrNotFound and
// eventlog.ErrInvalid.
var (
	// ErrCorrupt: the file is damaged or no webchat database.
	ErrCorrupt error = &refusal{"the database file is damaged", "Stop webchat and move the file away, or restore a copy"}
	// ErrVersion: the file was written by a newer webchat, or by one before the first release.
	ErrVersion = errors.New("the database file is of another version of webchat")
	// ErrLocked: another program holds the file.
	ErrLocked error = &refusal{"the database file is in use by another program", "Stop the other program"}
	// ErrFull: there is no space left to write.
	ErrFull error = &refusal{"the disk is full", "Free some space"}
	// ErrDisk: the disk failed to read or write.
	ErrDisk error = &refusal{"the disk fails", "Check the disk, and that it has space left"}
	// ErrGone: the file, or one SQLite keeps beside it, was removed while it was open.
	ErrGone error = &refusal{"the database file was removed", "Put it back, or restart webchat to begin a new one"}
	// ErrReplaced: another file is in its place.
	ErrReplaced error = &refusal{"the database file was replaced by another", "Put the old one back, or restart webchat to go on with the new one"}
	// ErrReadOnly: the file or its folder cannot be written.
	ErrReadOnly error = &refusal{"the database file cannot be written", "Check who owns the file and its folder"}
	// ErrSequence: the entries do not go on from the last one.
	ErrSequence = errors.New("not the next sequence")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("the store is closed")
)

// FileName is the database's name in its folder. SQLite keeps two more files beside it
// while it is open, and this package one that says what was synced last.
const FileName = "webchat.db"

// Config says where to keep the file.
type Config struct {
	Dir string // made if missing, for this user only
	// Held returns why the folder does not belong to this program any longer; nil: it
	// does. It is asked before each commit. No function: it always does.
	Held func() error
}

// DB keeps sessions in a SQLite file.
type DB struct {
	path  string
	read  *sql.DB
	write *sql.DB // one connection, which is conn
	conn  *sql.Conn
	put   statements
	*committer
	syncing
	readOnly bool
	places   []place      // of what is open
	held     func() error // of Config
	damage   *damage
	lastFile *os.File // see last
	missing  string   // of what was synced

	closing sync.Once
	closed  error // of Close
}

// Open opens the file in c.Dir, makes it if it is missing, and brings one of an
// older version up to date. The error wraps one of this package's where it can.
func Open(c Config) (*DB, error) {
	path := filePath(c)
	db, err := open(path, c.Held)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return db, nil
}

func filePath(c Config) string { return filepath.Join(c.Dir, FileName) }

// openToRead opens a file that cannot be written, for what it holds. One of an
// older version cannot be read so.
func openToRead(c Config) (_ *DB, err error) {
	db := &DB{path: filePath(c), readOnly: true, damage: openDamage(c.Dir)}
	if err := checkHeader(db.path); err != nil {
		return nil, err
	}
	// Without the right to write there is no shared memory for readers: the file is
	// read as it is.
	// But what waits in a journal is then not seen, and must not be missed.
	ways := []string{"mode=ro", "immutable=1"}
	if fi, err := os.Stat(db.path + "-wal"); err == nil && fi.Size() > 0 {
		ways = ways[:1]
	}
	for _, how := range ways {
		if db.read, err = sql.Open("sqlite", bareSource(db.path)+"?"+how+"&_pragma=query_only(1)"); err != nil {
			return nil, ours(err)
		}
		var version int
		if err = db.read.QueryRow(`PRAGMA user_version`).Scan(&version); err == nil && version != firstVersion+len(steps)-1 {
			err = fmt.Errorf("%w: its schema is version %d", ErrReadOnly, version)
		}
		if err == nil {
			break
		}
		err = errors.Join(ours(err), db.read.Close())
	}
	if err != nil {
		return nil, err
	}
	db.committer = newCommitter(func(jobs []*job) {
		for _, j := range jobs {
			j.err = ErrReadOnly
			close(j.done)
		}
	})
	return db, nil
}

func open(path string, held func() error) (_ *DB, err error) {
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	db := &DB{path: path, held: held, damage: openDamage(filepath.Dir(path))}
	defer func() {
		if err != nil {
			db.closeFiles()
		}
	}()
	if db.write, err = sql.Open("sqlite", writeSource(path)); err != nil {
		return nil, ours(err)
	}
	db.write.SetMaxOpenConns(1)
	ctx := context.Background()
	if db.conn, err = db.write.Conn(ctx); err != nil {
		return nil, ours(err)
	}
	if err = migrate(ctx, db.conn, steps); err != nil {
		return nil, err
	}
	if db.read, err = sql.Open("sqlite", readSource(path)); err != nil {
		return nil, ours(err)
	}
	readers := max(4, runtime.NumCPU())
	db.read.SetMaxOpenConns(readers)
	db.read.SetMaxIdleConns(readers)
	if err = db.put.prepare(ctx, db.conn); err != nil {
		return nil, damaged(ours(err))
	}
	db.committer = newCommitter(db.commit)
	if err = db.purgeAll(ctx); err != nil {
		return nil, damaged(err)
	}
	if err = db.openReaders(ctx, readers); err != nil {
		return nil, err
	}
	if err = db.openLast(ctx); err != nil {
		return nil, err
	}
	db.places, err = places(path)
	return db, err
}

// openReaders opens n connections that read, so that none has to be opened when the file
// is not in its place any longer.
func (db *DB) openReaders(ctx context.Context, n int) error {
	for range n {
		conn, err := db.read.Conn(ctx)
		if err != nil {
			return ours(err)
		}
		defer conn.Close() // it is only given back
		if err := conn.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(new(int)); err != nil {
			return damaged(ours(err))
		}
	}
	return nil
}

// prepareFile makes the folder and the file for this user only, before SQLite
// would make them for more, and looks at the first bytes of one that is there.
func prepareFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fileError(err)
	}
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := checkNoJournal(path); err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return fileError(err)
		}
		return f.Close()
	case err != nil:
		return fileError(err)
	case fi.IsDir():
		return fmt.Errorf("%w: it is a folder; move it away", ErrCorrupt)
	}
	if err := checkHeader(path); err != nil {
		return err
	}
	if fi.Mode().IsRegular() && fi.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return fileError(os.Chmod(path, 0o600))
	}
	return nil
}

// writeSource names the file to the driver, for the one connection that writes.
func writeSource(path string) string {
	return bareSource(path) + "?" + url.Values{"_pragma": {
		busyTimeout, "auto_vacuum(INCREMENTAL)", "journal_mode(WAL)", "synchronous(FULL)",
		"journal_size_limit(16777216)", "secure_delete(ON)", "cell_size_check(1)",
	}}.Encode()
}

// readSource names it for those that read. The mode of vacuum and the journal's are the
// file's, and a connection that sets the first writes: it would wait for the one that
// does, and that for it.
func readSource(path string) string {
	return bareSource(path) + "?" + url.Values{"mode": {"rw"}, "_pragma": {busyTimeout, "cell_size_check(1)", "query_only(1)"}}.Encode()
}

// busyTimeout is how long, in milliseconds, another program may hold the file.
const busyTimeout = "busy_timeout(1000)"

func bareSource(path string) string {
	slashed := filepath.ToSlash(path)
	if abs, err := filepath.Abs(path); err == nil {
		slashed = filepath.ToSlash(abs)
	}
	if len(slashed) > 1 && slashed[1] == ':' { // a drive
		slashed = "/" + slashed
	}
	u := url.URL{Scheme: "file", Path: slashed}
	return u.String()
}

// Path returns where the file is.
func (db *DB) Path() string { return db.path }

// Check reads the whole file and returns an error that wraps [ErrCorrupt] if
// anything in it is wrong. It takes long on a large file.
func (db *DB) Check(ctx context.Context) error {
	var verdict string
	if err := db.read.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict); err != nil {
		return fmt.Errorf("check %s: %w", db.path, ours(err))
	}
	if verdict != "ok" {
		return fmt.Errorf("check %s: %w: %s", db.path, ErrCorrupt, verdict)
	}
	return nil
}

// Close waits for the commit that runs, refuses what waits with [ErrClosed] and
// closes the file. It may be called twice.
func (db *DB) Close() error {
	db.closing.Do(func() {
		db.stop()
		db.stopFollowing()
		db.put.close()
		db.closed = db.closeFiles()
	})
	return db.closed
}

func (db *DB) closeFiles() error {
	var errs []error
	if db.read != nil {
		errs = append(errs, db.read.Close())
	}
	if db.conn != nil {
		errs = append(errs, db.conn.Close())
	}
	if db.write != nil { // last: who closes last folds the journal into the file
		errs = append(errs, db.write.Close())
	}
	if db.lastFile != nil {
		errs = append(errs, db.lastFile.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close %s: %w", db.path, ours(err))
	}
	return nil
}

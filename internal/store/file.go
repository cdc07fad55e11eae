package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	_ "modernc.org/sqlite"
)

// file is the database as it was opened once.
type file struct {
	path    string
	read    *sql.DB
	write   *sql.DB // one connection, which is conn
	conn    *sql.Conn
	hot     map[string]*sql.Stmt // statements of conn that run often, by their text
	relaxed bool                 // conn does not sync its commits now; for the holder of the baton
	raw     *raw                 // nil: it cannot be written
	last    *os.File             // see last
	noted   last                 // what it holds
	missing string               // of what was synced
	aside   string               // where the journal of another file is now
	why     error                // why nothing can be written; nil: it can
	damage  *damage
}

// open opens the file, makes it if it is missing, and brings one of an older version up to date.
func (db *DB) open(ctx context.Context) (_ *file, err error) {
	f := &file{path: db.path, damage: db.damage, hot: map[string]*sql.Stmt{}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("open %s: %w", db.path, ofDisk(db.path, err))
			_ = f.close() // the first error is the one to know
		}
	}()
	if err := prepareFile(f.path); err != nil {
		return nil, err
	}
	if f.aside, err = setAside(f.path); err != nil {
		return nil, err
	}
	if f.write, err = sql.Open("sqlite", writeSource(f.path)); err != nil {
		return nil, translated(err)
	}
	f.write.SetMaxOpenConns(1)
	if f.conn, err = f.write.Conn(ctx); err != nil {
		return nil, translated(err)
	}
	if err = migrate(ctx, f.conn, steps); err != nil {
		return nil, err
	}
	read := make(chan error, 1)
	go func() { read <- f.openReaders(ctx) }()
	if err = errors.Join(f.prepare(ctx), <-read); err != nil {
		return nil, err
	}
	if err = f.openLast(ctx); err != nil {
		return nil, err
	}
	if f.raw, err = openRaw(f.path); err == nil && f.raw.now.frames > 0 {
		f.noteOwn()
	}
	return f, err
}

// prepare readies the connection that writes, and finishes what an earlier process did not: where
// there is nothing of that it writes nothing, because a commit waits for the disk.
func (f *file) prepare(ctx context.Context) error {
	for _, text := range hot {
		stmt, err := f.conn.PrepareContext(ctx, text)
		if err != nil {
			return damaged(translated(err))
		}
		f.hot[text] = stmt
	}
	// SQLite opens a file that it cannot write all the same, and then never writes it: only a
	// statement that would write finds out. This one deletes nothing.
	_, err := f.exec(ctx, purged, 0)
	var rest bool
	if err == nil {
		err = f.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM purges)`).Scan(&rest)
	}
	if err == nil && rest {
		_, err = f.exec(ctx, purgeAll)
	}
	if err != nil {
		return damaged(translated(err))
	}
	return nil
}

// openReaders opens all connections that read, so that none has to be opened when the file is not
// in its place any longer.
func (f *file) openReaders(ctx context.Context) (err error) {
	if f.read, err = sql.Open("sqlite", readSource(f.path)); err != nil {
		return translated(err)
	}
	n := max(4, runtime.NumCPU())
	f.read.SetMaxOpenConns(n)
	f.read.SetMaxIdleConns(n)
	for range n {
		conn, err := f.read.Conn(ctx)
		if err != nil {
			return translated(err)
		}
		defer conn.Close() // it is only given back
		err = conn.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(new(int))
		if err != nil {
			return damaged(translated(err))
		}
	}
	return nil
}

// withoutJournal has SQLite read a file as it is, whatever is beside it.
const withoutJournal = "immutable=1"

// readWays are in which ways to try to read a file that cannot be written. Without the right to
// write there is no shared memory for readers: the file is read as it is. But what waits in its
// journal is then not seen, and must not be missed.
func readWays(path string) []string {
	fi, err := os.Stat(path + "-wal")
	if other, _ := strange(path); other {
		return []string{withoutJournal}
	}
	if err == nil && fi.Size() > 0 {
		return []string{"mode=ro"}
	}
	return []string{"mode=ro", withoutJournal}
}

// openToRead opens a file that cannot be written, for what it holds.
func (db *DB) openToRead(ctx context.Context, ways []string) (*file, error) {
	if err := checkHeader(db.path); err != nil {
		return nil, err
	}
	var failed error
	for _, way := range ways {
		read, err := sql.Open("sqlite", bareSource(db.path)+"?"+way+"&_pragma=query_only(1)")
		if err != nil {
			return nil, translated(err)
		}
		f := &file{path: db.path, damage: db.damage, read: read, why: ErrReadOnly}
		var version int
		err = read.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version)
		switch {
		case err == nil && version == firstVersion+len(steps)-1:
			return f, nil
		case err == nil:
			err = fmt.Errorf("%w: its schema is version %d", ErrReadOnly, version)
		}
		failed = errors.Join(translated(err), f.close())
	}
	return nil, failed
}

// standIn opens what can be read of a file that cannot be written because of why. Where nothing can
// be read, an empty database in memory takes its place.
func (db *DB) standIn(ctx context.Context, why error) *file {
	f, err := db.openToRead(ctx, readWays(db.path))
	if err != nil {
		f = &file{path: db.path, damage: db.damage}
		if f.read, err = sql.Open("sqlite", ":memory:"); err == nil {
			f.read.SetMaxOpenConns(1) // each connection has a memory of its own
			_, err = f.read.ExecContext(ctx, strings.Join(steps, ""))
		}
		if err != nil {
			panic(err) // it needs no disk
		}
	}
	f.why = why
	return f
}

// writeSource names the file to the driver, for the one connection that writes. The journal is
// folded by [file.fold] alone. The mode of vacuum is set while there is no file yet: to set it
// writes, even what is set.
func writeSource(path string) string {
	pragmas := []string{busyTimeout, "journal_mode(WAL)", "wal_autocheckpoint(0)", "synchronous(FULL)",
		"journal_size_limit(16777216)", "secure_delete(ON)", "cell_size_check(1)"}
	if fi, err := os.Stat(path); err != nil || fi.Size() == 0 {
		pragmas = slices.Insert(pragmas, 0, "auto_vacuum(INCREMENTAL)")
	}
	return bareSource(path) + "?" + url.Values{"_pragma": pragmas}.Encode()
}

// readSource names it for those that read. The mode of vacuum and the journal's are the file's.
func readSource(path string) string {
	return bareSource(path) + "?" + url.Values{"mode": {"rw"},
		"_pragma": {busyTimeout, "cell_size_check(1)", "query_only(1)"}}.Encode()
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

// exec runs a statement on the connection that writes.
func (f *file) exec(ctx context.Context, text string, args ...any) (n int64, err error) {
	var r sql.Result
	if stmt := f.hot[text]; stmt != nil {
		r, err = stmt.ExecContext(ctx, args...)
	} else {
		r, err = f.conn.ExecContext(ctx, text, args...)
	}
	if err == nil {
		n, err = r.RowsAffected()
	}
	return n, translated(err)
}

// query implements [tables].
func (f *file) query(ctx context.Context, each func(record) error, text string, args ...any) error {
	if f.lost() {
		return f.why
	}
	rows, err := f.read.QueryContext(ctx, text, args...)
	if err != nil {
		return translated(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return translated(err)
		}
	}
	return translated(rows.Err())
}

// get reads the one row of a statement; found is false where there is none.
func (f *file) get(ctx context.Context, text string, args []any,
	to ...any) (found bool, err error) {
	if f.lost() {
		return false, f.why
	}
	err = f.read.QueryRowContext(ctx, text, args...).Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, translated(err)
}

// lost reports whether another program wrote into the file: what is read then is a mixture.
func (f *file) lost() bool { return f.why != nil && errors.Is(f.why, ErrOverwritten) }

// close closes what is open. SQLite folds the journal when its last connection closes, whatever the
// file is now; so of a file that another program wrote into the readers stay open until the process
// ends.
func (f *file) close() error {
	var errs []error
	lost := f.lost()
	if f.raw != nil && !lost {
		if _, moved := f.raw.main.check(); moved == nil { // else SQLite does not fold it either
			_, err := f.fold(context.Background(), "TRUNCATE")
			lost = errors.Is(err, ErrOverwritten)
		}
	}
	if f.raw != nil {
		f.raw.close()
	}
	if f.read != nil && !lost {
		errs = append(errs, f.read.Close())
	}
	for _, stmt := range f.hot {
		_ = stmt.Close() // its connection is closed next
	}
	if f.conn != nil {
		errs = append(errs, f.conn.Close())
	}
	if f.write != nil { // last: closing it folds the rest of the journal into the file
		errs = append(errs, f.write.Close())
	}
	if f.last != nil {
		errs = append(errs, f.last.Close())
	}
	return translated(errors.Join(errs...))
}

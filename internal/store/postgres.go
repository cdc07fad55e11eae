package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// What callers of [OpenPostgres] may ask errors.Is about, beside [ErrVersion] and [ErrReadOnly].
var (
	// ErrAway: the database does not answer.
	ErrAway error = &away{refusal{text: "the database does not answer",
		advice: "Check that PostgreSQL runs and can be reached"}}
	// ErrRefused: the database answers, and does not let this program in, or is not fit for it.
	ErrRefused = errors.New("the database refuses")
	// ErrHeld: other webchats keep their sessions in this database.
	ErrHeld error = &refusal{text: "another webchat uses this database", advice: "Stop it first"}
)

// Postgres keeps sessions in a PostgreSQL database. It guarantees what [DB] does, but makes no
// copies of damaged events. What was committed and not acknowledged is asked for until it is known.
// Several replicas may share the database: each session is written by the one that took it with
// [Postgres.Take], or that began it.
//
// Any pooler works: there are no prepared statements and no state of a connection. Texts that users
// and agents wrote are bytea, since PostgreSQL's text takes no NUL and only UTF-8.
type Postgres struct {
	reading
	pool *pgxpool.Pool
	cfg  PostgresConfig
	life
	documents *documents
	damage    *damage
	taken     atomic.Int64 // sessions of other replicas

	stop context.CancelFunc
	open context.Context // ends with Close
	done chan struct{}   // closed when nothing is renewed any longer
}

// exec runs a statement that may run again.
func (db *Postgres) exec(ctx context.Context, text string, args ...any) (changed int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, db.cfg.Times.attempt())
	defer cancel()
	changed, err = db.execOnce(ctx, text, args)
	// a server that was restarted has ended its connections
	if errors.Is(err, ErrAway) && !mayBeDone(err) {
		db.pool.Reset()
		changed, err = db.execOnce(ctx, text, args)
	}
	return changed, err
}

// execOnce sends the arguments in binary, each as the type that pgx has for it in Go: the server
// has less to read, and bytes are half as many as in hexadecimal.
func (db *Postgres) execOnce(ctx context.Context, text string,
	args []any) (changed int64, err error) {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return 0, refused(err)
	}
	defer conn.Release()
	values, types, all := make([][]byte, len(args)), make([]uint32, len(args)), []byte{}
	for i, arg := range args {
		known := conn.Conn().TypeMap()
		kind, ok := known.TypeForValue(arg)
		if !ok {
			return 0, fmt.Errorf("PostgreSQL has no type for a %T", arg)
		}
		began := len(all)
		encoded, err := known.Encode(kind.OID, pgtype.BinaryFormatCode, arg, all)
		if err != nil {
			return 0, fmt.Errorf("encode a %s: %w", kind.Name, err)
		}
		if types[i] = kind.OID; encoded != nil { // else it is NULL
			all, values[i] = encoded, encoded[began:]
		}
	}
	done := conn.Conn().PgConn().ExecParams(ctx, text, values, types, []int16{pgtype.BinaryFormatCode},
		nil).Read()
	return done.CommandTag.RowsAffected(), refused(done.Err)
}

// After implements [eventlog.Store]. A limit below 1 means a thousand.
func (db *Postgres) After(ctx context.Context, id eventlog.ID, seq int64,
	limit int) ([]event.Entry, error) {
	if limit < 1 {
		limit = defaultEntries
	}
	if seq = max(seq, 0); seq >= math.MaxUint32 {
		return nil, nil
	}
	entries, last, err := entriesOf(ctx, db, seq,
		`SELECT e.seq, e.json, coalesce(e.sum, -1), s.last_seq
		FROM sessions s JOIN events e ON e.session = s.key
		WHERE s.id = $1 AND e.seq > $2 ORDER BY e.seq LIMIT $3`, []byte(id), seq, int64(limit))
	if end := seq + int64(len(entries)); err == nil && len(entries) > 0 && len(entries) < limit &&
		end < last {
		err = fmt.Errorf("%w: entry %d is missing", ErrCorrupt, end+1)
	}
	if errors.Is(err, ErrCorrupt) {
		entries, err = salvage(ctx, db, db.damage, id, seq, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("read the log of session %s after %d: %w", id, seq, err)
	}
	return entries, nil
}

// query implements [tables].
func (db *Postgres) query(ctx context.Context, each func(record) error, text string,
	args ...any) error {
	came := false
	once := func(rows record) error { came = true; return each(rows) }
	err := db.queryOnce(ctx, once, text, args...)
	if errors.Is(err, ErrAway) && !came {
		db.pool.Reset()
		err = db.queryOnce(ctx, once, text, args...)
	}
	return err
}

func (db *Postgres) queryOnce(ctx context.Context, each func(record) error, text string,
	args ...any) error {
	rows, err := db.pool.Query(ctx, text, args...)
	if err != nil {
		return refused(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return refused(rows.Err())
}

// Writable implements [sessions.Log]: the database is asked whether it takes what is written, and
// for more than no bytes it is tried: twice as many, for the words and indexes of an event, are
// written into a temporary table, whose room the disk has back at the end of the transaction.
func (db *Postgres) Writable(ctx context.Context, size int) error {
	ctx, cancel := context.WithTimeout(ctx, db.cfg.Times.attempt()/2)
	defer cancel()
	if err := db.held(); err != nil {
		return err
	}
	var reads bool
	if err := db.pool.QueryRow(ctx,
		`SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean`).Scan(
		&reads); err != nil {
		return refused(err)
	}
	if reads {
		return ErrReadOnly
	}
	if size > 0 {
		return db.tryWrite(ctx, 2*size)
	}
	return nil
}

// tryWrite writes so many bytes and takes them back.
func (db *Postgres) tryWrite(ctx context.Context, size int) error {
	tx, err := db.pool.Begin(ctx)
	if err != nil {
		return refused(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	const row = 1000
	_, err = tx.Exec(ctx, fmt.Sprintf(`CREATE TEMPORARY TABLE tried (filler text);
		INSERT INTO tried SELECT repeat('x', %d) FROM generate_series(0, %d)`, row, size/row), pgx.QueryExecModeSimpleProtocol)
	return refused(err)
}

// sessions implements [tables].
func (db *Postgres) sessions(ctx context.Context, text string, args ...any) ([]row, error) {
	return rowsOf(ctx, db, db.damage, text, args...)
}

// entry implements [tables].
func (db *Postgres) entry(key, seq int64) (text string, args []any) {
	return `SELECT json, coalesce(sum, -1) FROM events WHERE session = $1 AND seq = $2`,
		[]any{key, seq}
}

// parameter implements [tables].
func (db *Postgres) parameter(text string) any { return []byte(text) }

// Mark implements [sessions.Catalog].
func (db *Postgres) Mark(ctx context.Context, id eventlog.ID, m sessions.Mark) error {
	var deleted *int64
	if m.DeletedAt != nil {
		n := nanos(*m.DeletedAt)
		deleted = &n
	}
	n, err := db.exec(ctx,
		`UPDATE sessions SET pinned = coalesce($2, pinned), deleted_at = coalesce($3, deleted_at), touched = now()
		WHERE id = $1 AND owner = $4`, []byte(id), m.Pinned, deleted, db.life.me)
	if err = db.owned(ctx, id, n, err); err != nil {
		return fmt.Errorf("mark session %s: %w", id, err)
	}
	return nil
}

// Delete implements [sessions.Catalog].
func (db *Postgres) Delete(ctx context.Context, id eventlog.ID) error {
	n, err := db.exec(ctx, `DELETE FROM sessions WHERE id = $1 AND owner = $2`, []byte(id), db.life.me)
	if err = db.owned(ctx, id, n, err); err != nil && !errors.Is(err, eventlog.ErrNotFound) {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	db.life.mu.Lock()
	delete(db.life.acknowledged, id)
	db.life.mu.Unlock()
	return db.damage.forget(id)
}

// SaveDrafts implements [eventlog.Drafts]; a session that is not in the log has nowhere to keep
// them, which is eventlog.ErrNotFound.
func (db *Postgres) SaveDrafts(ctx context.Context, id eventlog.ID, drafts []eventlog.Draft) error {
	b, err := json.Marshal(drafts)
	switch {
	case err != nil:
	case len(drafts) == 0:
		_, err = db.exec(ctx,
			`DELETE FROM drafts WHERE session = (SELECT key FROM sessions WHERE id = $1 AND owner = $2)`,
			[]byte(id), db.life.me)
	default:
		var n int64
		n, err = db.exec(ctx,
			`INSERT INTO drafts (session, json) SELECT key, $2 FROM sessions WHERE id = $1 AND owner = $3
			ON CONFLICT (session) DO UPDATE SET json = excluded.json`, []byte(id), b, db.life.me)
		err = db.owned(ctx, id, n, err)
	}
	if err != nil {
		return fmt.Errorf("save the drafts of session %s: %w", id, err)
	}
	return nil
}

// Size is how many bytes the database takes.
func (db *Postgres) Size() (size int64, err error) {
	ctx, cancel := context.WithTimeout(db.open, db.cfg.Times.attempt()/2)
	defer cancel()
	err = db.pool.QueryRow(ctx, `SELECT pg_database_size(current_database())`).Scan(&size)
	return size, refused(err)
}

// Vacuum does nothing: PostgreSQL gives room back by itself.
func (db *Postgres) Vacuum(context.Context) error { return nil }

// Close gives the sessions back, refuses what waits with [ErrClosed] and closes the connections. It
// may be called twice.
func (db *Postgres) Close() error {
	if db.open.Err() != nil {
		return nil
	}
	err := db.Leave()
	db.stop()
	<-db.done
	db.pool.Close()
	return err
}

// pgKinds are the errors of this package for the classes and codes of PostgreSQL (its appendix A).
var pgKinds = map[string]error{
	"53100": ErrFull, "25006": ErrReadOnly, "58": ErrDisk, "XX001": ErrCorrupt, "XX002": ErrCorrupt,
	"53": ErrAway, // too many connections, or no memory
	"28": fmt.Errorf("%w: it does not know the user, or the password is wrong", ErrRefused),
	"3D": fmt.Errorf("%w: there is no such database; make it with createdb", ErrRefused),
	"42": fmt.Errorf("%w: the user may not make or use webchat's tables there", ErrRefused),
}

// refused turns an error of the driver into one of this package. The text of one that may quote
// the URL is left out.
func refused(err error) error {
	var e *pgconn.PgError
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &e):
		// it ends, or ended our connection
		if strings.HasPrefix(e.Code, "57P") || strings.HasPrefix(e.Code, "08") {
			return &lost{sent: true}
		}
		for n := len(e.Code); n >= 2; n-- {
			if kind := pgKinds[e.Code[:n]]; kind != nil {
				return fmt.Errorf("%w (%s)", kind, e.Code)
			}
		}
		return fmt.Errorf("the database failed: %s (%s)", e.Message, e.Code)
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return &lost{sent: !connecting && !pgconn.SafeToRetry(err)}
}

// lost is a connection that failed.
type lost struct{ sent bool } // a statement may have been done

func (l *lost) Error() string { return ErrAway.Error() }
func (l *lost) Unwrap() error { return ErrAway }

// mayBeDone reports whether a statement that failed may have been committed all the same.
func mayBeDone(err error) bool {
	l, ok := errors.AsType[*lost](err)
	return ok && l.sent
}

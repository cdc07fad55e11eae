package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

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

var errAddress = fmt.Errorf(
	"%w: its address is not one that libpq reads, such as postgres://user:password@host/database",
	ErrRefused)

// PostgresConfig says which database keeps the sessions, and for whom.
type PostgresConfig struct {
	URL string // as libpq reads it; it may hold the password
	// Slot names the data folder: a program that was killed and is started again with the same slot
	// need not wait until its lease ends. Two that run at once never have the same.
	Slot    string
	PeerURL string      // where the other replicas reach this one
	Version string      // of the program
	Times   Times       // zero: the usual ones
	Lost    func(error) // called once, when others may have the sessions; nil: it is not reported
	Logger  *slog.Logger

	unfenced bool // as with the build tag nofence, for tests
}

// oldestServer is the oldest PostgreSQL that is supported.
const oldestServer = 14

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

// postgresSteps bring a database from nothing to version 1, and from each version to the next.
// Those that were released are never changed.
var postgresSteps = []string{`
	CREATE TABLE replicas (
		id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- never used again
		slot text NOT NULL,
		ends timestamptz NOT NULL
	);
	CREATE SEQUENCE activities;
	CREATE TABLE sessions (
		key         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		id          bytea NOT NULL UNIQUE,
		user_id     text NOT NULL DEFAULT '',
		backend     bytea NOT NULL,
		model       bytea NOT NULL,
		title       bytea NOT NULL,
		folded      text NOT NULL,              -- the title as it is searched
		workspace   bytea NOT NULL,
		created_at  bigint NOT NULL,            -- times are nanoseconds since 1970, 0 for none
		updated_at  bigint NOT NULL,
		deleted_at  bigint NOT NULL,
		pinned      boolean NOT NULL,
		activity    bigint NOT NULL,            -- the order of the list
		status      text NOT NULL,
		failed      boolean NOT NULL,
		pending     bigint NOT NULL,
		unfinished  boolean NOT NULL,
		last_seq    bigint NOT NULL CHECK (last_seq > 0),
		rest        bytea NOT NULL              -- JSON: what nothing is selected by
	) WITH (fillfactor = 70);
	CREATE INDEX sessions_present    ON sessions (pinned DESC, activity DESC, key DESC) WHERE deleted_at = 0;
	CREATE INDEX sessions_unfinished ON sessions (key) WHERE unfinished;
	CREATE INDEX sessions_deleted    ON sessions (key) WHERE deleted_at <> 0;
	CREATE INDEX sessions_workspaces ON sessions (workspace) WHERE deleted_at = 0;
	CREATE TABLE events (
		session bigint NOT NULL REFERENCES sessions ON DELETE CASCADE,
		seq     bigint NOT NULL CHECK (seq > 0),
		json    bytea NOT NULL,
		words   tsvector,
		PRIMARY KEY (session, seq)
	);
	CREATE INDEX events_words ON events USING gin (words);
	CREATE TABLE drafts (                       -- messages in flight
		session bigint PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
		json    bytea NOT NULL
	);`, `
	ALTER TABLE replicas ADD url text NOT NULL DEFAULT '', ADD version text NOT NULL DEFAULT '', ADD leaves boolean NOT NULL DEFAULT false;
	ALTER TABLE sessions ADD owner bigint, ADD touched timestamptz NOT NULL DEFAULT now();
	UPDATE sessions SET owner = coalesce((SELECT max(id) FROM replicas WHERE ends > now()), 0); -- of the step before
	ALTER TABLE sessions ALTER owner SET NOT NULL, ALTER touched DROP DEFAULT;
	CREATE INDEX sessions_owner ON sessions (owner);
	ALTER TABLE drafts SET UNLOGGED;            -- a crash of the server may lose them
	CREATE TABLE documents (
		name    text PRIMARY KEY,
		version bigint NOT NULL,
		body    bytea NOT NULL
	);`, `
	ALTER TABLE events ADD sum bigint;          -- of json ([sumOf]); NULL in rows of the schemas before`}

// OpenPostgres opens the database, makes its tables or brings them up to date, and begins the life
// of a replica. The error wraps [ErrAway], [ErrRefused], [ErrVersion] or [ErrReadOnly], and never
// names the URL or what is in it.
func OpenPostgres(ctx context.Context, c PostgresConfig) (*Postgres, error) {
	db, err := connect(c)
	if err != nil {
		return nil, err
	}
	db.documents.known = map[string]text{}
	err = db.begin(ctx)
	if err == nil {
		err = db.beat() // which other replicas live
	}
	if err != nil {
		db.stop()
		db.pool.Close()
		return nil, err
	}
	go db.renew()
	return db, nil
}

// connect returns a store that has not asked anything yet.
func connect(c PostgresConfig) (*Postgres, error) {
	pc, err := pgxpool.ParseConfig(c.URL)
	if err != nil { // its text may quote the URL
		return nil, errAddress
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	pc.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	c.Times, c.unfenced = c.Times.complete(), c.unfenced || !fenced
	pc.ConnConfig.ConnectTimeout = c.Times.attempt() / 2
	pc.MaxConns = max(pc.MaxConns, 8)
	db := &Postgres{
		cfg:    c,
		done:   make(chan struct{}),
		damage: openDamage(""),
		life:   life{acknowledged: map[eventlog.ID]written{}},
	}
	db.life.cfg = &db.cfg
	db.documents, db.reading = &documents{db: db}, reading{func() tables { return db }}
	db.open, db.stop = context.WithCancel(context.Background())
	if db.pool, err = pgxpool.NewWithConfig(db.open, pc); err != nil {
		return nil, refused(err)
	}
	return db, nil
}

// begin looks at the server, makes the tables and joins the replicas, all in one transaction. The
// lock lets programs that start at once do so one after the other.
func (db *Postgres) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*db.cfg.Times.attempt())
	defer cancel()
	sent := time.Now()
	tx, err := db.pool.Begin(ctx)
	if err != nil {
		return refused(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // nothing after a commit
	var number string
	var reads bool
	err = tx.QueryRow(ctx,
		`SELECT current_setting('server_version_num'), pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean`).
		Scan(&number, &reads)
	if err != nil {
		return refused(err)
	}
	if n, err := strconv.Atoi(number); err != nil || n/10_000 < oldestServer {
		return fmt.Errorf("%w: it is PostgreSQL %d, and webchat needs %d or later", ErrRefused, n/10_000,
			oldestServer)
	}
	if reads {
		return fmt.Errorf("%w: it is a standby, or read only; name the primary", ErrReadOnly)
	}
	// 0x77636874, "wcht"
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(2003200116)`); err != nil {
		return refused(err)
	}
	if err := migratePostgres(ctx, tx); err != nil {
		return err
	}
	if err := db.join(ctx, tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return refused(err)
	}
	db.life.until = sent.Add(db.cfg.Times.GiveUp)
	return nil
}

// migratePostgres applies the steps the database has not had.
func migratePostgres(ctx context.Context, tx pgx.Tx) error {
	exec := func(text string) error {
		_, err := tx.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol) // it takes several statements
		return refused(err)
	}
	if err := exec(
		`CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)`); err != nil {
		return err
	}
	var version int
	if err := tx.QueryRow(ctx,
		`SELECT coalesce(max(version), 0) FROM schema_version`).Scan(&version); err != nil {
		return refused(err)
	}
	last := len(postgresSteps)
	if version > last {
		return fmt.Errorf(
			"%w: the database has schema %d and this program knows up to %d; use the newer program or "+
				"another database",
			ErrVersion, version, last)
	}
	for _, step := range postgresSteps[version:] {
		if err := exec(step); err != nil {
			return fmt.Errorf("bring the database to schema %d: %w", last, err)
		}
	}
	if version < last {
		return exec(fmt.Sprintf(`DELETE FROM schema_version; INSERT INTO schema_version VALUES (%d)`,
			last))
	}
	return nil
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

// arguments are those of a statement that is made for them.
type arguments []any

// add returns what stands for a value in the statement.
func (a *arguments) add(value any) string {
	*a = append(*a, value)
	return "$" + strconv.Itoa(len(*a))
}

// written is what the store knows of a session's row as it wrote it.
type written struct {
	last                             int64 // the sequence it ends with
	backend, model, title, workspace string
	created                          int64
}

func (r row) written(last int64) written {
	return written{last, r.Backend, r.Model, r.Title, r.Workspace, nanos(r.CreatedAt)}
}

// searched is a text as PostgreSQL's text takes it.
func searched(s string) string { return strings.ReplaceAll(caseless(s), "\x00", "\uFFFD") }

// appending is the statement that writes entries and the row they leave, if no other replica took
// the session, or wrote. Of the row it leaves out what is there already.
func (db *Postgres) appending(r row, entries []event.Entry) (text string, args arguments) {
	last := entries[0].Seq - 1
	var names, values []string
	set := func(name, value string) { names, values = append(names, name), append(values, value) }
	set("updated_at", args.add(nanos(r.UpdatedAt)))
	set("status", args.add(string(r.Status)))
	set("pending", args.add(int64(r.Pending)))
	set("unfinished", args.add(r.Unfinished()))
	set("failed", args.add(r.Open.Failed))
	set("last_seq", args.add(r.LastSeq))
	set("rest", args.add(r.rest))
	set("touched", `now()`)
	if last == 0 || r.Open.Active > last {
		set("activity", `nextval('activities')`)
	}
	db.life.mu.Lock()
	was := db.life.acknowledged[r.ID]
	db.life.mu.Unlock()
	if last == 0 || was != r.written(last) {
		set("backend", args.add([]byte(r.Backend)))
		set("model", args.add([]byte(r.Model)))
		set("title", args.add([]byte(r.Title)))
		set("folded", args.add(searched(r.Title)))
		set("workspace", args.add([]byte(r.Workspace)))
		set("created_at", args.add(nanos(r.CreatedAt)))
	}
	if last == 0 {
		set("id", args.add([]byte(r.ID)))
		set("pinned", args.add(r.Pinned))
		set("deleted_at", args.add(nanos(r.DeletedAt)))
		set("user_id", args.add(r.User))
		set("owner", args.add(db.life.me))
		text = `INSERT INTO sessions (` + strings.Join(names, ", ") + `) VALUES (` +
			strings.Join(values, ", ") + `) ON CONFLICT (id) DO NOTHING`
	} else {
		text = `UPDATE sessions SET (` + strings.Join(names, ", ") + `) = ROW (` +
			strings.Join(values, ", ") + `) WHERE id = ` + args.add([]byte(r.ID))
		if !db.cfg.unfenced {
			text += ` AND last_seq = ` + args.add(last) + ` AND owner = ` + args.add(db.life.me)
		}
	}
	bodies, words := make([][]byte, len(entries)), make([]*string, len(entries))
	sums := make([]int64, len(entries))
	for i, e := range entries {
		bodies[i], sums[i] = e.JSON, sumOf(e.JSON)
	}
	for _, w := range wordsOf(entries) {
		text := lexemes(w.words)
		words[w.seq-last-1] = &text
	}
	text = `WITH s AS (` + text + ` RETURNING key) INSERT INTO events (session, seq, json, sum, words)
		SELECT key, generate_series(` + args.add(last+1) + `, ` + args.add(r.LastSeq) + `), unnest(` + args.add(bodies) + `), unnest(` + args.add(sums) + `),
			array_to_tsvector(string_to_array(unnest(` + args.add(words) + `), ' ')) FROM s`
	if db.cfg.unfenced { // whatever is there
		text += ` ON CONFLICT (session, seq) DO UPDATE SET json = excluded.json, sum = excluded.sum, words = excluded.words`
	}
	return text, args
}

// Append implements [eventlog.Store]. It returns what is true: where a reply was lost it asks until
// it knows, or until the store is closed.
func (db *Postgres) Append(ctx context.Context, id eventlog.ID, entries []event.Entry,
	s eventlog.Summary) error {
	if len(entries) == 0 {
		return nil
	}
	r, err := rowAfter(id, entries, s)
	if err = errors.Join(ctx.Err(), err); err == nil {
		err = db.append(r, entries)
	}
	if err != nil {
		return fmt.Errorf("append to the log of session %s: %w", id, err)
	}
	return nil
}

// append writes entries in one statement. No caller's context ends it: a statement that was sent
// cannot be withdrawn.
func (db *Postgres) append(r row, entries []event.Entry) error {
	statement, args := db.appending(r, entries)
	for unsure := false; ; {
		if err := db.held(); err != nil && !unsure {
			return err
		}
		n, err := db.exec(db.open, statement, args...)
		switch {
		case db.open.Err() != nil:
			return ErrClosed
		case err == nil && n > 0:
			return db.acknowledge(r)
		case err == nil:
			return db.notNext(r, entries, unsure)
		case !mayBeDone(err) && !unsure:
			return err
		}
		// The statement may have been committed: the same again shows it, or does it.
		unsure = true
		select {
		case <-time.After(200 * time.Millisecond):
		case <-db.open.Done():
			return ErrClosed
		}
	}
}

// acknowledge notes what was written. It fails if others may have what this replica had: what was
// written stays, and nothing is to follow from it here.
func (l *life) acknowledge(r row) error {
	l.mu.Lock()
	l.acknowledged[r.ID] = r.written(r.LastSeq)
	l.mu.Unlock()
	return l.held()
}

// notNext says why nothing was appended. Where an earlier attempt is not known to have failed, it
// may be because that has succeeded: then the log ends with our bytes.
func (db *Postgres) notNext(r row, entries []event.Entry, unsure bool) error {
	final := entries[len(entries)-1]
	last, there, err := db.look(db.open, r.ID, final.Seq)
	if err != nil && !errors.Is(err, eventlog.ErrNotFound) {
		return err
	}
	if unsure && bytes.Equal(there, final.JSON) {
		return db.acknowledge(r)
	}
	db.life.mu.Lock()
	lost := db.life.acknowledged[r.ID].last - last
	db.life.mu.Unlock()
	if err == nil && lost > 0 {
		db.end(fmt.Sprintf(
			"the database lost %d events of session %s that were saved, as a standby does that no commit "+
				"waits for", lost, r.ID))
		return ErrFenced
	}
	return fmt.Errorf("%w: the log does not end at %d", ErrSequence, entries[0].Seq-1)
}

// Bounds of what PostgreSQL keeps of the words of one event.
const (
	maxLexeme   = 2046
	maxTSVector = 900_000 // bytes; it refuses 1 MiB
)

// lexemes leaves out of words, with spaces between, what PostgreSQL would refuse an event for.
func lexemes(words string) string {
	if len(words) < maxLexeme {
		return strings.TrimSuffix(words, " ")
	}
	var b strings.Builder
	for w := range strings.FieldsSeq(words) {
		if b.Len()+len(w) > maxTSVector {
			break
		}
		if len(w) <= maxLexeme {
			b.WriteString(w)
			b.WriteByte(' ')
		}
	}
	return strings.TrimSuffix(b.String(), " ")
}

// tsquery writes words as PostgreSQL reads them.
func tsquery(words []string, prefix bool) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(w) + "'"
	}
	text := strings.Join(quoted, " & ")
	if prefix {
		text += ":*"
	}
	return text
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

// pick implements [tables]. Of unfinished and deleted sessions there are none that another living
// replica has.
func (db *Postgres) pick(p page, hits map[int64]int64) (string, []any) {
	var args arguments
	paths := func(all []string) (list [][]byte) {
		for _, name := range all {
			list = append(list, []byte(name))
		}
		return list
	}
	where, order := `deleted_at = 0`, `pinned DESC, activity DESC, key DESC`
	switch p.kind {
	case sessions.QueryUnfinished:
		where, order = `unfinished`, `key`
	case sessions.QueryDeleted:
		where, order = `deleted_at <> 0`, `key`
	}
	if p.kind != sessions.QueryPresent {
		where += ` AND (owner = ` + args.add(db.life.me) + ` OR NOT ` + alive + `owner))`
	}
	if p.User != "" {
		where += ` AND user_id = ` + args.add(p.User)
	}
	if len(p.Workspaces) > 0 {
		where += ` AND workspace = ANY (` + args.add(paths(p.Workspaces)) + `)`
	}
	if len(p.Hidden) > 0 {
		where += ` AND workspace <> ALL (` + args.add(paths(p.Hidden)) + `)`
	}
	if p.Begun {
		where += ` AND last_seq > 1`
	}
	where += inState(p.State, &args)
	switch {
	case p.from == nil:
	case p.kind == sessions.QueryPresent:
		where += ` AND (pinned, activity, key) < (` + args.add(p.from.Pinned) + `, ` +
			args.add(p.from.Activity) + `, ` + args.add(p.from.Key) + `)`
	default:
		where += ` AND key > ` + args.add(p.from.Key)
	}
	if len(p.words) > 0 {
		titled := `true`
		for _, w := range p.words {
			titled += ` AND strpos(folded, ` + args.add(searched(w)) + `) > 0`
		}
		where += ` AND (` + titled + ` OR key = ANY (` + args.add(slices.Collect(maps.Keys(hits))) + `))`
	}
	return `SELECT ` + columns + ` FROM sessions WHERE ` + where + ` ORDER BY ` + order + ` LIMIT ` +
		args.add(int64(p.limit+1)), args
}

// inState is what a state asks of a row.
func inState(state sessions.State, args *arguments) string {
	switch state {
	case "":
		return ""
	case sessions.Active:
		return ` AND status <> 'idle'`
	case sessions.Resting:
		return ` AND status = 'idle' AND NOT pinned`
	case sessions.Pinned:
		return ` AND pinned`
	case sessions.Failed:
		return ` AND status = 'idle' AND failed`
	}
	return ` AND status = ` + args.add(string(state))
}

// rareEvents is how many events words are in at most whose matches are all read by the index of
// words.
const rareEvents = "2000"

// searchPostgres finds words: those of few events by their index, and those of many from the newest
// session on, until there are enough. PostgreSQL does not choose well between the two by itself: it
// knows how many events the common words are in, and takes a word it does not know for one of many.
const (
	matching = `FROM events WHERE words @@ $1::text::tsquery
		AND ($3 = '' OR session IN (SELECT key FROM sessions WHERE user_id = $3))`
	newest         = ` GROUP BY session ORDER BY session DESC LIMIT $2)`
	searchPostgres = `WITH matches AS MATERIALIZED (SELECT session, seq ` + matching + ` LIMIT ` +
		rareEvents + ` + 1)
		(SELECT session, max(seq) FROM matches WHERE (SELECT count(*) FROM matches) <= ` + rareEvents + newest + ` UNION ALL
		(SELECT session, max(seq) ` + matching + ` AND (SELECT count(*) FROM matches) > ` + rareEvents + newest
)

// search implements [tables], with the event as its sequence: whole words first, then those that
// begin like the last one.
func (db *Postgres) search(ctx context.Context, p page) (map[int64]int64, error) {
	words, prefix := p.finder.Terms()
	hits := map[int64]int64{}
	if len(words) == 0 {
		return hits, nil
	}
	pass := func(prefix bool) error {
		return db.query(ctx, func(rows record) error {
			var session, seq int64
			err := rows.Scan(&session, &seq)
			if err == nil && hits[session] == 0 {
				hits[session] = seq
			}
			return err
		}, searchPostgres, tsquery(words, prefix), int64(maxFound), p.User)
	}
	err := pass(false)
	if err == nil && prefix && len(hits) < enoughFound {
		err = pass(true)
	}
	return hits, err
}

// found implements [tables].
func (db *Postgres) found(hits map[int64]int64) (text string, args []any) {
	var keys, seqs []int64
	for session, seq := range hits {
		keys, seqs = append(keys, session), append(seqs, seq)
	}
	return `SELECT e.session, e.seq, e.json, coalesce(e.sum, -1) FROM unnest($1::bigint[], $2::bigint[]) AS h (session, seq)
		JOIN events e ON e.session = h.session AND e.seq = h.seq`, []any{keys, seqs}
}

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

// Engine is what a database says of itself.
type Engine struct {
	Version  string // PostgreSQL's
	Database string
	Schema   int // of webchat's tables; 0: there are none yet
	Standbys int // that follow it, as far as the user may know
	Synced   int // of those, how many a commit waits for
	Replicas []Replica
}

// Replica is one that lives.
type Replica struct {
	sessions.Peer
	Left time.Duration // of its lease
}

// LookAt asks a database, without taking the sessions in it or changing anything. Its errors are
// those of [OpenPostgres].
func LookAt(ctx context.Context, url string) (e Engine, err error) {
	ctx, cancel := context.WithTimeout(ctx, Times{}.complete().attempt())
	defer cancel()
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return e, errAddress
	}
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return e, refused(err)
	}
	defer conn.Close(ctx)
	var made bool
	err = conn.QueryRow(ctx,
		`SELECT current_setting('server_version'), current_database(), to_regclass('schema_version') IS NOT NULL,
		(SELECT count(*) FROM pg_stat_replication), (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))`).
		Scan(&e.Version, &e.Database, &made, &e.Standbys, &e.Synced)
	if err != nil || !made {
		return e, refused(err)
	}
	if err := conn.QueryRow(ctx,
		`SELECT coalesce(max(version), 0) FROM schema_version`).Scan(
		&e.Schema); err != nil || e.Schema < 2 {
		return e, refused(err)
	}
	rows, err := conn.Query(ctx,
		`SELECT id, url, version, extract(epoch FROM ends - now())::float8 FROM replicas WHERE ends > now() ORDER BY id`)
	if err != nil {
		return e, refused(err)
	}
	e.Replicas, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Replica, err error) {
		var left float64
		err = row.Scan(&r.Number, &r.URL, &r.Version, &left)
		r.Left = time.Duration(left * float64(time.Second))
		return r, err
	})
	return e, refused(err)
}

package store

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webchat/internal/eventlog"
	"webchat/internal/sessions"
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

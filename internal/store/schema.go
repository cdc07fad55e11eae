package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// applicationID marks a SQLite file as ours: "wcht".
const applicationID = 0x77636874

// migrations bring a file from each version to the next; the version of a file
// is how many it has had (PRAGMA user_version). Those that were released are
// never changed.
//
// events.at is the session's key times 2^32 plus the sequence, so that a log
// lies together in the file, in its order, and is found without an index. Keys
// are never used twice.
var migrations = []string{
	`CREATE TABLE sessions (
		key         INTEGER PRIMARY KEY AUTOINCREMENT,
		id          TEXT NOT NULL UNIQUE,
		backend     TEXT NOT NULL,
		model       TEXT NOT NULL,
		title       TEXT NOT NULL,
		folded      TEXT NOT NULL,              -- the title as it is searched
		created_at  INTEGER NOT NULL,           -- times are nanoseconds since 1970, 0 for none
		updated_at  INTEGER NOT NULL,
		deleted_at  INTEGER NOT NULL DEFAULT 0,
		pinned      INTEGER NOT NULL DEFAULT 0,
		status      TEXT NOT NULL,
		pending     INTEGER NOT NULL,
		unfinished  INTEGER NOT NULL,
		last_seq    INTEGER NOT NULL CHECK (last_seq > 0),
		rest        TEXT NOT NULL               -- JSON: what nothing is selected by
	) STRICT;
	CREATE INDEX sessions_present    ON sessions (pinned DESC, updated_at DESC, key DESC) WHERE deleted_at = 0;
	CREATE INDEX sessions_unfinished ON sessions (key) WHERE unfinished = 1;
	CREATE INDEX sessions_deleted    ON sessions (key) WHERE deleted_at <> 0;

	CREATE TABLE events (
		at   INTEGER PRIMARY KEY CHECK (at & 0xffffffff > 0),
		json BLOB NOT NULL
	) STRICT;
	CREATE TRIGGER events_without_holes BEFORE INSERT ON events
		WHEN NEW.at & 0xffffffff <> 1 AND NOT EXISTS (SELECT 1 FROM events WHERE at = NEW.at - 1)
		BEGIN SELECT RAISE(ABORT, 'the entry before it is not in the log'); END;
	CREATE TRIGGER events_stay BEFORE UPDATE ON events
		BEGIN SELECT RAISE(ABORT, 'a log is only appended to'); END;

	CREATE TABLE drafts (                       -- messages in flight
		session INTEGER PRIMARY KEY,
		json    BLOB NOT NULL
	) STRICT;
	CREATE TABLE purges (                       -- deleted sessions whose events are not all gone yet
		session INTEGER PRIMARY KEY
	) STRICT;`,

	// The words of what can be searched, by events.at. The text itself stays in
	// the log alone; words come from eventlog.Words, which knows the alphabets, so
	// that this tokenizer has nothing to decide.
	`CREATE VIRTUAL TABLE found USING fts5 (words, content = '', contentless_delete = 1, detail = none, prefix = 3, tokenize = 'ascii');
	CREATE TABLE unsearched (                   -- sessions whose older events are not in found yet
		session INTEGER PRIMARY KEY,
		after   INTEGER NOT NULL,           -- the sequence up to which they are
		last    INTEGER NOT NULL            -- and up to which they have to be
	) STRICT;
	INSERT INTO unsearched SELECT key, 0, last_seq FROM sessions;
	CREATE INDEX sessions_titles ON sessions (folded) WHERE deleted_at = 0;`,

	// Where a session works. Older logs name the folder it began in; a log that is
	// damaged there says nothing.
	`ALTER TABLE sessions ADD COLUMN workspace TEXT NOT NULL DEFAULT '';
	UPDATE sessions SET workspace = coalesce((SELECT json_extract(text, '$.data.context.cwd')
		FROM (SELECT CAST(json AS TEXT) AS text FROM events WHERE at = key << 32 | 1) WHERE json_valid(text)), '');
	CREATE INDEX sessions_workspaces ON sessions (workspace, pinned DESC, updated_at DESC, key DESC, last_seq, deleted_at) WHERE deleted_at = 0;
	CREATE INDEX sessions_active     ON sessions (status) WHERE deleted_at = 0 AND status <> 'idle';`,

	// The order of the list: clocks are set back, so no time can be it.
	`ALTER TABLE sessions ADD COLUMN activity INTEGER NOT NULL DEFAULT 0; -- counts what was activity in any session
	UPDATE sessions SET activity = n FROM (SELECT key AS k, row_number() OVER (ORDER BY updated_at, key) AS n FROM sessions) WHERE key = k;
	DROP INDEX sessions_present;
	DROP INDEX sessions_workspaces;
	CREATE INDEX sessions_present    ON sessions (pinned DESC, activity DESC, key DESC) WHERE deleted_at = 0;
	CREATE INDEX sessions_workspaces ON sessions (workspace, pinned DESC, activity DESC, key DESC, last_seq, deleted_at, updated_at) WHERE deleted_at = 0;
	CREATE INDEX sessions_activity   ON sessions (activity);`,
}

// checkHeader refuses, before SQLite touches it, a file whose first page says
// that it is none or is of a newer program. Offsets are those of the SQLite
// file format: 18 and 19 are the versions for writing and reading, 44 the format of
// the schema, 60 the user version, 68 the application id.
func checkHeader(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fileError(err)
	}
	defer f.Close()
	head := make([]byte, 100)
	switch _, err := io.ReadFull(f, head); {
	case errors.Is(err, io.EOF):
		return checkNoJournal(path) // empty: as good as none
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it is too short; move it away to start anew", ErrCorrupt)
	case err != nil:
		return fileError(err)
	}
	if !strings.HasPrefix(string(head), "SQLite format 3\x00") {
		return fmt.Errorf("%w: it is not an SQLite file; move it away to start anew", ErrCorrupt)
	}
	// SQLite takes the first two for a file that must not be written, and the third for an error of the program's.
	if head[18] > 2 || head[19] > 2 || binary.BigEndian.Uint32(head[44:]) > 4 {
		return fmt.Errorf("%w: its header names a format that does not exist; move it away to start anew", ErrCorrupt)
	}
	return checkVersion(int(binary.BigEndian.Uint32(head[60:])), int(binary.BigEndian.Uint32(head[68:])), len(migrations))
}

// checkNoJournal refuses a journal whose file is empty or not there: SQLite would remove it.
func checkNoJournal(path string) error {
	if fi, err := os.Stat(path + "-wal"); err == nil && fi.Size() > 0 {
		return fmt.Errorf("%w: it is empty, and what was saved last is in %s; move both away to start anew", ErrCorrupt, path+"-wal")
	}
	return nil
}

// checkVersion judges what a file says of itself.
func checkVersion(version, application, known int) error {
	switch {
	case application != applicationID && (application != 0 || version != 0):
		return fmt.Errorf("%w: it belongs to another program; move it away or choose another folder", ErrCorrupt)
	case version > known:
		return fmt.Errorf("%w: its schema is version %d and this program knows up to %d; use the newer program or another folder",
			ErrNewer, version, known)
	}
	return nil
}

// migrate applies the steps the file has not had, each in its transaction.
func migrate(ctx context.Context, conn *sql.Conn, steps []string) error {
	for {
		done, err := migrateOne(ctx, conn, steps)
		if done || err != nil {
			return err
		}
	}
}

func migrateOne(ctx context.Context, conn *sql.Conn, steps []string) (done bool, err error) {
	// Immediate: of two programs that start at once one waits for the other. It
	// also says now, not at the first event, that a file cannot be written.
	if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return false, ours(err)
	}
	defer func() {
		if err != nil || done {
			_, rollback := conn.ExecContext(context.Background(), `ROLLBACK`)
			err = errors.Join(err, ours(rollback))
		}
	}()
	var version, application int
	if err := conn.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return false, ours(err)
	}
	if err := conn.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&application); err != nil {
		return false, ours(err)
	}
	if err := checkVersion(version, application, len(steps)); err != nil {
		return false, err
	}
	if version == len(steps) {
		return true, nil
	}
	if version == 0 {
		var tables int
		if err := conn.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
			return false, ours(err)
		}
		if tables > 0 {
			return false, checkVersion(1, 0, len(steps))
		}
	}
	step := fmt.Sprintf("%s\nPRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", steps[version], applicationID, version+1)
	if _, err := conn.ExecContext(ctx, step); err != nil {
		return false, fmt.Errorf("bring the file to version %d: %w", version+1, ours(err))
	}
	return false, nil
}

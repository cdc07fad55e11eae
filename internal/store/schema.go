package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// applicationID marks a SQLite file as ours: "wcht".
const applicationID = 0x77636874

// firstVersion is the schema of the first release, as a file has it (PRAGMA user_version). Files of
// the versions before it, of development, are refused.
const firstVersion = 5

// steps bring a file from nothing to firstVersion, and from each version to the next. Those that
// were released are never changed.
//
// events.at is the session's key times 2^32 plus the sequence, so that a log lies together in the
// file, in its order, and is found without an index. Keys are never used twice.
var steps = []string{
	`CREATE TABLE sessions (
		key         INTEGER PRIMARY KEY AUTOINCREMENT,
		id          TEXT NOT NULL UNIQUE,
		backend     TEXT NOT NULL,
		model       TEXT NOT NULL,
		title       TEXT NOT NULL,
		folded      TEXT NOT NULL,              -- the title as it is searched
		workspace   TEXT NOT NULL,
		created_at  INTEGER NOT NULL,           -- times are nanoseconds since 1970, 0 for none
		updated_at  INTEGER NOT NULL,
		deleted_at  INTEGER NOT NULL,
		pinned      INTEGER NOT NULL,
		activity    INTEGER NOT NULL,           -- the order of the list, as clocks are set back: counts what was activity in any session
		status      TEXT NOT NULL,
		pending     INTEGER NOT NULL,
		unfinished  INTEGER NOT NULL,
		last_seq    INTEGER NOT NULL CHECK (last_seq > 0),
		rest        TEXT NOT NULL               -- JSON: what nothing is selected by
	) STRICT;
	CREATE INDEX sessions_present    ON sessions (pinned DESC, activity DESC, key DESC) WHERE deleted_at = 0;
	CREATE INDEX sessions_unfinished ON sessions (key) WHERE unfinished = 1;
	CREATE INDEX sessions_deleted    ON sessions (key) WHERE deleted_at <> 0;
	CREATE INDEX sessions_titles     ON sessions (folded) WHERE deleted_at = 0;
	CREATE INDEX sessions_active     ON sessions (status) WHERE deleted_at = 0 AND status <> 'idle';
	CREATE INDEX sessions_activity   ON sessions (activity);
	CREATE INDEX sessions_workspaces ON sessions
		(workspace, pinned DESC, activity DESC, key DESC, last_seq, deleted_at, updated_at) WHERE deleted_at = 0;

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
	) STRICT;` + wordsTable,
	`ALTER TABLE sessions ADD COLUMN user_id TEXT NOT NULL DEFAULT '';  -- whose it is; empty: of who runs the server
	CREATE INDEX sessions_users ON sessions (user_id, pinned DESC, activity DESC, key DESC) WHERE deleted_at = 0 AND user_id <> '';`,
	`ALTER TABLE events ADD COLUMN sum INTEGER;  -- of json ([sumOf]); NULL in rows of the versions before`,
}

// wordsTable has the words of what can be searched, by events.at. The text itself stays in the log
// alone; words come from eventlog.Words, which knows the alphabets, so that this tokenizer has
// nothing to decide.
const wordsTable = `
	CREATE VIRTUAL TABLE found USING fts5
		(words, content = '', contentless_delete = 1, detail = none, prefix = 3, tokenize = 'ascii');`

// prepareFile makes the folder and the file for this user only, before SQLite would make them for
// more, and looks at the first bytes of one that is there.
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

// checkHeader refuses, before SQLite touches it, a file whose first page says that it is none or is
// of a newer program. Offsets are those of the SQLite file format: 18 and 19 are the versions for
// writing and reading, 44 the format of the schema, 60 the user version, 68 the application id.
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
	// SQLite takes the first two for a file that must not be written, and the third for an error of
	// the program's.
	if head[18] > 2 || head[19] > 2 || binary.BigEndian.Uint32(head[44:]) > 4 {
		return fmt.Errorf("%w: its header names a format that does not exist; move it away to start anew",
			ErrCorrupt)
	}
	return checkVersion(int(binary.BigEndian.Uint32(head[60:])),
		int(binary.BigEndian.Uint32(head[68:])), firstVersion+len(steps)-1)
}

// checkNoJournal refuses a journal whose file is empty or not there: SQLite would remove it.
func checkNoJournal(path string) error {
	if fi, err := os.Stat(path + "-wal"); err == nil && fi.Size() > 0 {
		return fmt.Errorf(
			"%w: it is empty, and what was saved last is in %s; move both away to start anew", ErrCorrupt,
			path+"-wal")
	}
	return nil
}

// checkVersion judges what a file says of itself.
func checkVersion(version, application, known int) error {
	switch {
	case application != applicationID && (application != 0 || version != 0):
		return fmt.Errorf("%w: it belongs to another program; move it away or choose another folder",
			ErrCorrupt)
	case version > known:
		return fmt.Errorf("%w: its schema is version %d and this program knows up to %d; "+
			"use the newer program or another folder", ErrVersion, version, known)
	case version > 0 && version < firstVersion:
		return fmt.Errorf(
			"%w: a development build wrote it (schema %d), and releases begin with schema %d; "+
				"move the file away, or choose another folder with --data-dir, and start again", ErrVersion,
			version, firstVersion)
	}
	return nil
}

// migrate applies the steps the file has not had, all or none of them.
func migrate(ctx context.Context, conn *sql.Conn, steps []string) (err error) {
	// Immediate: of two programs that start at once one waits for the other. It also shows now, not
	// at the first event, that a file cannot be written.
	if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return translated(err)
	}
	end := `ROLLBACK`
	defer func() {
		_, ended := conn.ExecContext(context.Background(), end)
		err = errors.Join(err, translated(ended))
	}()
	var version, application, tables int
	err = conn.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version),
		(SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)`).
		Scan(&version, &application, &tables)
	if err != nil {
		return translated(err)
	}
	if version == 0 && tables > 0 {
		version = 1 // of another program
	}
	last := firstVersion + len(steps) - 1
	if err := checkVersion(version, application, last); err != nil || version == last {
		return err
	}
	for n := max(version, firstVersion-1); n < last; n++ {
		if _, err := conn.ExecContext(ctx, steps[n+1-firstVersion]); err != nil {
			return fmt.Errorf("bring the file to version %d: %w", n+1, damaged(translated(err)))
		}
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d",
		applicationID, last))
	if err == nil {
		end = `COMMIT`
	}
	return translated(err)
}

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// statements are those of the writing connection.
type statements struct {
	begin, commit           *sql.Stmt
	updateSession, newOne   *sql.Stmt
	event, find             *sql.Stmt
	mark, dropOne, remember *sql.Stmt
	saveDrafts, noDrafts    *sql.Stmt
	dropEvents, dropFound   *sql.Stmt
	forgetPurged            *sql.Stmt
	scratch, noScratch      *sql.Stmt

	all []*sql.Stmt
}

func (s *statements) prepare(ctx context.Context, conn *sql.Conn) error {
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&s.begin, `BEGIN IMMEDIATE`},
		{&s.commit, `COMMIT`},
		// The condition on last_seq is what refuses a sequence that is not next.
		{&s.updateSession, `UPDATE sessions SET backend = ?3, model = ?4, title = ?5, folded = ?6, created_at = ?7,
			updated_at = ?8, status = ?9, pending = ?10, unfinished = ?11, last_seq = ?12, rest = ?13, workspace = ?14,
			activity = CASE WHEN ?15 THEN (SELECT max(activity) + 1 FROM sessions) ELSE activity END WHERE id = ?1 AND last_seq = ?2 RETURNING key`},
		{&s.newOne, `INSERT INTO sessions (id, backend, model, title, folded, created_at, updated_at, status, pending,
			unfinished, last_seq, rest, workspace, activity, pinned, deleted_at)
			SELECT ?1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, (SELECT coalesce(max(activity), 0) + 1 FROM sessions), ?16, ?17 WHERE ?2 = 0 RETURNING key`},
		{&s.event, `INSERT INTO events (at, json) VALUES (?, ?)`},
		{&s.find, `INSERT INTO found (rowid, words) VALUES (?, ?)`},
		{&s.mark, `UPDATE sessions SET pinned = coalesce(?2, pinned), deleted_at = coalesce(?3, deleted_at) WHERE id = ?1`},
		{&s.dropOne, `DELETE FROM sessions WHERE id = ? RETURNING key`},
		{&s.remember, `INSERT INTO purges (session) VALUES (?)`},
		{&s.saveDrafts, `INSERT INTO drafts (session, json) SELECT key, ?2 FROM sessions WHERE id = ?1
			ON CONFLICT (session) DO UPDATE SET json = excluded.json`},
		{&s.noDrafts, `DELETE FROM drafts WHERE session = (SELECT key FROM sessions WHERE id = ?)`},
		{&s.dropEvents, `DELETE FROM events WHERE at IN (SELECT at FROM events
			WHERE at BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff ORDER BY at DESC LIMIT ?2)`},
		{&s.dropFound, `DELETE FROM found WHERE rowid IN (SELECT at FROM events
			WHERE at BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff ORDER BY at DESC LIMIT ?2)`},
		// No session has the key 0.
		{&s.scratch, `INSERT INTO drafts (session, json) VALUES (0, zeroblob(?)) ON CONFLICT (session) DO UPDATE SET json = excluded.json`},
		{&s.noScratch, `DELETE FROM drafts WHERE session = 0`},
		{&s.forgetPurged, `DELETE FROM purges WHERE session = ?`},
	} {
		stmt, err := conn.PrepareContext(ctx, p.text)
		if err != nil {
			return err
		}
		*p.stmt = stmt
		s.all = append(s.all, stmt)
	}
	return nil
}

func (s *statements) close() {
	for _, stmt := range s.all {
		stmt.Close() // its connection is closed next; that error is the one told
	}
}

// Append implements [eventlog.Store].
func (db *DB) Append(ctx context.Context, id eventlog.ID, entries []event.Entry, s eventlog.Summary) error {
	if len(entries) == 0 {
		return nil
	}
	err := checkEntries(id, entries, s)
	if err != nil {
		return err
	}
	row, err := rowOf(s)
	if err != nil {
		return err
	}
	words := wordsOf(entries)
	follows := !slices.ContainsFunc(entries, func(e event.Entry) bool { return !event.Relayed(e.Event.Data) })
	err = db.runAs(ctx, last{id, s.LastSeq}, follows, func(ctx context.Context) error {
		key, err := db.putSession(ctx, row, entries[0].Seq-1)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if _, err := db.put.event.ExecContext(ctx, key<<32|e.Seq, e.JSON); err != nil {
				return ours(err)
			}
		}
		return db.putWords(ctx, key, words)
	})
	if err != nil {
		return fmt.Errorf("append to the log of session %s: %w", id, err)
	}
	return nil
}

// putSession writes the row of a session whose last sequence was last and
// returns its key.
func (db *DB) putSession(ctx context.Context, r row, last int64) (key int64, err error) {
	args := r.args(last)
	err = db.put.updateSession.QueryRowContext(ctx, args[:15]...).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) && last == 0 {
		err = db.put.newOne.QueryRowContext(ctx, args...).Scan(&key)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("%w: the log does not end at %d", ErrSequence, last)
	}
	return key, ours(err)
}

// checkEntries refuses what no store may write, before anything is written.
func checkEntries(id eventlog.ID, entries []event.Entry, s eventlog.Summary) error {
	next := entries[0].Seq
	for _, e := range entries {
		switch {
		case e.Seq != next:
			return fmt.Errorf("append to the log of session %s: %w: %d follows %d", id, ErrSequence, e.Seq, next-1)
		case e.Seq < 1 || e.Seq > math.MaxUint32:
			return fmt.Errorf("append to the log of session %s: %w: %d is out of range", id, ErrSequence, e.Seq)
		case e.Event.Ephemeral:
			return fmt.Errorf("append to the log of session %s: %w: %s is not logged", id, eventlog.ErrInvalid, e.Event.Type())
		case len(e.JSON) == 0:
			return fmt.Errorf("append to the log of session %s: %w: entry %d is not encoded", id, eventlog.ErrInvalid, e.Seq)
		}
		next++
	}
	if s.ID != id || s.LastSeq != next-1 {
		return fmt.Errorf("append to the log of session %s: %w: the summary is of session %s up to %d, the entries end at %d",
			id, eventlog.ErrInvalid, s.ID, s.LastSeq, next-1)
	}
	return nil
}

// DefaultEntries is how many entries After returns when no limit is given.
const DefaultEntries = 1000

// After implements [eventlog.Store]. A limit below 1 means [DefaultEntries].
func (db *DB) After(ctx context.Context, id eventlog.ID, seq int64, limit int) ([]event.Entry, error) {
	if limit < 1 {
		limit = DefaultEntries
	}
	if seq = max(seq, 0); seq >= math.MaxUint32 {
		return nil, nil
	}
	entries, err := db.after(ctx, id, seq, limit)
	if err != nil {
		return nil, fmt.Errorf("read the log of session %s after %d: %w", id, seq, err)
	}
	return entries, nil
}

const selectAfter = `SELECT e.at & 0xffffffff, e.json, s.last_seq FROM sessions s CROSS JOIN events e
	WHERE s.id = ?1 AND e.at > (s.key << 32 | ?2) AND e.at <= (s.key << 32 | 0xffffffff) ORDER BY e.at LIMIT ?3`

// after is [DB.After] for a limit and a sequence that make sense.
func (db *DB) after(ctx context.Context, id eventlog.ID, seq int64, limit int) ([]event.Entry, error) {
	entries, err := db.sound(ctx, id, seq, limit)
	if errors.Is(err, ErrCorrupt) {
		return db.salvage(ctx, id, seq, limit)
	}
	return entries, err
}

// sound reads what is not damaged; else the error wraps [ErrCorrupt].
func (db *DB) sound(ctx context.Context, id eventlog.ID, seq int64, limit int) ([]event.Entry, error) {
	rows, err := db.read.QueryContext(ctx, selectAfter, string(id), seq, limit)
	if err != nil {
		return nil, ours(err)
	}
	defer rows.Close()
	var entries []event.Entry
	var last int64
	for rows.Next() {
		var e event.Entry
		if err := rows.Scan(&e.Seq, &e.JSON, &last); err != nil {
			return nil, ours(err)
		}
		// Read in order, so any hole shows here.
		if want := seq + int64(len(entries)) + 1; e.Seq != want {
			return nil, fmt.Errorf("%w: entry %d is missing", ErrCorrupt, want)
		}
		if e.Event, err = event.Unmarshal(e.JSON); err != nil {
			return nil, fmt.Errorf("%w: entry %d: %w", ErrCorrupt, e.Seq, err)
		}
		entries = append(entries, e)
	}
	if err := rows.Err(); err != nil {
		return nil, ours(err)
	}
	if len(entries) == 0 {
		err := db.read.QueryRowContext(ctx, `SELECT last_seq FROM sessions WHERE id = ?`, string(id)).Scan(&last)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, ours(err)
		}
	}
	if end := seq + int64(len(entries)); len(entries) < limit && end < last {
		return nil, fmt.Errorf("%w: entry %d is missing", ErrCorrupt, end+1)
	}
	return entries, nil
}

// Writable implements [sessions.Log]: so many bytes are written and deleted again.
func (db *DB) Writable(ctx context.Context, bytes int) error {
	if db.readOnly {
		return ErrReadOnly
	}
	if bytes <= 0 {
		return errors.Join(db.intact(), db.doubted())
	}
	err := db.run(ctx, func(ctx context.Context) error {
		_, err := db.put.scratch.ExecContext(ctx, bytes)
		return ours(err)
	})
	if err == nil {
		err = db.run(ctx, func(ctx context.Context) error {
			_, err := db.put.noScratch.ExecContext(ctx)
			return ours(err)
		})
	}
	if err != nil {
		return fmt.Errorf("try to write %s: %w", db.path, err)
	}
	return nil
}

// SaveDrafts implements [eventlog.Drafts]; a session that is not in the log has
// nowhere to keep them, which is eventlog.ErrNotFound.
func (db *DB) SaveDrafts(ctx context.Context, id eventlog.ID, drafts []eventlog.Draft) error {
	if len(drafts) == 0 {
		return db.follow(ctx, func(ctx context.Context) error {
			_, err := db.put.noDrafts.ExecContext(ctx, string(id))
			return ours(err)
		})
	}
	b, err := json.Marshal(drafts)
	if err != nil {
		return fmt.Errorf("encode the drafts of session %s: %w", id, err)
	}
	err = db.follow(ctx, func(ctx context.Context) error {
		return one(db.put.saveDrafts.ExecContext(ctx, string(id), b))
	})
	if err != nil {
		return fmt.Errorf("save the drafts of session %s: %w", id, err)
	}
	return nil
}

// LoadDrafts implements [eventlog.Drafts].
func (db *DB) LoadDrafts(ctx context.Context, id eventlog.ID) ([]eventlog.Draft, error) {
	var b []byte
	err := db.read.QueryRowContext(ctx, `SELECT json FROM drafts WHERE session = (SELECT key FROM sessions WHERE id = ?)`, string(id)).Scan(&b)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	var drafts []eventlog.Draft
	if err = ours(err); err == nil {
		err = json.Unmarshal(b, &drafts)
	}
	if err != nil {
		return nil, fmt.Errorf("load the drafts of session %s: %w", id, err)
	}
	return drafts, nil
}

// one makes an error of a statement that found no session.
func one(r sql.Result, err error) error {
	if err != nil {
		return ours(err)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return errors.Join(eventlog.ErrNotFound, err)
	}
	return nil
}

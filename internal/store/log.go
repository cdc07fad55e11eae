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

// The statements of the connection that writes.
const (
	begin  = `BEGIN IMMEDIATE`
	commit = `COMMIT`
	// The condition on last_seq is what refuses a sequence that is not next.
	updateSession = `UPDATE sessions SET backend = ?3, model = ?4, title = ?5, folded = ?6, created_at = ?7,
		updated_at = ?8, status = ?9, pending = ?10, unfinished = ?11, last_seq = ?12, rest = ?13, workspace = ?14,
		activity = CASE WHEN ?15 THEN (SELECT max(activity) + 1 FROM sessions) ELSE activity END
		WHERE id = ?1 AND last_seq = ?2 RETURNING key`
	newSession = `INSERT INTO sessions (id, backend, model, title, folded, created_at, updated_at, status, pending,
		unfinished, last_seq, rest, workspace, activity, pinned, deleted_at, user_id)
		SELECT ?1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,
		(SELECT coalesce(max(activity), 0) + 1 FROM sessions), ?16, ?17, ?18 WHERE ?2 = 0 RETURNING key`
	putEvent    = `INSERT INTO events (at, json, sum) VALUES (?, ?, ?)`
	putWords    = `INSERT INTO found (rowid, words) VALUES (?, ?)`
	mark        = `UPDATE sessions SET pinned = coalesce(?2, pinned), deleted_at = coalesce(?3, deleted_at) WHERE id = ?1`
	dropSession = `DELETE FROM sessions WHERE id = ? RETURNING key`
	saveDrafts  = `INSERT INTO drafts (session, json) SELECT key, ?2 FROM sessions WHERE id = ?1
		ON CONFLICT (session) DO UPDATE SET json = excluded.json`
	dropDrafts = `DELETE FROM drafts WHERE session = (SELECT key FROM sessions WHERE id = ?)`
	// No session has the key 0.
	putScratch = `INSERT INTO drafts (session, json) VALUES (0, zeroblob(?))
		ON CONFLICT (session) DO UPDATE SET json = excluded.json`
	dropScratch = `DELETE FROM drafts WHERE session = 0 AND length(json) = ?`
	lastEvents  = ` IN (SELECT at FROM events WHERE at BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff ORDER BY at DESC LIMIT ?2)`
	dropEvents  = `DELETE FROM events WHERE at` + lastEvents
	dropWords   = `DELETE FROM found WHERE rowid` + lastEvents
	purging     = `INSERT INTO purges (session) VALUES (?)`
	purged      = `DELETE FROM purges WHERE session = ?`
	// purgeAll is for what an earlier process did not finish.
	purgeAll = `BEGIN IMMEDIATE;
		DELETE FROM found WHERE rowid IN (SELECT at FROM purges CROSS JOIN events
			WHERE at BETWEEN session << 32 AND session << 32 | 0xffffffff);
		DELETE FROM events WHERE at IN (SELECT at FROM purges CROSS JOIN events
			WHERE at BETWEEN session << 32 AND session << 32 | 0xffffffff);
		DELETE FROM purges; COMMIT`
)

// hot statements are prepared once. That they can be shows that the tables are what they were.
var hot = []string{begin, commit, updateSession, newSession, putEvent, putWords, mark, dropSession,
	saveDrafts,
	dropDrafts, putScratch, dropScratch, dropEvents, dropWords, purging, purged}

// Append implements [eventlog.Store].
func (db *DB) Append(ctx context.Context, id eventlog.ID, entries []event.Entry,
	s eventlog.Summary) error {
	if len(entries) == 0 {
		return nil
	}
	r, err := rowAfter(id, entries, s)
	if err == nil {
		words := wordsOf(entries)
		followed := func(e event.Entry) bool { return !event.Relayed(e.Event.Data) }
		err = db.await(ctx, &job{
			last:    last{Session: id, Seq: s.LastSeq},
			follows: !slices.ContainsFunc(entries, followed),
			do:      func(ctx context.Context, f *file) error { return f.append(ctx, r, entries, words) },
		})
	}
	if err != nil {
		return fmt.Errorf("append to the log of session %s: %w", id, err)
	}
	return nil
}

func (f *file) append(ctx context.Context, r row, entries []event.Entry, words []wordsAt) error {
	key, err := f.putSession(ctx, r, entries[0].Seq-1)
	for _, e := range entries {
		if err == nil {
			_, err = f.exec(ctx, putEvent, key<<32|e.Seq, e.JSON, sumOf(e.JSON))
		}
	}
	for _, w := range words {
		if err == nil {
			_, err = f.exec(ctx, putWords, key<<32|w.seq, w.words)
		}
	}
	return err
}

// putSession writes the row of a session whose last sequence was last and returns its key.
func (f *file) putSession(ctx context.Context, r row, last int64) (key int64, err error) {
	args := r.args(last)
	err = f.hot[updateSession].QueryRowContext(ctx, args[:15]...).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) && last == 0 {
		err = f.hot[newSession].QueryRowContext(ctx, args...).Scan(&key)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("%w: the log does not end at %d", ErrSequence, last)
	}
	return key, translated(err)
}

// rowAfter is the row that entries leave. What no store may write is an error.
func rowAfter(id eventlog.ID, entries []event.Entry, s eventlog.Summary) (row, error) {
	next := entries[0].Seq
	for _, e := range entries {
		switch {
		case e.Seq != next:
			return row{}, fmt.Errorf("%w: %d follows %d", ErrSequence, e.Seq, next-1)
		case e.Seq < 1 || e.Seq > math.MaxUint32:
			return row{}, fmt.Errorf("%w: %d is out of range", ErrSequence, e.Seq)
		case e.Event.Ephemeral:
			return row{}, fmt.Errorf("%w: %s is not logged", eventlog.ErrInvalid, e.Event.Type())
		case len(e.JSON) == 0:
			return row{}, fmt.Errorf("%w: entry %d is not encoded", eventlog.ErrInvalid, e.Seq)
		}
		next++
	}
	if s.ID != id || s.LastSeq != next-1 {
		return row{}, fmt.Errorf("%w: the summary is of session %s up to %d, the entries end at %d",
			eventlog.ErrInvalid, s.ID, s.LastSeq, next-1)
	}
	return rowOf(s)
}

// defaultEntries is how many entries After returns when no limit is given.
const defaultEntries = 1000

// After implements [eventlog.Store]. A limit below 1 means a thousand.
func (db *DB) After(ctx context.Context, id eventlog.ID, seq int64,
	limit int) ([]event.Entry, error) {
	if limit < 1 {
		limit = defaultEntries
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

const selectAfter = `SELECT e.at & 0xffffffff, e.json, coalesce(e.sum, -1), s.last_seq FROM sessions s CROSS JOIN events e
	WHERE s.id = ?1 AND e.at > (s.key << 32 | ?2) AND e.at <= (s.key << 32 | 0xffffffff) ORDER BY e.at LIMIT ?3`

// after is [DB.After] for a limit and a sequence that make sense.
func (db *DB) after(ctx context.Context, id eventlog.ID, seq int64,
	limit int) ([]event.Entry, error) {
	f := db.file.Load()
	entries, err := f.sound(ctx, id, seq, limit)
	if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrDisk) {
		return entries, err
	}
	why := db.alone(ctx, func() error {
		if f != db.file.Load() {
			return nil
		}
		return db.intact(f)
	})
	if errors.Is(why, ErrOverwritten) { // then this is not damage of the events
		return nil, why
	}
	if errors.Is(err, ErrCorrupt) {
		return salvage(ctx, f, f.damage, id, seq, limit)
	}
	return nil, err
}

// sound reads what is not damaged; else the error wraps [ErrCorrupt].
func (f *file) sound(ctx context.Context, id eventlog.ID, seq int64,
	limit int) ([]event.Entry, error) {
	entries, last, err := entriesOf(ctx, f, seq, selectAfter, string(id), seq, limit)
	if err == nil && len(entries) == 0 {
		_, err = f.get(ctx, `SELECT last_seq FROM sessions WHERE id = ?`, []any{string(id)}, &last)
	}
	if end := seq + int64(len(entries)); err == nil && len(entries) < limit && end < last {
		return nil, fmt.Errorf("%w: entry %d is missing", ErrCorrupt, end+1)
	}
	return entries, err
}

// SaveDrafts implements [eventlog.Drafts]; a session that is not in the log has nowhere to keep
// them, which is eventlog.ErrNotFound.
func (db *DB) SaveDrafts(ctx context.Context, id eventlog.ID, drafts []eventlog.Draft) error {
	b, err := json.Marshal(drafts)
	if err == nil {
		err = db.follow(ctx, func(ctx context.Context, f *file) error {
			if len(drafts) == 0 {
				_, err := f.exec(ctx, dropDrafts, string(id))
				return err
			}
			return changedOne(f.exec(ctx, saveDrafts, string(id), b))
		})
	}
	if err != nil {
		return fmt.Errorf("save the drafts of session %s: %w", id, err)
	}
	return nil
}

// changedOne makes an error of a statement that found no session.
func changedOne(changed int64, err error) error {
	if err == nil && changed == 0 {
		return eventlog.ErrNotFound
	}
	return err
}

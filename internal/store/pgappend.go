package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

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

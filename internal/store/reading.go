package store

import (
	"context"
	"encoding/json"
	"fmt"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// tables is a database with the tables of sessions, events and drafts. Both kinds of it number
// parameters alike: $1 is the first.
type tables interface {
	// query calls each for the rows of a statement, which reads.
	query(ctx context.Context, each func(record) error, text string, args ...any) error
	// sessions reads rows of sessions, which the statement selects by [columns].
	sessions(ctx context.Context, text string, args ...any) ([]row, error)
	// search returns the last event that matches a page's text of each session, by the session's key.
	search(ctx context.Context, p page) (hits map[int64]int64, err error)
	// pick selects up to one row more than a page has, which shows whether there is a next page.
	pick(p page, hits map[int64]int64) (text string, args []any)
	// found selects events that search returned: the session's key, the sequence, the bytes and the
	// sum of each, or -1.
	found(hits map[int64]int64) (text string, args []any)
	// entry selects the bytes and the sum, or -1, of one event of the session with a key.
	entry(key, seq int64) (text string, args []any)
	// parameter is a text that users or agents wrote, as the tables have it.
	parameter(text string) any
}

// record is a row of a result.
type record interface{ Scan(to ...any) error }

// reading is what a store reads from its tables, which may be others the next time.
type reading struct{ from func() tables }

const columns = `key, id, backend, model, title, created_at, updated_at, deleted_at, pinned, status,
	pending, last_seq, rest, workspace, activity, user_id`

// rowsOf is the part of [tables.sessions] that both databases share.
func rowsOf(ctx context.Context, t tables, d *damage, text string,
	args ...any) (all []row, err error) {
	err = t.query(ctx, func(found record) error {
		var r row
		var id, backend, model, title, workspace []byte
		var status string
		var created, updated, deleted int64
		err := found.Scan(&r.key, &id, &backend, &model, &title, &created, &updated, &deleted, &r.Pinned,
			&status,
			&r.Pending, &r.LastSeq, &r.rest, &workspace, &r.activity, &r.User)
		if err != nil {
			return err
		}
		r.ID, r.Backend, r.Model = eventlog.ID(id), string(backend), string(model)
		r.Title, r.Workspace, r.Status = string(title), string(workspace), event.Status(status)
		r.CreatedAt, r.UpdatedAt, r.DeletedAt = instant(created), instant(updated), instant(deleted)
		r.Damaged = d.count(r.ID)
		all = append(all, r)
		return all[len(all)-1].unpack()
	}, text, args...)
	return all, err
}

// entriesOf reads entries of a log by a statement that selects the sequence, the bytes and the sum
// of each, or -1, and the last sequence of the log, which it returns where there are entries. A
// hole and a damaged event are [ErrCorrupt].
func entriesOf(ctx context.Context, t tables, seq int64, text string, args ...any) (
	entries []event.Entry, last int64, err error) {
	err = t.query(ctx, func(found record) error {
		var e event.Entry
		var sum int64
		if err := found.Scan(&e.Seq, &e.JSON, &sum, &last); err != nil {
			return err
		}
		// Read in order, so any hole shows here.
		if want := seq + int64(len(entries)) + 1; e.Seq != want {
			return fmt.Errorf("%w: entry %d is missing", ErrCorrupt, want)
		}
		if e.Event, err = decode(e.JSON, sum); err != nil {
			return fmt.Errorf("entry %d: %w", e.Seq, err)
		}
		entries = append(entries, e)
		return nil
	}, text, args...)
	return entries, last, err
}

// Summary implements [sessions.Catalog].
func (r reading) Summary(ctx context.Context, id eventlog.ID) (eventlog.Summary, error) {
	t := r.from()
	found, err := t.sessions(ctx, `SELECT `+columns+` FROM sessions WHERE id = $1`,
		t.parameter(string(id)))
	if err == nil && len(found) == 0 {
		err = eventlog.ErrNotFound
	}
	if err != nil {
		return eventlog.Summary{}, fmt.Errorf("session %s: %w", id, err)
	}
	return found[0].Summary, nil
}

// List implements [sessions.Catalog]. Unfinished and deleted sessions come in the order of their
// creation. A session matches a text if its title holds each word of it, whatever the case, or if
// an event of it matches by eventlog.Finder. Of a text that very many sessions hold, the latest
// begun [maxFound] are listed.
func (r reading) List(ctx context.Context, q sessions.Query) (sessions.Page, error) {
	p, err := pageOf(q)
	var found []row
	if err == nil {
		found, err = list(ctx, r.from(), p)
	}
	if err != nil {
		return sessions.Page{}, fmt.Errorf("list the sessions: %w", err)
	}
	return p.page(found), nil
}

func list(ctx context.Context, t tables, p page) ([]row, error) {
	hits, err := t.search(ctx, p)
	if err != nil {
		return nil, err
	}
	text, args := t.pick(p, hits)
	all, err := t.sessions(ctx, text, args...)
	shown, at := map[int64]int64{}, map[int64]int{}
	for i, r := range all {
		if hits[r.key] > 0 {
			shown[r.key], at[r.key] = hits[r.key], i
		}
	}
	if err != nil || len(shown) == 0 {
		return all, err
	}
	// An event that was deleted meanwhile, or is damaged, which its session says, is left out.
	text, args = t.found(shown)
	return all, t.query(ctx, func(found record) error {
		var session, seq, sum int64
		var b []byte
		if err := found.Scan(&session, &seq, &b, &sum); err != nil {
			return err
		}
		if e, err := decode(b, sum); err == nil {
			parts := p.finder.Parts(eventlog.Text(e.Data))
			all[at[session]].hit = &eventlog.Hit{Seq: seq, Data: e.Data, Parts: parts}
		}
		return nil
	}, text, args...)
}

// Workspaces implements [sessions.Catalog].
func (r reading) Workspaces(ctx context.Context,
	user string) (all []sessions.Workspace, err error) {
	err = r.from().query(ctx, func(found record) error {
		var w sessions.Workspace
		var path []byte
		var updated int64
		err := found.Scan(&path, &w.Sessions, &updated)
		w.Path, w.UpdatedAt = string(path), instant(updated)
		all = append(all, w)
		return err
	}, `SELECT workspace, count(*) FILTER (WHERE last_seq > 1), max(updated_at) FROM sessions
		WHERE deleted_at = 0 AND ($1 = '' OR user_id = $1) GROUP BY workspace`, user)
	if err != nil {
		return nil, fmt.Errorf("list the workspaces: %w", err)
	}
	return all, nil
}

// LoadDrafts implements [eventlog.Drafts].
func (r reading) LoadDrafts(ctx context.Context,
	id eventlog.ID) (drafts []eventlog.Draft, err error) {
	t := r.from()
	err = t.query(ctx, func(found record) error {
		var b []byte
		if err := found.Scan(&b); err != nil {
			return err
		}
		return json.Unmarshal(b, &drafts)
	}, `SELECT json FROM drafts WHERE session = (SELECT key FROM sessions WHERE id = $1)`, t.parameter(
		string(id)))
	if err != nil {
		return nil, fmt.Errorf("load the drafts of session %s: %w", id, err)
	}
	return drafts, nil
}

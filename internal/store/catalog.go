package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// row is a session as its table keeps it.
type row struct {
	eventlog.Summary
	key      int64
	activity int64 // its place in the list
	rest     []byte
	hit      *eventlog.Hit
}

// rest is the part of a summary nothing is selected by.
type rest struct {
	Usage  event.Usage     `json:"usage"`
	Tokens eventlog.Tokens `json:"tokens"`
	Open   eventlog.Open   `json:"open"`
}

func rowOf(s eventlog.Summary) (row, error) {
	b, err := json.Marshal(rest{s.Usage, s.Tokens, s.Open})
	if err != nil {
		return row{}, fmt.Errorf("encode session %s: %w", s.ID, err)
	}
	return row{Summary: s, rest: b}, nil
}

// args are the parameters of the statements that write a row.
func (r row) args(last int64) []any {
	return []any{
		string(r.ID), last, r.Backend, r.Model, r.Title, caseless(r.Title), nanos(r.CreatedAt), nanos(r.UpdatedAt), string(r.Status),
		r.Pending, r.Unfinished(), r.LastSeq, string(r.rest), r.Workspace, r.Open.Active > last, r.Pinned, nanos(r.DeletedAt), r.User,
	}
}

const columns = `key, id, backend, model, title, created_at, updated_at, deleted_at, pinned, status, pending, last_seq, rest, workspace, activity, user_id`

func scan(rows *sql.Rows) (row, error) {
	var r row
	var created, updated, deleted int64
	err := rows.Scan(&r.key, &r.ID, &r.Backend, &r.Model, &r.Title, &created, &updated, &deleted, &r.Pinned,
		&r.Status, &r.Pending, &r.LastSeq, &r.rest, &r.Workspace, &r.activity, &r.User)
	if err != nil {
		return r, err
	}
	r.CreatedAt, r.UpdatedAt, r.DeletedAt = instant(created), instant(updated), instant(deleted)
	return r, r.unpack()
}

// unpack reads what nothing is selected by.
func (r *row) unpack() error {
	var more rest
	if err := json.Unmarshal(r.rest, &more); err != nil {
		return fmt.Errorf("%w: the row of session %s: %w", ErrCorrupt, r.ID, err)
	}
	r.Usage, r.Tokens, r.Open = more.Usage, more.Tokens, more.Open
	return nil
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func instant(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// Summary implements [sessions.Catalog].
func (db *DB) Summary(ctx context.Context, id eventlog.ID) (eventlog.Summary, error) {
	found, err := db.file.Load().sessions(ctx, `SELECT `+columns+` FROM sessions WHERE id = ?`, string(id))
	if err == nil && len(found) == 0 {
		err = eventlog.ErrNotFound
	}
	if err != nil {
		return eventlog.Summary{}, fmt.Errorf("session %s: %w", id, err)
	}
	return found[0].Summary, nil
}

// Limits of a page of sessions.
const (
	defaultSessions = 50
	maxSessions     = 1000
)

// List implements [sessions.Catalog]. Unfinished and deleted sessions come in the order of their
// creation. A session matches a text if its title holds each word of it, whatever the case, or if
// an event of it matches by eventlog.Finder. Of a text that very many sessions hold, the latest
// begun [maxFound] are listed.
func (db *DB) List(ctx context.Context, q sessions.Query) (sessions.Page, error) {
	p, err := pageOf(q)
	var found []row
	if err == nil {
		found, err = db.file.Load().list(ctx, p)
	}
	if err != nil {
		return sessions.Page{}, fmt.Errorf("list the sessions: %w", err)
	}
	return p.page(found), nil
}

// list returns up to one row more than asked for, which shows whether there is a next page.
func (f *file) list(ctx context.Context, p page) ([]row, error) {
	hits, err := f.search(ctx, p)
	if err != nil {
		return nil, err
	}
	query, args := p.sql(hits)
	found, err := f.sessions(ctx, query, args...)
	for i := range found {
		if at := hits[found[i].key]; at > 0 && err == nil {
			found[i].hit, err = f.hit(ctx, at, p.finder)
		}
	}
	return found, err
}

// sessions reads rows of sessions.
func (f *file) sessions(ctx context.Context, query string, args ...any) (found []row, err error) {
	err = f.query(ctx, func(rows *sql.Rows) error {
		r, err := scan(rows)
		r.Damaged = f.damage.count(r.ID)
		found = append(found, r)
		return err
	}, query, args...)
	return found, err
}

// page is a query made complete.
type page struct {
	kind   sessions.QueryKind
	words  []string // of titles
	finder eventlog.Finder
	limit  int
	from   *cursor
	sessions.Filter
}

// cursor is the last session of a page, as its order sees it. Its fields are what a page goes on
// from even if that session is gone or has moved.
type cursor struct {
	Kind     sessions.QueryKind `json:"k"`
	Pinned   bool               `json:"p"`
	Activity int64              `json:"a"`
	Key      int64              `json:"n"`
}

func pageOf(q sessions.Query) (page, error) {
	p := page{kind: q.Kind, words: strings.Fields(caseless(q.Text)), finder: eventlog.NewFinder(q.Text), limit: q.Limit, Filter: q.Filter}
	if p.limit < 1 {
		p.limit = defaultSessions
	}
	p.limit = min(p.limit, maxSessions)
	switch q.Kind {
	case sessions.QueryPresent:
	case sessions.QueryUnfinished, sessions.QueryDeleted:
		if len(p.words) > 0 || !q.None() {
			return p, fmt.Errorf("%w: %s sessions are not searched", eventlog.ErrInvalid, q.Kind)
		}
	default:
		return p, fmt.Errorf("%w: no such kind as %q", eventlog.ErrInvalid, q.Kind)
	}
	if len(p.words) > 32 {
		return p, fmt.Errorf("%w: more than 32 words to search for", eventlog.ErrInvalid)
	}
	if q.Cursor == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil {
		err = json.Unmarshal(b, &p.from)
	}
	if err != nil || p.from == nil || p.from.Kind != q.Kind || p.from.Key < 1 {
		return p, fmt.Errorf("%w: not a cursor of this list; leave it out to start anew", eventlog.ErrInvalid)
	}
	return p, nil
}

// sql selects the rows of a page. hits are the sessions that match a text.
func (p page) sql(hits map[int64]int64) (query string, args []any) {
	query = `SELECT ` + columns + ` FROM sessions WHERE `
	order := ` ORDER BY key`
	switch p.kind {
	case sessions.QueryUnfinished:
		query += `unfinished = 1`
	case sessions.QueryDeleted:
		query += `deleted_at <> 0`
	default:
		query += `deleted_at = 0`
		if order = ` ORDER BY pinned DESC, activity DESC, key DESC`; p.active() {
			// These are few: the order's index would lead through all.
			order = ` ORDER BY +pinned DESC, activity DESC, key DESC`
		}
	}
	filter, values := p.filter()
	query, args = query+filter, append(args, values...)
	switch {
	case p.from == nil:
	case p.kind == sessions.QueryPresent:
		query += ` AND (pinned, activity, key) < (?, ?, ?)`
		args = append(args, p.from.Pinned, p.from.Activity, p.from.Key)
	default:
		query += ` AND key > ?`
		args = append(args, p.from.Key)
	}
	if len(p.words) > 0 {
		// Titles are looked through in their own index, once.
		query += ` AND key IN (SELECT key FROM sessions WHERE deleted_at = 0`
		for _, w := range p.words {
			query += ` AND instr(folded, ?) > 0`
			args = append(args, w)
		}
		query += ` UNION ALL SELECT value FROM json_each(?))`
		args = append(args, jsonOf(slices.Collect(maps.Keys(hits))))
	}
	return query + order + ` LIMIT ?`, append(args, p.limit+1)
}

// filter is the condition of the query's filter.
func (p page) filter() (query string, args []any) {
	if p.User != "" {
		query, args = query+` AND user_id = ? AND user_id <> ''`, append(args, p.User) // as its index is found
	}
	if len(p.Workspaces) == 1 {
		query, args = query+` AND workspace = ?`, append(args, p.Workspaces[0])
	} else if len(p.Workspaces) > 1 {
		query, args = query+` AND workspace IN (SELECT value FROM json_each(?))`, append(args, jsonOf(p.Workspaces))
	}
	if len(p.Hidden) > 0 {
		query, args = query+` AND workspace NOT IN (SELECT value FROM json_each(?))`, append(args, jsonOf(p.Hidden))
	}
	if p.Begun {
		query += ` AND last_seq > 1`
	}
	if p.active() {
		query += ` AND status <> 'idle' AND status IN ('running', 'waiting')` // as their index is found
	}
	switch p.State {
	case "", sessions.Active:
	case sessions.Resting:
		query += ` AND status = 'idle' AND pinned = 0`
	case sessions.Pinned:
		query += ` AND pinned = 1`
	case sessions.Failed:
		query += ` AND status = 'idle' AND json_extract(rest, '$.open.failed') = 1`
	default:
		query, args = query+` AND status = ?`, append(args, string(p.State))
	}
	return query, args
}

// active reports whether only sessions are listed in which something runs or waits.
func (p page) active() bool {
	return p.State == sessions.Active || p.State == sessions.State(event.Running) || p.State == sessions.State(event.Waiting)
}

// jsonOf is a list, or a cursor, as one parameter.
func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(b)
}

// page makes one page of what was found, which is up to one row more.
func (p page) page(found []row) (out sessions.Page) {
	for _, r := range found[:min(p.limit, len(found))] {
		out.Sessions = append(out.Sessions, sessions.Found{Summary: r.Summary, Hit: r.hit})
	}
	if len(found) > p.limit {
		last := found[p.limit-1]
		next := jsonOf(cursor{p.kind, last.Pinned, last.activity, last.key})
		out.Cursor = base64.RawURLEncoding.EncodeToString([]byte(next))
	}
	return out
}

// Workspaces implements [sessions.Catalog].
func (db *DB) Workspaces(ctx context.Context, user string) (all []sessions.Workspace, err error) {
	err = db.file.Load().query(ctx, func(rows *sql.Rows) error {
		var w sessions.Workspace
		var updated int64
		err := rows.Scan(&w.Path, &w.Sessions, &updated)
		w.UpdatedAt = instant(updated)
		all = append(all, w)
		return err
	}, `SELECT workspace, sum(last_seq > 1), max(updated_at) FROM sessions
		WHERE deleted_at = 0 AND (?1 = '' OR user_id = ?1) GROUP BY workspace`, user)
	if err != nil {
		return nil, fmt.Errorf("list the workspaces: %w", err)
	}
	return all, nil
}

// caseless makes texts comparable that differ in case only.
func caseless(s string) string { return strings.ToLower(strings.ToValidUTF8(s, "\uFFFD")) }

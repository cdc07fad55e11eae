package store

import (
	"context"
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
		string(r.ID), last, r.Backend, r.Model, r.Title, caseless(r.Title), nanos(r.CreatedAt),
		nanos(r.UpdatedAt), string(r.Status),
		r.Pending, r.Unfinished(), r.LastSeq, string(r.rest), r.Workspace, r.Open.Active > last, r.Pinned,
		nanos(r.DeletedAt), r.User,
	}
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

// Limits of a page of sessions.
const (
	defaultSessions = 50
	maxSessions     = 1000
)

// sessions implements [tables].
func (f *file) sessions(ctx context.Context, query string, args ...any) ([]row, error) {
	return rowsOf(ctx, f, f.damage, query, args...)
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
	p := page{
		kind:   q.Kind,
		words:  strings.Fields(caseless(q.Text)),
		finder: eventlog.NewFinder(q.Text),
		limit:  q.Limit,
		Filter: q.Filter,
	}
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
		return p, fmt.Errorf("%w: not a cursor of this list; leave it out to start anew",
			eventlog.ErrInvalid)
	}
	return p, nil
}

// parameter implements [tables].
func (f *file) parameter(text string) any { return text }

// pick implements [tables].
func (f *file) pick(p page, hits map[int64]int64) (query string, args []any) {
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
		// as its index is found
		query, args = query+` AND user_id = ? AND user_id <> ''`, append(args, p.User)
	}
	if len(p.Workspaces) == 1 {
		query, args = query+` AND workspace = ?`, append(args, p.Workspaces[0])
	} else if len(p.Workspaces) > 1 {
		query, args = query+` AND workspace IN (SELECT value FROM json_each(?))`,
			append(args, jsonOf(p.Workspaces))
	}
	if len(p.Hidden) > 0 {
		query, args = query+` AND workspace NOT IN (SELECT value FROM json_each(?))`,
			append(args, jsonOf(p.Hidden))
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
	return p.State == sessions.Active || p.State == sessions.State(event.Running) ||
		p.State == sessions.State(event.Waiting)
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

// caseless makes texts comparable that differ in case only.
func caseless(s string) string { return strings.ToLower(strings.ToValidUTF8(s, "\uFFFD")) }

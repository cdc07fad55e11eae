package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// MaxFound is how many sessions a text is looked up in.
const MaxFound = 200

// maxBeginnings is how many events are looked at that hold a longer word than was
// typed; enoughFound is how many sessions make such words needless.
const (
	maxBeginnings = 2000
	enoughFound   = 50
)

// maxTitled is how many sessions are found by their titles before the list itself
// is looked through: of so many it soon meets enough.
const maxTitled = 1000

// byTitle is what stands in hits for a session of which only the title matches.
const byTitle = -1

// titled adds the sessions whose title holds the words to hits; all is false when
// there are too many.
func (db *DB) titled(ctx context.Context, words []string, hits map[int64]int64) (all bool, err error) {
	query, args := `SELECT key FROM sessions WHERE deleted_at = 0`, []any{}
	for _, w := range words {
		query += ` AND instr(folded, ?) > 0`
		args = append(args, w)
	}
	rows, err := db.read.QueryContext(ctx, query+` LIMIT ?`, append(args, maxTitled+1)...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	var keys []int64
	for rows.Next() {
		var key int64
		if err := rows.Scan(&key); err != nil {
			return false, err
		}
		keys = append(keys, key)
	}
	if err := rows.Err(); err != nil || len(keys) > maxTitled {
		return false, err
	}
	for _, key := range keys {
		if hits[key] == 0 {
			hits[key] = byTitle
		}
	}
	return true, nil
}

// wordsAt are the words of one entry.
type wordsAt struct {
	seq   int64
	words string
}

// wordsOf returns what is to be found of entries: each word of an entry once.
func wordsOf(entries []event.Entry) []wordsAt {
	var all []wordsAt
	for _, e := range entries {
		text := eventlog.Text(e.Event.Data)
		if text == "" {
			continue
		}
		seen := map[string]bool{}
		var b strings.Builder
		for _, w := range eventlog.Words(text) {
			if !seen[w.Text] {
				seen[w.Text] = true
				b.WriteString(w.Text)
				b.WriteByte(' ')
			}
		}
		if b.Len() > 0 {
			all = append(all, wordsAt{e.Seq, b.String()})
		}
	}
	return all
}

func (db *DB) putWords(ctx context.Context, key int64, all []wordsAt) error {
	for _, w := range all {
		if _, err := db.put.find.ExecContext(ctx, key<<32|w.seq, w.words); err != nil {
			return ours(err)
		}
	}
	return nil
}

// match writes words as FTS5 reads them. No word holds a quote.
func match(words []string, prefix bool) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + w + `"`
	}
	text := strings.Join(quoted, " ")
	if prefix {
		text += "*"
	}
	return text
}

// search returns the last event that matches of each session, as events.at by the
// session's key: whole words first, then those that begin like the last one.
func (db *DB) search(ctx context.Context, f eventlog.Finder) (map[int64]int64, error) {
	words, prefix := f.Terms()
	hits := map[int64]int64{}
	if len(words) == 0 {
		return hits, nil
	}
	if err := db.exact(ctx, match(words, false), hits); err != nil {
		return nil, err
	}
	var err error
	if prefix && len(hits) < enoughFound {
		err = db.beginnings(ctx, match(words, true), hits)
	}
	return hits, err
}

// manyHits is how many matching events of one session are passed one by one. Of a
// session that has more, the rest is skipped by a query that begins below it: worth
// the cost of a query only then.
const manyHits = 256

// exact adds the last event that matches of each session, in one pass from the
// newest on.
func (db *DB) exact(ctx context.Context, query string, hits map[int64]int64) error {
	below, more := int64(1)<<62, true
	for more && len(hits) < MaxFound {
		var err error
		if below, more, err = db.pass(ctx, query, below, hits); err != nil {
			return err
		}
	}
	return nil
}

// pass reads matching events below a place until there are no more, enough sessions
// are found, or one session has too many; then more is true and below is that
// session's first place.
func (db *DB) pass(ctx context.Context, query string, from int64, hits map[int64]int64) (below int64, more bool, err error) {
	rows, err := db.read.QueryContext(ctx, `SELECT rowid FROM found WHERE found MATCH ? AND rowid < ? ORDER BY rowid DESC`, query, from)
	if err != nil {
		return 0, false, err
	}
	defer rows.Close()
	for seen := 0; len(hits) < MaxFound && rows.Next(); {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return 0, false, err
		}
		session := at >> 32
		if hits[session] == 0 {
			hits[session], seen = at, 0
		}
		if seen++; seen > manyHits {
			return session << 32, true, nil
		}
	}
	return 0, false, rows.Err()
}

// beginnings adds the sessions that hold a longer word.
func (db *DB) beginnings(ctx context.Context, query string, hits map[int64]int64) error {
	rows, err := db.read.QueryContext(ctx, `SELECT rowid FROM found WHERE found MATCH ? ORDER BY rowid DESC LIMIT ?`, query, maxBeginnings)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return err
		}
		if hits[at>>32] == 0 {
			hits[at>>32] = at
		}
	}
	return rows.Err()
}

// hit reads the event that matched.
func (db *DB) hit(ctx context.Context, at int64, f eventlog.Finder) (*eventlog.Hit, error) {
	var b []byte
	err := db.read.QueryRowContext(ctx, `SELECT json FROM events WHERE at = ?`, at).Scan(&b)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil // deleted meanwhile
	}
	if err != nil {
		return nil, ours(err)
	}
	e, err := event.Unmarshal(b)
	if err != nil {
		return nil, nil // it is damaged, which its session says
	}
	return hitOf(event.Entry{Seq: at & 0xffffffff, Event: e}, f), nil
}

func hitOf(e event.Entry, f eventlog.Finder) *eventlog.Hit {
	return &eventlog.Hit{Seq: e.Seq, Data: e.Event.Data, Parts: f.Parts(eventlog.Text(e.Event.Data))}
}

// keysOf are the keys of hits as a JSON array, newest first.
func keysOf(hits map[int64]int64) string {
	keys := make([]int64, 0, len(hits))
	for k := range hits {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	b, err := json.Marshal(keys)
	if err != nil {
		panic(err) // numbers
	}
	return string(b)
}

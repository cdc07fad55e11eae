package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// maxFound is how many sessions a text is looked up in.
const maxFound = 200

// maxBeginnings is how many events are looked at that hold a longer word than was typed;
// enoughFound is how many sessions make such words needless.
const (
	maxBeginnings = 2000
	enoughFound   = 50
)

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

// ofUser keeps events of other users out of what is found; it has the user as its parameters.
const ofUser = ` AND (? = '' OR rowid >> 32 IN (SELECT key FROM sessions WHERE deleted_at = 0 AND user_id = ? AND user_id <> ''))`

// search implements [tables], with the event as events.at: whole words first, then those that begin
// like the last one.
func (f *file) search(ctx context.Context, p page) (map[int64]int64, error) {
	words, prefix := p.finder.Terms()
	hits := map[int64]int64{}
	if len(words) == 0 {
		return hits, nil
	}
	below, more, err := int64(1)<<62, true, error(nil)
	for more && err == nil && len(hits) < maxFound {
		below, more, err = f.pass(ctx, match(words, false), p.User, below, hits)
	}
	if err == nil && prefix && len(hits) < enoughFound {
		err = f.query(ctx, func(rows record) error {
			var at int64
			err := rows.Scan(&at)
			if hits[at>>32] == 0 {
				hits[at>>32] = at
			}
			return err
		}, `SELECT rowid FROM found WHERE found MATCH ?`+ofUser+` ORDER BY rowid DESC LIMIT ?`, match(
			words, true), p.User, p.User, maxBeginnings)
	}
	return hits, err
}

// manyHits is how many matching events of one session are passed one by one. Of a session that has
// more, the rest is skipped by a query that begins below it: worth the cost of a query only then.
const manyHits = 256

// errPassed ends reading rows that are not needed.
var errPassed = errors.New("enough")

// pass reads matching events below a place, from the newest on, until there are no more, enough
// sessions are found, or one session has too many; then more is true and below is that session's
// first place.
func (f *file) pass(ctx context.Context, query, user string, from int64,
	hits map[int64]int64) (below int64, more bool, err error) {
	seen := 0
	err = f.query(ctx, func(rows record) error {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return err
		}
		session := at >> 32
		if hits[session] == 0 {
			hits[session], seen = at, 0
		}
		if seen++; seen > manyHits {
			below, more = session<<32, true
		}
		if more || len(hits) >= maxFound {
			return errPassed
		}
		return nil
	}, `SELECT rowid FROM found WHERE found MATCH ? AND rowid < ?`+ofUser+` ORDER BY rowid DESC`, query, from, user, user)
	if errors.Is(err, errPassed) {
		err = nil
	}
	return below, more, err
}

// found implements [tables].
func (f *file) found(hits map[int64]int64) (query string, args []any) {
	return `SELECT at >> 32, at & 0xffffffff, json, coalesce(sum, -1) FROM events WHERE at IN (SELECT value FROM json_each(?))`,
		[]any{jsonOf(slices.Collect(maps.Values(hits)))}
}

// entry implements [tables].
func (f *file) entry(key, seq int64) (query string, args []any) {
	return `SELECT json, coalesce(sum, -1) FROM events WHERE at = ?`, []any{key<<32 | seq}
}

package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"webchat/internal/sessions"
)

// searched is a text as PostgreSQL's text takes it.
func searched(s string) string { return strings.ReplaceAll(caseless(s), "\x00", "\uFFFD") }

// Bounds of what PostgreSQL keeps of the words of one event.
const (
	maxLexeme   = 2046
	maxTSVector = 900_000 // bytes; it refuses 1 MiB
)

// lexemes leaves out of words, with spaces between, what PostgreSQL would refuse an event for.
func lexemes(words string) string {
	if len(words) < maxLexeme {
		return strings.TrimSuffix(words, " ")
	}
	var b strings.Builder
	for w := range strings.FieldsSeq(words) {
		if b.Len()+len(w) > maxTSVector {
			break
		}
		if len(w) <= maxLexeme {
			b.WriteString(w)
			b.WriteByte(' ')
		}
	}
	return strings.TrimSuffix(b.String(), " ")
}

// tsquery writes words as PostgreSQL reads them.
func tsquery(words []string, prefix bool) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(w) + "'"
	}
	text := strings.Join(quoted, " & ")
	if prefix {
		text += ":*"
	}
	return text
}

// pick implements [tables]. Of unfinished and deleted sessions there are none that another living
// replica has.
func (db *Postgres) pick(p page, hits map[int64]int64) (string, []any) {
	var args arguments
	paths := func(all []string) (list [][]byte) {
		for _, name := range all {
			list = append(list, []byte(name))
		}
		return list
	}
	where, order := `deleted_at = 0`, `pinned DESC, activity DESC, key DESC`
	switch p.kind {
	case sessions.QueryUnfinished:
		where, order = `unfinished`, `key`
	case sessions.QueryDeleted:
		where, order = `deleted_at <> 0`, `key`
	}
	if p.kind != sessions.QueryPresent {
		where += ` AND (owner = ` + args.add(db.life.me) + ` OR NOT ` + alive + `owner))`
	}
	if p.User != "" {
		where += ` AND user_id = ` + args.add(p.User)
	}
	if len(p.Workspaces) > 0 {
		where += ` AND workspace = ANY (` + args.add(paths(p.Workspaces)) + `)`
	}
	if len(p.Hidden) > 0 {
		where += ` AND workspace <> ALL (` + args.add(paths(p.Hidden)) + `)`
	}
	if p.Begun {
		where += ` AND last_seq > 1`
	}
	where += inState(p.State, &args)
	switch {
	case p.from == nil:
	case p.kind == sessions.QueryPresent:
		where += ` AND (pinned, activity, key) < (` + args.add(p.from.Pinned) + `, ` +
			args.add(p.from.Activity) + `, ` + args.add(p.from.Key) + `)`
	default:
		where += ` AND key > ` + args.add(p.from.Key)
	}
	if len(p.words) > 0 {
		titled := `true`
		for _, w := range p.words {
			titled += ` AND strpos(folded, ` + args.add(searched(w)) + `) > 0`
		}
		where += ` AND (` + titled + ` OR key = ANY (` + args.add(slices.Collect(maps.Keys(hits))) + `))`
	}
	return `SELECT ` + columns + ` FROM sessions WHERE ` + where + ` ORDER BY ` + order + ` LIMIT ` +
		args.add(int64(p.limit+1)), args
}

// inState is what a state asks of a row.
func inState(state sessions.State, args *arguments) string {
	switch state {
	case "":
		return ""
	case sessions.Active:
		return ` AND status <> 'idle'`
	case sessions.Resting:
		return ` AND status = 'idle' AND NOT pinned`
	case sessions.Pinned:
		return ` AND pinned`
	case sessions.Failed:
		return ` AND status = 'idle' AND failed`
	}
	return ` AND status = ` + args.add(string(state))
}

// rareEvents is how many events words are in at most whose matches are all read by the index of
// words.
const rareEvents = "2000"

// searchPostgres finds words: those of few events by their index, and those of many from the newest
// session on, until there are enough. PostgreSQL does not choose well between the two by itself: it
// knows how many events the common words are in, and takes a word it does not know for one of many.
const (
	matching = `FROM events WHERE words @@ $1::text::tsquery
		AND ($3 = '' OR session IN (SELECT key FROM sessions WHERE user_id = $3))`
	newest         = ` GROUP BY session ORDER BY session DESC LIMIT $2)`
	searchPostgres = `WITH matches AS MATERIALIZED (SELECT session, seq ` + matching + ` LIMIT ` +
		rareEvents + ` + 1)
		(SELECT session, max(seq) FROM matches WHERE (SELECT count(*) FROM matches) <= ` + rareEvents + newest + ` UNION ALL
		(SELECT session, max(seq) ` + matching + ` AND (SELECT count(*) FROM matches) > ` + rareEvents + newest
)

// search implements [tables], with the event as its sequence: whole words first, then those that
// begin like the last one.
func (db *Postgres) search(ctx context.Context, p page) (map[int64]int64, error) {
	words, prefix := p.finder.Terms()
	hits := map[int64]int64{}
	if len(words) == 0 {
		return hits, nil
	}
	pass := func(prefix bool) error {
		return db.query(ctx, func(rows record) error {
			var session, seq int64
			err := rows.Scan(&session, &seq)
			if err == nil && hits[session] == 0 {
				hits[session] = seq
			}
			return err
		}, searchPostgres, tsquery(words, prefix), int64(maxFound), p.User)
	}
	err := pass(false)
	if err == nil && prefix && len(hits) < enoughFound {
		err = pass(true)
	}
	return hits, err
}

// found implements [tables].
func (db *Postgres) found(hits map[int64]int64) (text string, args []any) {
	var keys, seqs []int64
	for session, seq := range hits {
		keys, seqs = append(keys, session), append(seqs, seq)
	}
	return `SELECT e.session, e.seq, e.json, coalesce(e.sum, -1) FROM unnest($1::bigint[], $2::bigint[]) AS h (session, seq)
		JOIN events e ON e.session = h.session AND e.seq = h.seq`, []any{keys, seqs}
}

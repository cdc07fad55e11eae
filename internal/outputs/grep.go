package outputs

import (
	"context"
	"net/http"
	"sort"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxExcerpt = 2000 // bytes of a matching line that are handed out
	maxRanges  = 100  // matches shown in one line
	leadIn     = 200  // bytes before the first match of a long line
)

// match is one matching line.
type match struct {
	Line   int      `json:"line"`
	Text   string   `json:"text"`
	Column int      `json:"column,omitempty"` // where text begins in its line, in bytes
	Ranges [][2]int `json:"ranges"`           // of the matches in text, in UTF-16 units
}

type matches struct {
	Matches []match `json:"matches"`
	Lines   int     `json:"lines"`          // number of the last line there is
	Next    int     `json:"next,omitempty"` // where to go on; 0: all was searched
}

// grep serves the lines that match.
func (h *Handler) grep(w http.ResponseWriter, r *http.Request, o *Output, q query) {
	e := expression(w, r, q.grep)
	if e == nil {
		return
	}
	head := w.Header()
	if r.Method == http.MethodHead {
		if safeHeaders(head, valText, valSandbox, valNoStore); q.format == "json" {
			safeHeaders(head, valJSON, valJSONPolicy, valNoStore)
		}
		return
	}
	if !h.enter(r) {
		return
	}
	found := search(r.Context(), o, e, q.from, q.to)
	h.exit()
	if q.format == "json" {
		h.reply(w, r, found)
		return
	}
	if found.Next > 0 {
		head["Webchat-Next"] = []string{strconv.Itoa(found.Next)}
	}
	send(w, r, valText, found.text())
}

func (m *matches) text() []byte {
	var b []byte
	for _, l := range m.Matches {
		b = strconv.AppendInt(b, int64(l.Line), 10)
		b = append(b, ':')
		if l.Column > 0 {
			b = append(b, "…"...)
		}
		b = append(b, l.Text...)
		b = append(b, '\n')
	}
	return b
}

// nearLines is up to how many lines are searched by themselves: for more, the hits of the whole
// output are found, or known.
const nearLines = 5000

// search looks for e in the lines from to to, within grepTime.
func search(ctx context.Context, o *Output, e *Expression, from, to int) *matches {
	m := o.Meta()
	last := m.First() - 1 + o.TotalLines()
	from = max(from, m.First())
	if to == 0 || to > last {
		to = last
	}
	found := &matches{Matches: []match{}, Lines: last}
	if to-from < nearLines || !o.Complete() {
		found.in(ctx, o, &m, e, from, to)
		return found
	}
	hits, err := o.Find(ctx, e, grepTime)
	if err != nil {
		return found // no request waits for it
	}
	if !hits.Complete {
		found.Next = max(from, hits.Next)
	}
	lines := hits.Lines[hits.Before(from):]
	if n := sort.SearchInts(lines, to+1); n < len(lines) {
		lines, found.Next = lines[:n], 0
	}
	if len(lines) > MaxGrepMatches {
		lines, found.Next = lines[:MaxGrepMatches], lines[MaxGrepMatches]
	}
	for _, n := range lines {
		found.in(ctx, o, &m, e, n, n)
	}
	return found
}

// in adds the matching lines from to to.
func (found *matches) in(ctx context.Context, o *Output, m *Meta, e *Expression, from, to int) {
	ctx, cancel := context.WithTimeout(ctx, grepTime)
	defer cancel()
	next := from
	seen := 0
	for l, err := range o.Lines(ctx, from, to) {
		if seen++; err == nil && seen%64 == 0 {
			err = ctx.Err() // the iteration itself looks less often
		}
		if err != nil {
			found.Next = next
			return
		}
		if l.Gap != nil {
			continue
		}
		if text, at := e.In(l.Text, m.Type == Terminal, maxRanges); len(at) > 0 {
			if len(found.Matches) == MaxGrepMatches {
				found.Next = l.Number
				return
			}
			found.Matches = append(found.Matches, excerpt(l.Number, text, at))
		}
		next = l.Number + 1
	}
}

// excerpt is what is handed out of a matching line.
func excerpt(line int, text []byte, at [][]int) match {
	from, to := 0, len(text)
	if to > maxExcerpt {
		if at[0][1] > maxExcerpt {
			from = runeStart(text, max(0, at[0][0]-leadIn))
		}
		to = runeStart(text, min(to, from+maxExcerpt))
	}
	m := match{Line: line, Text: string([]rune(string(text[from:to]))), Column: from, Ranges: [][2]int{}}
	units, done := 0, from
	pos := func(i int) int {
		units += utf16Len(text[done:i])
		done = i
		return units
	}
	for _, a := range at {
		if a[1] = min(a[1], to); a[0] < a[1] {
			start := pos(a[0])
			m.Ranges = append(m.Ranges, [2]int{start, pos(a[1])})
		}
	}
	return m
}

func runeStart(b []byte, i int) int {
	for k := 0; k < utf8.UTFMax && i > 0 && i < len(b) && !utf8.RuneStart(b[i]); k++ {
		i--
	}
	return i
}

// utf16Len counts the UTF-16 units of b, each byte that is not UTF-8 being the one replacement
// character it becomes.
func utf16Len(b []byte) (n int) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		n, b = n+utf16.RuneLen(r), b[size:]
	}
	return n
}

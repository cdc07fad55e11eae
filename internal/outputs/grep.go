package outputs

import (
	"context"
	"net/http"
	"sort"
	"strconv"

	"webchat/internal/grep"
)

// maxExcerpt is how many bytes of a matching line are handed out.
const maxExcerpt = 2000

// Matches are the lines of an output that match.
type Matches struct {
	Matches []grep.Line `json:"matches"`
	Lines   int         `json:"lines"`          // number of the last line there is
	Next    int         `json:"next,omitempty"` // where to go on; 0: all was searched
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

func (m *Matches) text() []byte {
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
func search(ctx context.Context, o *Output, e *grep.Expression, from, to int) *Matches {
	m := o.Meta()
	last := m.First() - 1 + o.TotalLines()
	from = max(from, m.First())
	if to == 0 || to > last {
		to = last
	}
	found := &Matches{Matches: []grep.Line{}, Lines: last}
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

// About returns up to most lines that match, how many these are, and the lines around each.
func (o *Output) About(ctx context.Context, e *grep.Expression, around,
	most int) (lines []grep.Line, hits int, err error) {
	found, err := o.Find(ctx, e, grepTime)
	if err != nil {
		return nil, 0, err
	}
	e = e.Until(func() bool { return ctx.Err() != nil })
	m := o.Meta()
	all := found.Lines[:min(len(found.Lines), most)]
	for i, done := 0, 0; i < len(all); {
		from, to := max(done+1, all[i]-around), all[i]+around
		for i++; i < len(all) && all[i]-around <= to+1; i++ {
			to = all[i] + around
		}
		for l, err := range o.Lines(ctx, from, to) {
			if err != nil {
				return nil, 0, err
			}
			if l.Gap == nil {
				text, at := matched(e, l, m.Type)
				lines = append(lines, grep.Excerpt(l.Number, text, at, maxExcerpt))
			}
		}
		done = to
	}
	return lines, len(all), nil
}

// First returns the first line that matches, most bytes of it at most; false if no line does, or
// ctx has ended.
func (o *Output) First(ctx context.Context, e *grep.Expression,
	most int) (line grep.Line, ok bool) {
	v, m := o.acquire()
	stop := func() bool { return ctx.Err() != nil }
	e = e.Until(stop)
	for i := 0; i < v.len() && !stop(); i++ {
		for _, n := range v.searchChunk(i, 0, m.Type == Terminal, e, stop) {
			n += m.First()
			for l, err := range o.Lines(ctx, n, n) {
				if err != nil {
					return line, false
				}
				if text, at := matched(e, l, m.Type); l.Gap == nil && len(at) > 0 {
					return grep.Excerpt(l.Number, text, at, most), true
				}
			}
		}
	}
	return line, false
}

// matched returns what of a line is searched, and where e matches in it. Of what a terminal was
// given, controls are not searched.
func matched(e *grep.Expression, l Line, t Type) (text []byte, at [][]int) {
	if text = grep.Searched(l.Text); t == Terminal {
		text = stripControls(nil, text)
	}
	return text, e.Find(text, grep.MaxRanges)
}

// in adds the matching lines from to to.
func (found *Matches) in(ctx context.Context, o *Output, m *Meta, e *grep.Expression, from,
	to int) {
	ctx, cancel := context.WithTimeout(ctx, grepTime)
	defer cancel()
	e = e.Until(func() bool { return ctx.Err() != nil })
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
		text, at := matched(e, l, m.Type)
		if len(at) == 0 && ctx.Err() != nil { // perhaps in the middle of this line
			found.Next = max(next, from+1)
			return
		}
		if len(at) > 0 {
			if len(found.Matches) == MaxGrepMatches {
				found.Next = l.Number
				return
			}
			found.Matches = append(found.Matches, grep.Excerpt(l.Number, text, at, maxExcerpt))
		}
		next = l.Number + 1
	}
}

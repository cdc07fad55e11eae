package views

import (
	"bytes"
	"context"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"webchat/internal/outputs"
	"webchat/internal/render"
	"webchat/internal/wording"

	"github.com/aymanbagabas/go-udiff/lcs"
)

const contextLines = 3 // shown around a change

// Comparable reports whether outputs of so many bytes are compared.
func Comparable(bytes int64) bool { return bytes <= limits[compared].bytes }

// comparison is what differs between two outputs, as rows.
type comparison struct {
	with           outputs.ID
	rows           []diffRow
	added, removed int
	changes        []int // the row each begins at, from 0
}

// diffRow is a line that is the same ('='), removed or added, or a run of lines that are the same
// and not shown ('.'): then a and b are the first, and n how many.
type diffRow struct {
	kind byte
	a, b int32 // numbers of lines as shown; 0: not in this text
	n    int32
	pair int32 // of a changed line: its partner's number in the other text; 0: none
}

// diff is what differs from an earlier output. Its rows count lines and folds.
func (h *Views) diff(ctx context.Context, o *outputs.Output,
	a outputs.Ask) (w outputs.Window, err error) {
	if a.With == nil {
		return w, refuse("no_other", "Say with which output to compare: with={id}.")
	}
	with := a.With.Text()
	c, err := compare(ctx, with, o)
	if err != nil {
		return w, err
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(a.At, "C")); err == nil && n >= 1 &&
		n <= len(c.changes) {
		a.From = max(1, c.changes[n-1]+1-contextLines-1)
	}
	from, to := cut(a, len(c.rows))
	out := &render.DiffRows{}
	if from <= to {
		err = h.diffRows(ctx, with, o, c, from, to, out)
	}
	w = window(out.HTML(), from, to, len(c.rows))
	w.Header = map[string]string{"Added": strconv.Itoa(c.added), "Removed": strconv.Itoa(c.removed),
		"Changes": strconv.Itoa(len(c.changes))}
	return w, err
}

// compare returns what differs between two outputs, which is kept with the second.
//
// They are compared as they are stored: what is covered may be what differs.
func compare(ctx context.Context, with, o *outputs.Output) (c *comparison, err error) {
	with, o = with.Raw(), o.Raw()
	if most := limits[compared].bytes; max(o.Size(), with.Size()) > most {
		return nil, refuse("too_large", "Outputs are compared up to "+wording.Limit(most)+" each.")
	}
	d := documentOf(o)
	d.seen.mu.Lock()
	defer d.seen.mu.Unlock()
	if c = d.seen.diff; c == nil || c.with != with.ID() || !with.Complete() {
		if c, err = newComparison(ctx, with, o); err != nil {
			return nil, err
		}
		d.seen.diff = c
	}
	return c, nil
}

func newComparison(ctx context.Context, a, b *outputs.Output) (*comparison, error) {
	numbers := map[uint64]int32{}
	seed := maphash.MakeSeed()
	read := func(o *outputs.Output) (lines []int32, shown []int32, err error) {
		terminal := o.Meta().Type == outputs.Terminal
		for l, err := range o.Lines(ctx, 0, 0) {
			if err != nil {
				return nil, nil, err
			}
			if l.Gap != nil {
				continue
			}
			text := bytes.TrimSuffix(l.Text, []byte{'\r'})
			if terminal {
				text = outputs.Plain(text)
			}
			sum := maphash.Bytes(seed, text)
			n, ok := numbers[sum]
			if !ok {
				n = int32(len(numbers))
				numbers[sum] = n
			}
			lines, shown = append(lines, n), append(shown, int32(l.Number))
		}
		return lines, shown, nil
	}
	old, oldShown, err := read(a)
	if err != nil {
		return nil, err
	}
	now, nowShown, err := read(b)
	if err != nil {
		return nil, err
	}
	c := &comparison{with: a.ID()}
	c.fill(lcs.DiffRunes(old, now), oldShown, nowShown)
	return c, nil
}

// fill makes rows of changes; a and b are the numbers of the lines as shown.
func (c *comparison) fill(changes []lcs.Diff, a, b []int32) {
	i, j := 0, 0
	for k, x := range append(changes, lcs.Diff{
		Start:     len(a),
		End:       len(a),
		ReplStart: len(b),
		ReplEnd:   len(b),
	}) {
		last := k == len(changes)
		head, tail := contextLines, contextLines
		if k == 0 {
			head = 0
		}
		if last {
			tail = 0
		}
		same := x.Start - i
		if same <= head+tail+1 {
			head, tail = same, 0
		}
		for n := range same {
			if n == head && same > head+tail {
				c.rows = append(c.rows, diffRow{kind: '.', a: a[i+n], b: b[j+n], n: int32(same - head - tail)})
			}
			if n < head || n >= same-tail {
				c.rows = append(c.rows, diffRow{kind: '=', a: a[i+n], b: b[j+n]})
			}
		}
		if last {
			return
		}
		c.changes = append(c.changes, len(c.rows))
		pairs := min(x.End-x.Start, x.ReplEnd-x.ReplStart)
		changed := func(r diffRow, n int, others []int32) {
			if n < pairs {
				r.pair = others[n]
			}
			c.rows = append(c.rows, r)
		}
		for n, line := range a[x.Start:x.End] {
			changed(diffRow{kind: '-', a: line}, n, b[x.ReplStart:])
		}
		for n, line := range b[x.ReplStart:x.ReplEnd] {
			changed(diffRow{kind: '+', b: line}, n, a[x.Start:])
		}
		c.removed, c.added = c.removed+x.End-x.Start, c.added+x.ReplEnd-x.ReplStart
		i, j = x.End, x.ReplEnd
	}
}

// side is the lines of one text that a window shows, by their numbers.
type side struct{ html, plain map[int]string }

func (h *Views) newSide(ctx context.Context, o *outputs.Output, lines []int) (*side, error) {
	s := &side{map[int]string{}, map[int]string{}}
	terminal := o.Meta().Type == outputs.Terminal
	for first, last := range runs(lines) {
		for l, err := range o.Lines(ctx, first, last) {
			if err != nil {
				return nil, err
			}
			if terminal {
				l.Text = outputs.Plain(l.Text)
			}
			if l.Gap == nil {
				s.plain[l.Number] = strings.TrimSuffix(string(l.Text), "\r")
			}
		}
	}
	if terminal {
		return s, nil
	}
	html, err := h.scattered(ctx, o, lines)
	if inner := render.Inner(html); len(inner) == len(lines) {
		for n, x := range inner {
			s.html[lines[n]] = x
		}
	}
	return s, err
}

// diffRows shows rows from to to.
func (h *Views) diffRows(ctx context.Context, a, b *outputs.Output, c *comparison, from, to int,
	out *render.DiffRows) error {
	var inA, inB []int
	for _, r := range c.rows[from-1 : to] {
		if r.kind == '-' {
			inA = append(inA, int(r.a))
		}
		if r.kind == '+' || r.kind == '=' {
			inB = append(inB, int(r.b))
		}
	}
	old, err := h.newSide(ctx, a, inA)
	if err != nil {
		return err
	}
	now, err := h.newSide(ctx, b, inB)
	if err != nil {
		return err
	}
	for i, r := range c.rows[from-1 : to] {
		line := render.DiffLine{Kind: r.kind, Old: int(r.a), New: int(r.b), Fold: int(r.n)}
		if k, ok := slices.BinarySearch(c.changes, from-1+i); ok {
			line.Change = k + 1
		}
		of, other, n := now, old, int(r.b)
		if r.kind == '-' {
			of, other, n = old, now, int(r.a)
		}
		if r.kind != '.' {
			line.HTML, line.Text = of.html[n], of.plain[n]
		}
		if r.pair > 0 {
			line.From, line.To = changed(line.Text, other.plain[int(r.pair)])
		}
		out.Add(line)
	}
	return nil
}

// changed returns which characters of text are not in other, if most are.
func changed(text, other string) (from, to int) {
	if len(text) > render.LongLine || len(other) > render.LongLine {
		return 0, 0
	}
	a, b := []rune(text), []rune(other)
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	to = len(a)
	for end := len(b); to > from && end > from && a[to-1] == b[end-1]; end-- {
		to--
	}
	if same := from + len(a) - to; same*3 < utf8.RuneCountInString(text) {
		return 0, 0
	}
	return from, to
}

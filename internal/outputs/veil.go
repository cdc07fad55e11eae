package outputs

import (
	"bytes"
	"context"
	"io"
	"sync"

	"webchat/internal/veil"
)

// Veiled returns o with what looks like a secret covered, see package veil: bytes and lines keep
// their places. It reads as o does, also while that grows. Without a veil, see [Config], it is o.
func (o *Output) Veiled() *Output {
	if o.raw != nil || o.store.unveiled {
		return o
	}
	o.decoding.Lock()
	defer o.decoding.Unlock()
	if o.veiled == nil {
		o.veiled = &Output{
			id:      o.id,
			created: o.created,
			store:   o.store,
			raw:     o,
			covers:  &covers{made: map[int64]cover{}},
		}
		if m := o.Meta(); m.Type == File && !m.Binary && m.First() == 1 && veil.Delimited(m.Path) {
			o.veiled.covers.name, o.veiled.covers.rows = m.Path, map[int64]veil.Row{}
		}
	}
	return o.veiled
}

// Raw returns the output as it is stored, of one that may be veiled.
func (o *Output) Raw() *Output {
	if o.raw != nil {
		return o.raw
	}
	return o
}

// IsVeiled reports whether o is what [Output.Veiled] returned.
func (o *Output) IsVeiled() bool { return o.raw != nil }

const (
	coverReach = 4 << 10  // bytes beside a chunk in which a line goes on
	keyReach   = 64 << 10 // bytes before it in which a private key may begin
	maxCovered = 32       // chunks of one output that are kept covered
)

// covers are the covered chunks of an output, by their offsets.
type covers struct {
	name string // of a file of delimited values that is shown from its first line on

	mu      sync.Mutex // guards what follows
	made    map[int64]cover
	columns *veil.Columns      // nil: they are not known yet
	rows    map[int64]veil.Row // where the lines begin in which chunks begin
}

// cover is a covered chunk.
type cover struct {
	buf   []byte // nil: it has nothing to cover
	size  int    // of the chunk then
	whole bool   // what follows the chunk was there
}

// text is [view.at] as readers may see it.
func (v *view) text(i int) chunk {
	c := v.at(i)
	if v.covers == nil {
		return c
	}
	next := i+1 < v.len() && v.at(i+1).off == c.end()
	v.covers.mu.Lock()
	had, ok := v.covers.made[c.off]
	v.covers.mu.Unlock()
	if !ok || had.size < len(c.buf) || next && !had.whole {
		had = cover{v.cover(i, c, next), len(c.buf), next}
		v.covers.keep(c.off, had)
	}
	if had.buf != nil {
		c.buf = had.buf[:len(c.buf)]
	}
	return c
}

func (s *covers) keep(off int64, c cover) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made[off] = c; c.buf == nil {
		return
	}
	kept := 0
	for at, x := range s.made {
		if x.buf == nil || at == off {
			continue
		}
		if kept++; kept >= maxCovered {
			delete(s.made, at)
		}
	}
}

// cover returns a covered copy of chunk c, number i; nil if there is nothing to cover. It looks at
// the lines that c begins and ends within, and at some above those.
func (v *view) cover(i int, c chunk, next bool) []byte {
	var before, after []byte
	if i > 0 && v.at(i-1).end() == c.off {
		before = v.at(i - 1).buf
		before = before[max(0, len(before)-keyReach):]
	}
	reach := coverReach
	if v.covers.name != "" {
		reach = keyReach // columns are counted from where the line begins
	}
	line := max(bytes.LastIndexByte(before, '\n')+1, len(before)-reach)
	if v.covers.name == "" { // lines above say what those of a block or a list are
		from := max(line-coverReach, 0)
		line = min(from+bytes.IndexByte(before[from:], '\n')+1, line)
	}
	earlier := veil.After(before[:line])
	before = before[line:]
	if next && !endsWithLine(c.buf) {
		after = v.at(i + 1).buf
		after, _, _ = bytes.Cut(after[:min(len(after), reach)], []byte{'\n'})
	}
	text := c.buf
	if len(before)+len(after) > 0 {
		text = bytes.Join([][]byte{before, c.buf, after}, nil)
	}
	all := earlier.Spans(text)
	if cells := v.cells(i, text); len(cells) > 0 {
		all = veil.Joined(append(all, cells...))
	}
	var spans []veil.Span
	for _, s := range all {
		s.From, s.To = max(s.From-len(before), 0), min(s.To-len(before), len(c.buf))
		if s.From < s.To {
			spans = append(spans, s)
		}
	}
	if len(spans) == 0 {
		return nil
	}
	covered := bytes.Clone(c.buf)
	veil.Cover(covered, spans)
	return covered
}

// cells are the cells of a table to be covered in a text that begins with the line in which chunk i
// begins.
func (v *view) cells(i int, text []byte) (spans []veil.Span) {
	s := v.covers
	if s.name == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.columns == nil {
		c := veil.ColumnsOf(s.name, v.at(0).buf)
		if v.len() == 1 && !v.complete {
			return below(&c, text, veil.Row{}) // the first line may go on
		}
		s.columns = &c
	}
	if !s.columns.Secret() {
		return nil
	}
	first := i // from where on lines are counted
	for ; first > 0 && v.at(first-1).end() == v.at(first).off; first-- {
		if _, ok := s.rows[v.at(first).off]; ok {
			break
		}
	}
	row := s.rows[v.at(first).off]
	for k := first; k < i; k++ {
		line := v.at(k).buf
		if k > 0 && v.at(k-1).end() == v.at(k).off {
			line = bytes.Join([][]byte{lastLine(v.at(k - 1).buf), line}, nil)
		}
		for n := bytes.IndexByte(line, '\n'); n >= 0; n = bytes.IndexByte(line, '\n') {
			s.columns.Next(line[:n], &row)
			line = line[n+1:]
		}
		s.rows[v.at(k+1).off] = row
	}
	return below(s.columns, text, row)
}

func lastLine(text []byte) []byte { return text[bytes.LastIndexByte(text, '\n')+1:] }

// below are the cells to be covered in a text.
func below(c *veil.Columns, text []byte, row veil.Row) (spans []veil.Span) {
	if !c.Secret() {
		return nil
	}
	for at := 0; at < len(text); {
		line, _, _ := bytes.Cut(text[at:], []byte{'\n'})
		for _, s := range c.Spans(line, &row) {
			spans = append(spans, veil.Span{From: at + s.From, To: at + s.To})
		}
		at += len(line) + 1
	}
	return spans
}

// CopyShown is [Output.CopyLines] of what the user sees: veiled, but for the lines that were
// lifted. Covered text is dots.
func (o *Output) CopyShown(ctx context.Context, w io.Writer, from, to int, lifted [][2]int) error {
	v := o.Veiled()
	if !v.IsVeiled() {
		return o.CopyLines(ctx, w, from, to)
	}
	m := o.Meta()
	last := m.First() - 1 + o.TotalLines()
	if from = max(from, m.First()); to == 0 || to > last {
		to = last
	}
	for _, r := range append(lifted, [2]int{to + 1, to + 1}) {
		if r[1] == 0 || r[1] > to {
			r[1] = to
		}
		if until := min(r[0]-1, to); from <= until {
			if err := v.CopyLines(ctx, dotted{w}, from, until); err != nil {
				return err
			}
			from = until + 1
		}
		if r[1] >= from && r[0] <= r[1] {
			if err := v.raw.CopyLines(ctx, w, from, r[1]); err != nil {
				return err
			}
			from = r[1] + 1
		}
	}
	return nil
}

// dotted writes covered text as dots.
type dotted struct{ io.Writer }

// Write implements [io.Writer].
func (d dotted) Write(b []byte) (int, error) {
	if _, err := d.Writer.Write(veil.Dotted(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

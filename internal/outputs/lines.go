package outputs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"sort"

	"webchat/internal/wording"
)

// MaxLine is how many bytes of one line [Output.Lines] hands out.
const MaxLine = 1 << 20

// Line is one line of an output, or the gap between two.
type Line struct {
	Number int    // as shown: a file's own
	Text   []byte // without its line feed and at most MaxLine of it; may end in a carriage return
	Cut    int64  // bytes of the line that are not in Text
	Gap    *Gap   // set on a Line of its own, without Number and Text
}

var errStop = errors.New("stop")

// Lines yields the lines from to to, by their numbers as shown and both included, of what is there
// now; from 0 means the first, to 0 the last. Lines beside the gap may be parts of lines. The only
// error is ctx's. Text must not be changed.
func (o *Output) Lines(ctx context.Context, from, to int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		v, m := o.acquire()
		w := v.window(&m, from, to)
		s := splitter{v: &v, first: m.First(), next: w.first, yield: yield}
		err := v.pieces(w.from, w.to, func(b []byte, gap bool) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if gap {
				return s.gap(v.describe(&m))
			}
			return s.bytes(b)
		})
		if err == nil {
			err = s.flush()
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(Line{}, err)
		}
	}
}

// splitter makes lines of pieces.
type splitter struct {
	v       *view
	first   int
	next    int64 // index of the line being read
	carry   []byte
	cut     int64
	pending bool // the line being read has bytes
	yield   func(Line, error) bool
}

func (s *splitter) bytes(b []byte) error {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			s.keep(b)
			return nil
		}
		if s.pending || i > MaxLine {
			s.keep(b[:i])
		} else {
			s.carry, s.pending = b[:i:i], true
		}
		if err := s.flushEmpty(); err != nil {
			return err
		}
		b = b[i+1:]
	}
	return nil
}

// keep adds a part of a line, in memory of its own.
func (s *splitter) keep(b []byte) {
	s.pending = true
	k := min(len(b), MaxLine-len(s.carry))
	s.carry = append(s.carry, b[:k]...)
	s.cut += int64(len(b) - k)
}

// flush yields the last line, which has no line feed, if there is one.
func (s *splitter) flush() error {
	if !s.pending {
		return nil
	}
	return s.flushEmpty()
}

func (s *splitter) flushEmpty() error {
	l := Line{Number: s.first + int(s.next), Text: s.carry, Cut: s.cut}
	s.carry, s.cut, s.pending = nil, 0, false
	s.next++
	if !s.yield(l, nil) {
		return errStop
	}
	return nil
}

func (s *splitter) gap(g *Gap) error {
	if err := s.flush(); err != nil {
		return err
	}
	s.next = s.v.at(len(s.v.head)).nl
	if !s.yield(Line{Gap: g}, nil) {
		return errStop
	}
	return nil
}

// CopyLines writes the lines from to to, as for Lines, exactly as they are stored, with a line of
// its own in place of the gap.
func (o *Output) CopyLines(ctx context.Context, w io.Writer, from, to int) error {
	v, m := o.acquire()
	win := v.window(&m, from, to)
	return v.copy(ctx, w, &m, win.from, win.to)
}

func (v *view) copy(ctx context.Context, w io.Writer, m *Meta, from, to int64) error {
	open := false
	return v.pieces(from, to, func(b []byte, gap bool) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if gap {
			b = v.describe(m).notice(open)
		}
		open = b[len(b)-1] != '\n'
		_, err := w.Write(b)
		return err
	})
}

// notice is the line that stands in an output's text for what was left out. open says that the line
// before it has not ended.
func (g *Gap) notice(open bool) []byte {
	b := make([]byte, 0, 80)
	if open {
		b = append(b, '\n')
	}
	b = append(b, "… "...)
	b = append(b, wording.Count(g.Bytes)...)
	b = append(b, " bytes ("...)
	b = append(b, wording.Count(g.Lines)...)
	return append(b, " lines) left out …\n"...)
}

// window is a range of lines: indexes from 0, and the offsets of its bytes.
type window struct {
	first, last int64 // last < first: no line
	from, to    int64
}

// window clamps lines numbered from..to to what there is.
func (v *view) window(m *Meta, from, to int) window {
	base, total := m.First(), v.lines()
	w := window{first: max(int64(from)-int64(base), 0), last: total - 1}
	if to > 0 {
		w.last = min(int64(to)-int64(base), total-1)
	}
	if w.first > w.last {
		return window{first: w.first, last: w.first - 1}
	}
	w.from, _ = v.lineStart(w.first)
	_, w.to = v.lineStart(w.last + 1)
	return w
}

// LineOf returns the number, as shown, of the line that holds a true offset, or would.
func (o *Output) LineOf(off int64) int {
	v, m := o.acquire()
	i := v.find(off)
	if i == v.len() {
		return m.First() + int(v.lines()) - 1
	}
	c := v.at(i)
	return m.First() + int(c.nl+count(c.buf[:max(0, off-c.off)]))
}

// lineStart finds where the line of index k begins: by the line counts of the chunks, then within
// one chunk. When that was left out, start and end are the gap's, so that a range that begins or
// ends there includes the gap.
func (v *view) lineStart(k int64) (start, end int64) {
	if k <= 0 {
		return 0, 0
	}
	if k > v.nl {
		return v.size, v.size
	}
	i := sort.Search(v.len(), func(i int) bool { return v.at(i).nl >= k }) - 1
	c := v.at(i)
	if j := nth(c.buf, k-c.nl); j >= 0 {
		off := c.off + int64(j) + 1
		return off, off
	}
	from, to, _, ok := v.gap()
	switch {
	case !ok:
		return v.size, v.size
	case k >= v.at(len(v.head)).nl: // the rest of that line is there
		return to, to
	}
	return from, to
}

// nth returns the index of the n-th line feed, n from 1, or -1.
func nth(b []byte, n int64) int {
	const step = 4 << 10
	at := 0
	for len(b)-at > step {
		k := count(b[at : at+step])
		if k >= n {
			break
		}
		n, at = n-k, at+step
	}
	for ; n > 0; n-- {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	return at - 1
}

// pieces hands out the bytes [from, to) without copying, and the gap where it is.
func (v *view) pieces(from, to int64, f func(b []byte, gap bool) error) error {
	for i := v.find(from); i < v.len() && from < to; i++ {
		c := v.text(i)
		if c.off > from {
			if err := f(nil, true); err != nil {
				return err
			}
			if from = c.off; from >= to {
				break
			}
		}
		b := c.buf[from-c.off : min(to, c.end())-c.off]
		if err := f(b, false); err != nil {
			return err
		}
		from += int64(len(b))
	}
	return nil
}

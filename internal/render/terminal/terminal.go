// Package terminal shows what a program wrote to a terminal as rows, while it grows and after. Its guarantees are those
// of package render. A [Document] may be used concurrently.
package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"sort"
	"strings"
	"sync"

	"webchat/internal/render"
)

const (
	markEvery     = 500     // lines between two marks, or a multiple
	forgetEvery   = 100     // lines after which the saved cursor is forgotten; a mark is at such a place
	terminalChunk = 1 << 20 // long enough for a stretch that pays
	takeAtOnce    = 1 << 16 // bytes taken line by line between two looks at the context
	maxMarks      = 16 << 10
	maxChanges    = 256
)

// Document shows what a program wrote to a terminal, as rows of the same markup as package code, while it grows and after.
//
// Carriage returns, backspaces, cursor movement and erasing are interpreted; of all other sequences only colours and
// weights are left, as classes: a0–a15 and x16–x255 for text, r0–r255 and rv for backgrounds, b (bold), f (faint), it,
// un and st. Links and pictures a program sends are dropped and their text stays; so are titles, clipboard writes and queries.
// No ESC, no C1 and no C0 but tab and newline is left.
//
// Rows and the raw lines of the bytes: where a program only writes forward, row N is raw line N. Moving the cursor up
// and writing again changes rows that exist, so later rows have smaller numbers than their raw lines. A program can
// reach screenLines (100) rows up; rows above are final. A line of more than 512 columns is still one row, up to
// about 30,000 columns. The rows are a function of the bytes alone, however they were cut when they came.
//
// Memory is that of one screen and of a mark every 500 lines; the bytes stay with their owner.
type Document struct {
	src     io.ReaderAt
	options render.RowOptions

	mu      sync.Mutex // guards what follows
	screen  *termScreen
	read    int64 // bytes of src taken in
	marks   []mark
	coming  []mark // whose rows are in reach: how many rows are above them may change
	every   int    // lines between marks; doubled when there are too many
	next    int    // number of lines at which the next mark is looked for
	changes []change
	version uint64
	seen    []string // the rows in reach after the last Advance
	above   int      // rows above them
	lowest  int      // while advancing: the first row that changed
	fresh   bool     // the bytes taken in end with a line
	broken  int64    // no stretch begins before
}

// mark is a place in the bytes from which rows can be made again: row starts at off, in style.
type mark struct {
	off   int64
	line  int // of the screen, from 0
	row   int // from 0, as soon as it is final
	lines int // above off
	style sgr
}

// change says that version changed nothing above row low (from 0).
type change struct {
	version uint64
	low     int
}

// New opens a document over src, of which nothing is read yet: see [Document.Advance].
func New(src io.ReaderAt, o render.RowOptions) *Document {
	t := &Document{src: src, options: o.Clean(), every: markEvery, next: markEvery}
	t.screen = newTermScreen(t.scrolledOut)
	return t
}

// Advance takes in the bytes up to size, which must not shrink. It costs what the new bytes cost; when ctx ends it
// returns its error and goes on from there next time.
func (t *Document) Advance(ctx context.Context, size int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if size <= t.read {
		return nil
	}
	t.lowest = t.above + len(t.seen)
	if n := len(t.seen); n > 0 {
		t.lowest-- // the row being written is looked at below
	}
	err := t.advance(ctx, size)
	t.settle()
	return err
}

func (t *Document) advance(ctx context.Context, size int64) error {
	buf := make([]byte, min(terminalChunk, size-t.read))
	for t.read < size {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := readAt(t.src, buf[:min(int64(len(buf)), size-t.read)], t.read)
		if err != nil {
			return err
		}
		for left := takeAtOnce; len(p) > 0 && left > 0; {
			if t.fresh {
				if n := t.stretch(p); n > 0 {
					p = p[n:]
					continue
				}
			}
			line := p
			if i := bytes.IndexByte(p, '\n'); i >= 0 {
				line = p[:i+1]
			}
			p = p[len(line):]
			left -= len(line)
			t.take(line)
			t.fresh = line[len(line)-1] == '\n'
		}
	}
	return nil
}

func readAt(src io.ReaderAt, p []byte, off int64) ([]byte, error) {
	n, err := src.ReadAt(p, off)
	if n == len(p) || n > 0 && errors.Is(err, io.EOF) {
		return p[:n], nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, fmt.Errorf("read terminal bytes at %d: %w", off, err)
}

// take gives the screen at most one raw line and sets a mark if one is due and possible.
func (t *Document) take(line []byte) {
	s := t.screen
	if s.probe.state == probeArmed && len(line) > 0 {
		off, style := t.read, s.filter.sgr
		for len(line) > 0 && s.probe.state == probeArmed {
			s.write(line[:1])
			line = line[1:]
			t.read++
		}
		if s.probe.state == probeHit {
			t.coming = append(t.coming, mark{off: off, line: s.probe.newest(), lines: s.lines, style: style})
			t.next = s.lines + t.every
			s.probe.state = probeOff
		}
	}
	s.write(line)
	t.read += int64(len(line))
	if s.lines >= t.next && s.lines%forgetEvery == 0 && len(line) > 0 && line[len(line)-1] == '\n' && s.filter.plain() {
		s.arm()
	}
}

func (t *Document) mark(m mark) {
	t.marks = append(t.marks, m)
	if len(t.marks) > maxMarks {
		kept := t.marks[:0]
		for i, m := range t.marks {
			if i%2 == 0 {
				kept = append(kept, m)
			}
		}
		t.marks = kept
		t.every *= 2
	}
}

// scrolledOut compares a row that is final now with what was last told about it. A mark that does not begin a row any
// more is of no use.
func (t *Document) scrolledOut(line int, row string) {
	n := t.screen.gone - 1
	for len(t.coming) > 0 && t.coming[0].line <= line {
		if m := t.coming[0]; m.line == line {
			m.row = n
			t.mark(m)
		}
		t.coming = t.coming[1:]
	}
	t.compare(n, row)
}

func (t *Document) compare(n int, row string) {
	if i := n - t.above; n < t.lowest && i >= 0 && (i >= len(t.seen) || t.seen[i] != row) {
		t.lowest = n
	}
}

// settle notes what changed since the last Advance.
func (t *Document) settle() {
	rows := t.screen.rows()
	total, before := t.screen.gone+len(rows), t.above+len(t.seen)
	for i, row := range rows {
		t.compare(t.screen.gone+i, row)
	}
	t.lowest = min(t.lowest, total)
	unchanged := total == before && t.lowest >= before-1 && len(rows) > 0 && len(t.seen) > 0 && rows[len(rows)-1] == t.seen[len(t.seen)-1]
	t.seen, t.above = rows, t.screen.gone
	if unchanged {
		return
	}
	t.version++
	for len(t.changes) > 0 && t.changes[len(t.changes)-1].low >= t.lowest {
		t.changes = t.changes[:len(t.changes)-1]
	}
	t.changes = append(t.changes, change{t.version, t.lowest})
	if len(t.changes) > maxChanges {
		// Callers that are far behind are told of more rows than changed, never of fewer.
		t.changes[1].low = t.changes[0].low
		t.changes = append(t.changes[:0], t.changes[1:]...)
	}
}

// Total is the number of rows.
func (t *Document) Total() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.above + len(t.seen)
}

// Final is the number of rows from the top that cannot change any more.
func (t *Document) Final() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.above
}

// Changed says which rows to ask for again: all from the returned one on (from 1) may differ from what they were at
// version since, those above do not. If nothing changed, from is Total()+1. version is what to ask with next time; the
// first time ask with 0.
func (t *Document) Changed(since uint64) (from int, version uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := sort.Search(len(t.changes), func(i int) bool { return t.changes[i].version > since })
	if i == len(t.changes) {
		return t.above + len(t.seen) + 1, t.version
	}
	return t.changes[i].low + 1, t.version
}

// Rows returns rows from to to (from 1, both included, cut to what exists and to render.MaxRows).
//
// Rows out of a program's reach are made again from the nearest mark. Where a program rewrote the same rows for
// megabytes there is no mark near; after five times [render.WorkLimit] what is still missing is returned empty, with Plain set.
func (t *Document) Rows(ctx context.Context, from, to int) (render.Rows, error) {
	t.mu.Lock()
	seen, above, read := t.seen, t.above, t.read
	i := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].row >= from }) - 1
	start := mark{}
	if i >= 0 {
		start = t.marks[i]
	}
	t.mu.Unlock()

	from, to = max(from, 1), min(to, above+len(seen), max(from, 1)+render.MaxRows-1)
	rows := render.Rows{From: from, To: to, Exact: true}
	if to < from {
		return rows, nil
	}
	var b strings.Builder
	n := from
	if from <= above {
		missing, err := t.replay(ctx, start, read, from, min(to, above), &b)
		if err != nil {
			return render.Rows{}, fmt.Errorf("show terminal rows %d to %d: %w", from, to, err)
		}
		rows.Plain = missing
		n = min(to, above) + 1
	}
	for ; n <= to; n++ {
		t.row(&b, n, seen[n-1-above])
	}
	rows.HTML = template.HTML(b.String())
	return rows, nil
}

func (t *Document) row(b *strings.Builder, n int, row string) {
	t.options.OpenRow(b, n)
	termRow(b, row)
	t.options.CloseRow(b)
}

// replay makes rows from to to again, which are all out of reach, and reports whether it had to leave some empty.
func (t *Document) replay(ctx context.Context, start mark, end int64, from, to int, b *strings.Builder) (missing bool, err error) {
	work := render.BeginWork(5 * render.WorkLimit)
	defer work.End()
	n := start.row
	s := newTermScreen(nil)
	blank := 0 // lines that stand for what is above the mark
	if start.row > 0 {
		s.fill()
		s.filter.sgr, s.lines = start.style, start.lines
		s.sequence(start.style.sequence())
		blank = screenBuffer
	}
	s.out = func(line int, row string) {
		if line < blank {
			return
		}
		if n++; from <= n && n <= to {
			t.row(b, n, row)
		}
	}
	buf := make([]byte, 16<<10)
	for off := start.off; n < to && off < end; off += int64(len(buf)) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if work.Over() {
			break
		}
		buf, err = readAt(t.src, buf[:min(int64(cap(buf)), end-off)], off)
		if err != nil {
			return false, err
		}
		s.write(buf)
		s.flush()
	}
	for n = max(n+1, from); n <= to; n++ {
		missing = true
		t.row(b, n, "")
	}
	return missing, nil
}

// Rows renders a whole small text at once, for a tool's folded result or an error's last lines.
func Rows(p []byte, o render.RowOptions) template.HTML {
	t := New(bytes.NewReader(p), o)
	if err := t.Advance(context.Background(), int64(len(p))); err != nil {
		return ""
	}
	rows, err := t.Rows(context.Background(), 1, t.Total())
	if err != nil {
		return ""
	}
	return rows.HTML
}

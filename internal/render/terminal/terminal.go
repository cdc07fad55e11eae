// Package terminal shows what a program wrote to a terminal as rows, while it grows and after.
// Its guarantees are those of package render. A [Document] may be used concurrently.
package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"webchat/internal/render"
)

const (
	// maxDrawn is how many bytes are drawn on a screen: the library takes 7 MB/s.
	maxDrawn   = 2 << 20
	chunkSize  = 64 << 10  // bytes taken in between two looks at the context
	startEvery = 500       // lines between two places in the bytes that are remembered
	shownLine  = 30_000    // bytes of a line that are shown by itself
	windowSize = 8 << 20   // bytes of lines that one window shows
	maxStarts  = 256 << 10 // places, after which a window reads on from the last one
)

// Document shows what a program wrote to a terminal, as rows of the same markup as package code.
//
// Carriage returns, backspaces, cursor movement and erasing are interpreted; of all other
// sequences only colours and weights are left, as classes: a0–a15 and x16–x255 for text, r0–r255
// and rv for backgrounds, b (bold), f (faint), it, un and st. Links and pictures a program sends
// are dropped and their text stays; so are titles, clipboard writes and queries. No ESC, no C1
// and no C0 but tab and newline is left.
//
// A text without any of that, of any size, has its lines as rows. Another is drawn on a screen up
// to maxDrawn bytes: a program can reach screenLines (100) rows up, rows above are final, and a
// line of more than 512 columns is still one row, up to about 30,000 columns. Of a longer one each
// line is drawn by itself, so row N is line N. The rows are a function of the bytes alone, however
// they were cut when they came.
type Document struct {
	src   io.ReaderAt
	first int // the number of its first row, as shown

	mu     sync.Mutex // guards what follows
	read   int64      // bytes of src taken in
	drawn  *screen    // nil: rows are lines
	final  []string   // rows of the screen that cannot change, in the library's HTML
	reach  []string   // and those that can
	starts []int64    // where each startEvery-th line begins, from the first
	ends   int        // line ends in the bytes taken in
	open   bool       // they do not end with one
}

// New opens a document over src, of which nothing is read yet: see [Document.Advance]. first is the
// number that its first row shows.
func New(src io.ReaderAt, first int) *Document {
	return &Document{src: src, first: first, starts: []int64{0}}
}

// Advance takes in the bytes up to size, which must not shrink. It costs what the new bytes cost;
// when ctx ends it returns its error and goes on from there next time.
func (t *Document) Advance(ctx context.Context, size int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if size <= t.read {
		return nil
	}
	if t.drawn != nil && size > maxDrawn {
		t.drawn, t.final, t.reach, t.read = nil, nil, nil, 0
	}
	defer func() {
		if t.drawn != nil {
			t.reach = t.drawn.rows()
		}
	}()
	buf := make([]byte, min(chunkSize, size-t.read))
	for t.read < size {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := readAt(t.src, buf[:min(int64(len(buf)), size-t.read)], t.read)
		if err != nil {
			return err
		}
		if t.drawn == nil && size <= maxDrawn && !plain(p) {
			t.drawn = newScreen(func(row string) { t.final = append(t.final, row) })
			t.read, t.starts, t.ends = 0, t.starts[:1], 0
			continue
		}
		t.take(p)
	}
	return nil
}

// take takes in the next bytes.
func (t *Document) take(p []byte) {
	if t.drawn != nil {
		t.drawn.write(p)
		t.read += int64(len(p))
		return
	}
	if t.read == 0 {
		t.starts, t.ends = t.starts[:1], 0
	}
	for at := 0; ; {
		i := bytes.IndexByte(p[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		if t.ends++; t.ends%startEvery == 0 && len(t.starts) < maxStarts {
			t.starts = append(t.starts, t.read+int64(at))
		}
	}
	t.read += int64(len(p))
	t.open = p[len(p)-1] != '\n'
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

// plain reports whether each line of p is a row as it is: it holds nothing that moves or colours.
func plain(p []byte) bool {
	for _, c := range p {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f { // C1 controls are among those
			return false
		}
	}
	return true
}

// Total is the number of rows.
func (t *Document) Total() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total()
}

func (t *Document) total() int {
	switch {
	case t.drawn != nil:
		return len(t.final) + len(t.reach)
	case t.open:
		return t.ends + 1
	}
	return t.ends
}

// Final is the number of rows from the top that can no longer change while no more than
// maxDrawn bytes come.
func (t *Document) Final() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.drawn != nil {
		return len(t.final)
	}
	return t.ends
}

// Rows returns rows from to to (from 1, both included, cut to what exists and to render.MaxRows).
// What takes longer than five times [render.WorkLimit] is returned empty.
func (t *Document) Rows(ctx context.Context, from, to int) (render.Rows, error) {
	t.mu.Lock()
	from = max(from, 1)
	to = min(to, t.total(), from+render.MaxRows-1)
	lines, final, reach := t.drawn == nil, t.final, t.reach
	first := min((from-1)/startEvery, len(t.starts)-1)
	start, end := t.starts[first], t.read
	t.mu.Unlock()

	rows := render.Rows{From: from, To: to, Exact: true}
	if to < from {
		return rows, nil
	}
	var b strings.Builder
	if lines {
		if err := t.lines(ctx, &b, io.NewSectionReader(t.src, start, end-start), first*startEvery+1, from, to); err != nil {
			return render.Rows{}, fmt.Errorf("show terminal rows %d to %d: %w", from, to, err)
		}
	}
	for n := from; n <= to && !lines; n++ {
		render.OpenRow(&b, n-1+t.first)
		if i := n - 1 - len(final); i >= 0 {
			termRow(&b, reach[i])
		} else {
			termRow(&b, final[n-1])
		}
		render.CloseRow(&b)
	}
	rows.HTML = template.HTML(b.String())
	return rows, nil
}

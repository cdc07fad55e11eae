// Package terminal shows what a program wrote to a terminal as rows, while it grows and after.
// Its guarantees are those of package render. A [Document] may be used concurrently.
package terminal

import (
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
	// MaxDrawn is how many bytes are drawn on a screen: the library takes 7 MB/s.
	MaxDrawn   = 2 << 20
	chunkSize  = 64 << 10 // bytes taken in between two looks at the context
	shownLine  = 30_000   // bytes of a line that are shown by itself
	windowSize = 8 << 20  // bytes of lines that one window shows
)

// Document draws what a program wrote to a terminal on a screen, of up to MaxDrawn bytes. Its rows
// have the markup of those of package code.
//
// Carriage returns, backspaces, cursor movement and erasing are interpreted; of all other
// sequences only colours and weights are left, as classes: a0–a15 and x16–x255 for text, r0–r255
// and rv for backgrounds, b (bold), f (faint), it, un and st. Links and pictures a program sends
// are dropped and their text stays; so are titles, clipboard writes and queries. No ESC, no C1
// and no C0 but tab and newline is left.
//
// A program can reach screenLines (100) rows up, rows above are final, and a line of more than 512
// columns is still one row, up to about 30,000 columns. The rows are a function of the bytes alone,
// however they were cut when they came.
type Document struct {
	src   io.ReaderAt
	first int // the number of its first row, as shown

	mu    sync.Mutex // guards what follows
	read  int64      // bytes of src taken in
	drawn *screen    // nil: nothing needs one, so that rows are lines
	final []string   // rows of the screen that cannot change, in the library's HTML
	reach []string   // and those that can
}

// New opens a document over src, of which nothing is read yet: see [Document.Advance]. first is the
// number that its first row shows.
func New(src io.ReaderAt, first int) *Document { return &Document{src: src, first: first} }

// Advance takes in the bytes up to size, which must not shrink. It costs what the new bytes cost;
// when ctx ends it returns its error and goes on from there next time.
func (t *Document) Advance(ctx context.Context, size int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if size <= t.read {
		return nil
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
		switch {
		case err != nil:
			return err
		case t.drawn != nil:
			t.drawn.write(p)
		case !plain(p):
			t.drawn, t.read = newScreen(func(row string) { t.final = append(t.final, row) }), 0
			continue
		}
		t.read += int64(len(p))
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

// plain reports whether each line of p is a row as it is: it holds nothing that moves or colours.
func plain(p []byte) bool {
	for _, c := range p {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f { // C1 controls are among those
			return false
		}
	}
	return true
}

// Drawn reports whether something in the bytes taken in moves or colours. If not, rows are lines,
// as [Lines] shows them, and the document has none.
func (t *Document) Drawn() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.drawn != nil
}

// Total is the number of rows.
func (t *Document) Total() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.final) + len(t.reach)
}

// Final is the number of rows from the top that can no longer change.
func (t *Document) Final() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.final)
}

// Rows returns rows from to to (from 1, both included, cut to what exists and to render.MaxRows).
func (t *Document) Rows(from, to int) template.HTML {
	t.mu.Lock()
	final, reach := t.final, t.reach
	t.mu.Unlock()
	from = max(from, 1)
	var b strings.Builder
	for n := from; n <= min(to, len(final)+len(reach), from+render.MaxRows-1); n++ {
		render.OpenRow(&b, n-1+t.first)
		if i := n - 1 - len(final); i >= 0 {
			termRow(&b, reach[i])
		} else {
			termRow(&b, final[n-1])
		}
		render.CloseRow(&b)
	}
	return template.HTML(b.String())
}

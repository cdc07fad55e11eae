package server

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"sync"

	"webchat/internal/outputs"
	"webchat/internal/render"
)

// documents is how many highlighted documents are kept open. An open one knows
// lexer states, or a terminal's screen, inside of it, so that a later window costs
// only itself.
const documents = 64

// highlighter makes rows of HTML of outputs, for the API and for pages.
type highlighter struct {
	mu   sync.Mutex  // guards open
	open []*document // the most recently used is last
}

// document is an output as package render sees it. What was left out of the middle
// parts it in two.
type document struct {
	id         outputs.ID
	gap        outputs.Gap // the zero value: there is none
	head, tail *part
}

// part is a run of rows.
type part struct {
	first   int // the number of its first row, as shown
	rows    rows
	advance func(ctx context.Context) error // takes in what has come since
}

// rows is a text by numbered lines, counted from 1, as package render shows it.
type rows interface {
	Rows(ctx context.Context, from, to int) (render.Rows, error)
}

func newHighlighter() *highlighter { return &highlighter{} }

// bytes implements outputs.HTML.
func (h *highlighter) bytes(ctx context.Context, o *outputs.Output, from, to int) ([]byte, error) {
	html, err := h.lines(ctx, o, from, to)
	return []byte(html), err
}

// lines renders the lines from to to, by their numbers as shown.
func (h *highlighter) lines(ctx context.Context, o *outputs.Output, from, to int) (template.HTML, error) {
	for try := 0; ; try++ {
		html, err := h.document(o).window(ctx, from, to)
		// The gap of an output that grows moves; a document made before reads into it.
		if _, moved := errors.AsType[*outputs.GapError](err); moved && try < 3 {
			h.forget(o.ID())
			continue
		}
		return html, err
	}
}

// window renders rows by their numbers as shown. What was left out is one row,
// whatever number of lines it had.
func (d *document) window(ctx context.Context, from, to int) (html template.HTML, err error) {
	if d.tail == nil {
		return d.head.window(ctx, from, to)
	}
	last, next := d.gap.AfterLine, d.tail.first
	if from <= last {
		if html, err = d.head.window(ctx, from, min(to, last)); err != nil {
			return "", err
		}
	}
	if to > last && from < next {
		html += `<div class="line gap"><span class="ln"></span><code class="cl">` +
			render.Visible(fmt.Sprintf("… %d bytes (%d lines) left out …", d.gap.Bytes, d.gap.Lines)) + "</code></div>\n"
	}
	if to < next {
		return html, nil
	}
	tail, err := d.tail.window(ctx, max(from, next), to)
	return html + tail, err
}

func (p *part) window(ctx context.Context, from, to int) (template.HTML, error) {
	if p.advance != nil {
		if err := p.advance(ctx); err != nil {
			return "", err
		}
	}
	r, err := p.rows.Rows(ctx, from-p.first+1, to-p.first+1)
	return r.HTML, err
}

// document opens an output, or finds it open.
func (h *highlighter) document(o *outputs.Output) *document {
	m := o.Meta()
	var gap outputs.Gap
	if m.Gap != nil {
		gap = *m.Gap
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, d := range h.open {
		if d.id == o.ID() {
			h.open = append(h.open[:i], h.open[i+1:]...)
			if d.gap == gap && (o.Complete() || m.Type == outputs.Terminal) {
				h.open = append(h.open, d)
				return d
			}
			break // it has another shape now
		}
	}
	if len(h.open) >= documents {
		h.open = h.open[:copy(h.open, h.open[1:])]
	}
	d := newDocument(o, m, gap)
	h.open = append(h.open, d)
	return d
}

func (h *highlighter) forget(id outputs.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, d := range h.open {
		if d.id == id {
			h.open = append(h.open[:i], h.open[i+1:]...)
			return
		}
	}
}

func newDocument(o *outputs.Output, m outputs.Meta, gap outputs.Gap) *document {
	d := &document{id: o.ID(), gap: gap}
	first := max(m.StartLine, 1)
	cut := gap.Bytes > 0
	next := gap.AfterLine + int(gap.Lines)
	if cut && endsLine(o, gap.Offset) {
		next++
	}
	if m.Type != outputs.Terminal {
		// One document: lines that were left out count as empty ones.
		code := render.NewCode(m.Highlight, text{o, first}, render.RowOptions{First: first})
		d.head = &part{first: first, rows: code}
		if cut {
			d.tail = &part{first: next, rows: shifted{code, next - first}}
		}
		return d
	}
	end := o.Size
	if cut {
		end = func() int64 { return gap.Offset }
		start := gap.Offset + gap.Bytes
		d.tail = terminal(from{o, start}, next, func() int64 { return o.Size() - start })
	}
	d.head = terminal(o, first, end)
	return d
}

// endsLine reports whether a line begins at an offset: of what grows, the last line
// before the gap may be a part of one, and its end is in the gap.
func endsLine(o *outputs.Output, off int64) bool {
	var b [1]byte
	n, _ := o.ReadAt(b[:], off-1) // without a byte before it, it does
	return n == 0 || b[0] == '\n'
}

func terminal(src io.ReaderAt, first int, size func() int64) *part {
	t := render.NewTerminal(src, render.RowOptions{First: first})
	return &part{first: first, rows: t, advance: func(ctx context.Context) error { return t.Advance(ctx, size()) }}
}

// shifted counts rows from a later one.
type shifted struct {
	rows
	by int
}

// Rows implements rows.
func (s shifted) Rows(ctx context.Context, from, to int) (render.Rows, error) {
	return s.rows.Rows(ctx, from+s.by, to+s.by)
}

// from reads from an offset on.
type from struct {
	io.ReaderAt
	start int64
}

// ReadAt implements [io.ReaderAt].
func (f from) ReadAt(p []byte, off int64) (int, error) { return f.ReaderAt.ReadAt(p, f.start+off) }

// text is an output as package render reads it.
type text struct {
	o     *outputs.Output
	first int
}

// Total implements render.Source.
func (s text) Total() int { return s.o.TotalLines() }

// Lines implements render.Source. Lines that were left out come as empty ones, so
// that all others keep their numbers.
func (s text) Lines(ctx context.Context, from, to int) ([]byte, error) {
	var b []byte
	next := from + s.first - 1
	for line, err := range s.o.Lines(ctx, next, to+s.first-1) {
		if err != nil {
			return nil, err
		}
		if line.Gap != nil {
			continue
		}
		for ; next < line.Number; next++ {
			b = append(b, '\n')
		}
		b = append(append(b, line.Text...), '\n')
		next = line.Number + 1
	}
	return b, nil
}

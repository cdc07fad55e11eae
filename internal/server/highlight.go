package server

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"webchat/internal/outputs"
	"webchat/internal/render"
)

// documents is how many highlighted documents are kept open. An open one knows
// lexer states inside of it, so that a later window costs only itself.
const documents = 64

// highlighter makes rows of HTML of outputs, for the API and for pages.
type highlighter struct {
	mu   sync.Mutex // guards open
	open []document // the most recently used is last
}

type document struct {
	id   outputs.ID
	rows rows
}

// rows is a text by numbered lines, counted from 1, as package render shows it.
type rows interface {
	Rows(ctx context.Context, from, to int) (render.Rows, error)
}

func newHighlighter() *highlighter { return &highlighter{} }

// lines implements outputs.HTML.
func (h *highlighter) lines(ctx context.Context, o *outputs.Output, from, to int) ([]byte, error) {
	m := o.Meta()
	first := max(m.StartLine, 1)
	doc := h.document(o, m, first)
	if m.Gap == nil {
		return window(ctx, doc, from-first+1, to-first+1)
	}
	// What was left out is one row, whatever number of lines it had.
	var b bytes.Buffer
	last, next := m.Gap.AfterLine, m.Gap.AfterLine+int(m.Gap.Lines)+1
	if from <= last {
		part, err := window(ctx, doc, from-first+1, min(to, last)-first+1)
		if err != nil {
			return nil, err
		}
		b.Write(part)
	}
	if to > last && from < next {
		fmt.Fprintf(&b, "<div class=\"line gap\"><span class=\"ln\"></span><code class=\"cl\">… %d bytes (%d lines) left out …</code></div>\n", m.Gap.Bytes, m.Gap.Lines)
	}
	if to >= next {
		part, err := window(ctx, doc, max(from, next)-first+1, to-first+1)
		if err != nil {
			return nil, err
		}
		b.Write(part)
	}
	return b.Bytes(), nil
}

func window(ctx context.Context, doc rows, from, to int) ([]byte, error) {
	r, err := doc.Rows(ctx, from, to)
	return []byte(r.HTML), err
}

// document opens an output, or finds it open. One that grows is opened each time.
func (h *highlighter) document(o *outputs.Output, m outputs.Meta, first int) rows {
	if !o.Complete() {
		return newDocument(o, m, first)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, d := range h.open {
		if d.id == o.ID() {
			h.open = append(append(h.open[:i], h.open[i+1:]...), d)
			return d.rows
		}
	}
	if len(h.open) >= documents {
		h.open = h.open[:copy(h.open, h.open[1:])]
	}
	d := document{o.ID(), newDocument(o, m, first)}
	h.open = append(h.open, d)
	return d.rows
}

func newDocument(o *outputs.Output, m outputs.Meta, first int) rows {
	src := text{o, first}
	return render.NewCode(m.Highlight, src, render.RowOptions{First: first})
}

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

package views

import (
	"context"
	"errors"
	"html/template"

	"webchat/internal/outputs"
	"webchat/internal/render"
	"webchat/internal/render/code"
	"webchat/internal/render/terminal"
)

// Views shows the outputs of a store.
type Views struct {
	store  *outputs.Store
	places Places
}

// Places knows the files of sessions' workspaces.
type Places interface {
	// Place returns the path, relative to the session's workspace and with slashes, of the file
	// that a command run in its folder cwd calls by a name; false if there is none.
	Place(ctx context.Context, sessionID, cwd, name string) (path string, ok bool)
}

// document is an output as package render sees it.
type document struct {
	of       *outputs.Output
	gap      outputs.Gap // the zero value: there is none
	rows     rows
	complete bool
	seen     seen // what other views know of it
}

// rows are shown by their numbers.
type rows interface {
	window(ctx context.Context, from, to int) (template.HTML, error)
}

// textRows are the lines of a text.
type textRows struct {
	*code.Document
	first int // the number of the first one
}

func (l textRows) window(ctx context.Context, from, to int) (template.HTML, error) {
	r, err := l.Rows(ctx, from-l.first+1, to-l.first+1)
	return r.HTML, err
}

// New makes the views of what store holds. Without places, which may be nil, no text becomes a link
// to a file.
func New(store *outputs.Store, places Places) *Views { return &Views{store: store, places: places} }

// HTML implements outputs.Views.
func (h *Views) HTML(ctx context.Context, o *outputs.Output, from, to int) ([]byte, error) {
	html, err := h.rows(ctx, o, from, to)
	return []byte(veiled(o, html)), err
}

// veiled makes what is covered of an output something that can be lifted.
func veiled(o *outputs.Output, html template.HTML) template.HTML {
	if !o.IsVeiled() {
		return html
	}
	return render.Veil(string(html))
}

// rows renders the lines from to to, by their numbers as shown.
func (h *Views) rows(ctx context.Context, o *outputs.Output, from, to int) (template.HTML, error) {
	o = o.Text()
	for try := 0; ; try++ {
		if m := o.Meta(); m.Type == outputs.Terminal && (m.Gap != nil || o.Size() > terminal.MaxDrawn) {
			return terminalLines(ctx, o, from, to)
		}
		html, err := documentOf(o).window(ctx, from, to)
		// The gap of an output that grows moves; a document made before reads into it.
		if _, moved := errors.AsType[*outputs.GapError](err); moved && try < 3 {
			continue
		}
		return html, err
	}
}

// window renders rows by their numbers as shown. What was left out is one row, whatever number of
// lines it had.
func (d *document) window(ctx context.Context, from, to int) (html template.HTML, err error) {
	if d.gap.Bytes == 0 {
		return d.rows.window(ctx, from, to)
	}
	last, next := d.gap.AfterLine, behind(d.of, d.gap)
	if from <= last {
		if html, err = d.rows.window(ctx, from, min(to, last)); err != nil {
			return "", err
		}
	}
	if to > last && from < next {
		html += render.LeftOut(d.gap.Bytes, d.gap.Lines)
	}
	if to < next {
		return html, nil
	}
	tail, err := d.rows.window(ctx, max(from, next), to)
	return html + tail, err
}

// last is the number of the last row of a command's output, as shown.
func (h *Views) last(ctx context.Context, o *outputs.Output) int {
	m := o.Meta()
	if t, ok := documentOf(o).rows.(*screen); ok && m.Gap == nil && o.Size() <= terminal.MaxDrawn {
		// else rows are lines, or a request for them gets the error
		if all, err := t.advance(ctx); all && err == nil && t.Drawn() {
			return t.first + t.Total() - 1
		}
	}
	return max(m.StartLine, 1) + o.TotalLines() - 1
}

// documentOf opens an output, or finds it open. It goes with the output, or once that has another
// shape.
func documentOf(o *outputs.Output) *document {
	complete, m := o.Complete(), o.Meta()
	var gap outputs.Gap
	if m.Gap != nil {
		gap = *m.Gap
	}
	return o.Attach(func(before any) any {
		d, ok := before.(*document)
		if ok && d.gap == gap && (d.complete || m.Type == outputs.Terminal) {
			return d
		}
		return newDocument(o, m, gap, complete)
	}).(*document)
}

func newDocument(o *outputs.Output, m outputs.Meta, gap outputs.Gap, complete bool) *document {
	first := max(m.StartLine, 1)
	d := &document{of: o, gap: gap, complete: complete}
	if m.Type == outputs.Terminal {
		d.rows = &screen{terminal.New(o, first), o, first}
	} else { // lines that were left out count as empty ones
		d.rows = textRows{code.New(m.Highlight, text{o, first}, first), first}
	}
	return d
}

// behind is the number of the first line that is kept after what was left out.
func behind(o *outputs.Output, gap outputs.Gap) int {
	next := gap.AfterLine + int(gap.Lines)
	if endsLine(o, gap.Offset) {
		next++
	}
	return next
}

// endsLine reports whether a line begins at an offset: of what grows, the last line before the gap
// may be a part of one, and its end is in the gap.
func endsLine(o *outputs.Output, off int64) bool {
	var b [1]byte
	n, _ := o.ReadAt(b[:], off-1) // without a byte before it, it does
	return n == 0 || b[0] == '\n'
}

// screen is the whole output of a command, up to [terminal.MaxDrawn] bytes.
type screen struct {
	*terminal.Document
	o     *outputs.Output
	first int // the number of its first row
}

// advance takes in what has come since, for as long as a request may take, and reports whether that
// was all.
func (t *screen) advance(ctx context.Context) (all bool, err error) {
	limited, cancel := context.WithTimeout(ctx, render.WorkLimit)
	defer cancel()
	err = t.Advance(limited, t.o.Size())
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

// window implements rows. While there is more to take in than a request has time for, rows that are
// not known yet are the lines of these numbers, each by itself: the next request continues from
// there. Of what still runs, rows beyond the last are the last ones: a reader that follows asks for
// lines, which are more than the rows if a program writes over what it has written.
func (t *screen) window(ctx context.Context, from, to int) (template.HTML, error) {
	if last := to - t.first + 1; last > t.Final() {
		if all, err := t.advance(ctx); err != nil {
			return "", err
		} else if !t.Drawn() || !all && last > t.Final() {
			return terminalLines(ctx, t.o, from, to)
		}
	}
	from, to = from-t.first+1, to-t.first+1
	if beyond := to - t.Total(); beyond > 0 && !t.o.Complete() {
		from, to = max(1, from-beyond), to-beyond
	}
	return t.Rows(from, to), nil
}

// text is an output as package render reads it.
type text struct {
	o     *outputs.Output
	first int
}

// Total implements code.Source.
func (s text) Total() int { return s.o.TotalLines() }

// Lines implements code.Source. Lines that were left out come as empty ones, so that all others
// keep their numbers.
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

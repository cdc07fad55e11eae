package code

import (
	"html/template"
	"strings"
	"unicode/utf8"

	"webchat/internal/render"
)

// rowWriter writes the rows of a window from tokens that come in order.
type rowWriter struct {
	b      strings.Builder
	first  int
	w      *window
	row    int    // the row being written, 0 before the first
	column int    // bytes of its text written
	left   int    // bytes that its long lines may still have
	class  string // of the open span
}

func newRowWriter(first int, w *window) *rowWriter {
	r := &rowWriter{first: first, w: w, row: w.from - 1, left: shownWindow}
	r.b.Grow(4*w.size + 120*(w.to-w.from+1))
	return r
}

// text writes s, which starts in line; what is outside the window is left out.
func (r *rowWriter) text(line int, class, s string) {
	for s != "" && line <= r.w.to {
		part, rest, more := strings.Cut(s, "\n")
		if line >= r.w.from {
			for r.row < line {
				r.nextRow()
			}
			r.span(class, part)
			r.column += len(part)
		}
		s = rest
		if more {
			line++
		}
	}
}

func (r *rowWriter) span(class, s string) {
	if s == "" {
		return
	}
	if class != r.class {
		r.closeSpan()
		if class != "" {
			r.b.WriteString(`<span class="` + class + `">`)
		}
		r.class = class
	}
	render.Escape(&r.b, s)
}

func (r *rowWriter) closeSpan() {
	if r.class != "" {
		r.b.WriteString("</span>")
		r.class = ""
	}
}

// nextRow completes the current row from the source, should tokens have ended early, and opens the
// next.
func (r *rowWriter) nextRow() {
	r.endRow()
	r.row++
	r.column = 0
	render.OpenRow(&r.b, r.row-1+r.first)
	if line := r.w.line(r.row); isLong(line) {
		head, more := render.CutRunes(string(line), max(render.LongLine, min(shownLine, r.left)))
		r.left -= len(head)
		render.Escape(&r.b, head)
		render.More(&r.b, more)
	}
}

func (r *rowWriter) endRow() {
	if r.row < r.w.from {
		return
	}
	r.closeSpan()
	if line := r.w.line(r.row); !isLong(line) {
		if !utf8.Valid(line) {
			line = []byte(string([]rune(string(line))))
		}
		if r.column < len(line) {
			render.Escape(&r.b, string(line[r.column:]))
		}
	}
	render.CloseRow(&r.b)
}

func (r *rowWriter) finish() template.HTML {
	for r.row < r.w.to {
		r.nextRow()
	}
	r.endRow()
	return template.HTML(r.b.String())
}

package views

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/grep"
	"webchat/internal/outputs"
	"webchat/internal/render"
	"webchat/internal/render/code"
	"webchat/internal/render/markdown"
	"webchat/internal/render/terminal"
)

// searchTime is how long a request may look for the rows that a filter leaves, or sort them.
const searchTime = 2 * time.Second

// refuse is the error for a request that cannot be answered.
func refuse(code, sentence string) error { return &outputs.Refusal{Code: code, Sentence: sentence} }

// View implements outputs.Views.
func (h *Views) View(ctx context.Context, o *outputs.Output,
	a outputs.Ask) (w outputs.Window, err error) {
	k := h.kindOf(o)
	if a.View == App && h.drawn(o) {
		return outputs.Window{View: App}, nil
	}
	if has := slices.Contains(k.views, a.View) || a.View == Failure && k.views[0] == Terminal; !has {
		if slices.Contains(k.above, a.View) {
			return w, refuse("too_large", k.note+" Ask for view=source.")
		}
		return w, refuse("no_view",
			"This output has no such view: the header Webchat-Views lists those it has.")
	}
	w, err = h.viewOf(ctx, o, k, a)
	if o.IsVeiled() {
		w.HTML = []byte(render.Veil(string(w.HTML)))
	}
	if w.View = a.View; k.note != "" && (a.View == Source || a.View == Hex) {
		if w.Header == nil {
			w.Header = map[string]string{}
		}
		w.Header["Note"] = k.note
	}
	return w, err
}

func (h *Views) viewOf(ctx context.Context, o *outputs.Output, k *kind,
	a outputs.Ask) (outputs.Window, error) {
	return Of(a.View).window(h, ctx, asked{a, o, o.Text(), k})
}

// cut returns the rows asked for, of those there are.
func cut(a outputs.Ask, total int) (from, to int) {
	return a.From, min(a.From+a.Rows-1, total)
}

func window(html template.HTML, from, to, total int) outputs.Window {
	return outputs.Window{HTML: []byte(html), From: from, To: to, Total: total}
}

// source is lines by their numbers as shown.
func (h *Views) source(ctx context.Context, o *outputs.Output,
	a outputs.Ask) (outputs.Window, error) {
	m := o.Meta()
	first := max(m.StartLine, 1)
	last := first + o.TotalLines() - 1
	header := map[string]string{"First": strconv.Itoa(first)}
	if m.Type == outputs.Terminal {
		last = h.last(ctx, o)
		if f, _ := h.firstFailure(ctx, o); f.line > 0 {
			header["Failure"] = strconv.Itoa(f.from) + "-" + strconv.Itoa(f.to)
		}
	}
	if m.Gap != nil {
		header["Gap"] = strconv.Itoa(m.Gap.AfterLine) + "-" + strconv.Itoa(behind(o, *m.Gap))
	}
	from, to := max(a.From, first), min(a.From+a.Rows-1, last)
	html, err := template.HTML(""), error(nil)
	if from <= to {
		html, err = h.rows(ctx, o, from, to)
	}
	if m.Type == outputs.Terminal {
		html = h.linked(ctx, o, html)
	}
	w := window(html, from, to, last)
	w.Header = header
	return w, err
}

// filtered is the lines that match, with their own numbers; its rows count them.
func (h *Views) filtered(ctx context.Context, o *outputs.Output,
	a outputs.Ask) (w outputs.Window, err error) {
	text := a.Filter[0]
	if len(a.Filter) > 1 {
		return w, refuse("bad_filter", "Give one regular expression as the filter.")
	}
	e, err := grep.Parse(text)
	if err != nil {
		return w, refuse("bad_filter", fmt.Sprintf("The regular expression (RE2) cannot be used: %v.",
			err))
	}
	hits, err := o.Find(ctx, e, searchTime)
	if err != nil {
		return w, err
	}
	// the row of this line, or of the next one that matches
	if n, ok := strings.CutPrefix(a.At, "L"); ok {
		line, _ := strconv.Atoi(n)
		a.From = max(1, hits.Before(line)+1-a.Rows/2)
	}
	from, to := cut(a, len(hits.Lines))
	html, err := h.scattered(ctx, o, hits.Lines[min(from-1,
		len(hits.Lines)):max(min(from-1, len(hits.Lines)), to)])
	if err != nil {
		return w, err
	}
	w = window(html, from, to, len(hits.Lines))
	w.Partial = !hits.Complete
	if hits.LeftOut > 0 {
		w.Header = map[string]string{"Left-Out": strconv.FormatInt(hits.LeftOut, 10)}
	}
	return w, nil
}

// scatteredTime is how long lines that do not follow one another are highlighted: each run of them
// may cost as much as a window.
const scatteredTime = 200 * time.Millisecond

// scattered shows lines by their numbers as shown. Those of a terminal are shown each by itself,
// since what the program wrote over is not what was found.
func (h *Views) scattered(ctx context.Context, o *outputs.Output,
	lines []int) (html template.HTML, err error) {
	begun, terminal := time.Now(), o.Meta().Type == outputs.Terminal
	for first, last := range runs(lines) { // each costs one look
		part := template.HTML("")
		switch {
		case terminal:
			part, err = terminalLines(ctx, o, first, last)
			part = h.linked(ctx, o, part)
		case time.Since(begun) > scatteredTime:
			part, err = plainRows(ctx, o, first, last)
		default:
			part, err = h.rows(ctx, o, first, last)
		}
		if err != nil {
			return "", err
		}
		html += part
	}
	return html, nil
}

// runs are the first and the last of each run of lines that follow one another.
func runs(lines []int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i, k := 0, 0; i < len(lines); i = k {
			for k = i + 1; k < len(lines) && lines[k] == lines[k-1]+1; k++ {
			}
			if !yield(lines[i], lines[k-1]) {
				return
			}
		}
	}
}

// plainRows are lines without colours.
func plainRows(ctx context.Context, o *outputs.Output, from, to int) (template.HTML, error) {
	first := max(o.Meta().StartLine, 1)
	r, err := code.New("", text{o, first}, first).Rows(ctx, from-first+1, to-first+1)
	return r.HTML, err
}

// terminalLines are lines of a command, each with the colours it has by itself. What was left out
// is one row.
func terminalLines(ctx context.Context, o *outputs.Output, from, to int) (template.HTML, error) {
	return terminal.Lines(func(yield func(terminal.Line, error) bool) {
		for l, err := range o.Lines(ctx, from, to) {
			shown := terminal.Line{Number: l.Number, Text: l.Text, Cut: l.Cut}
			if l.Gap != nil {
				if to <= l.Gap.AfterLine || from >= behind(o, *l.Gap) {
					continue
				}
				shown.Gap = render.LeftOut(l.Gap.Bytes, l.Gap.Lines)
			}
			if !yield(shown, err) {
				return
			}
		}
	})
}

// hexRows are bytes. A row is [render.HexWidth] of them, by their true offsets.
func hexRows(o *outputs.Output, a outputs.Ask) (outputs.Window, error) {
	total := int((o.Size() + render.HexWidth - 1) / render.HexWidth)
	from, to := cut(a, total)
	var html template.HTML
	end := min(int64(to)*render.HexWidth, o.Size())
	for off := int64(from-1) * render.HexWidth; off < end; {
		stop := end
		if over := off % render.HexWidth; over > 0 { // behind a gap
			stop = min(end, off+render.HexWidth-over)
		}
		b := make([]byte, stop-off)
		n, err := o.ReadAt(b, off)
		var covered []bool
		if o.IsVeiled() {
			covered = make([]bool, n)
			bare := make([]byte, n)
			_, _ = o.Raw().ReadAt(bare, off) // as much as before
			for i := range n {
				covered[i] = b[i] != bare[i]
			}
		}
		html += render.Hex(b[:n], off, covered)
		off += int64(n)
		if gap, left := errors.AsType[*outputs.GapError](err); left {
			html += render.LeftOut(gap.To-gap.From, 0)
			off = max(gap.To, off)
		} else if err != nil && err != io.EOF || n == 0 {
			return outputs.Window{}, err
		}
	}
	return window(html, from, to, total), nil
}

// preview is blocks of Markdown.
func (h *Views) preview(o *outputs.Output, a outputs.Ask) (outputs.Window, error) {
	d := documentOf(o)
	d.seen.mu.Lock()
	defer d.seen.mu.Unlock()
	if d.seen.preview == nil {
		text, err := readPart(o, 0, o.Size())
		if err != nil {
			return outputs.Window{}, err
		}
		if len(text) <= maxInlined {
			text = []byte(markdown.Inline(string(text)))
		}
		d.seen.preview = markdown.NewDocument(string(text))
	}
	from, to := cut(a, d.seen.preview.Len())
	html, n := d.seen.preview.HTML(from, to)
	return window(html, from, n, d.seen.preview.Len()), nil
}

// readPart reads the bytes of an output from from up to to.
func readPart(o *outputs.Output, from, to int64) ([]byte, error) {
	b := make([]byte, to-from)
	_, err := io.ReadFull(io.NewSectionReader(o, from, to-from), b)
	return b, err
}

func trimBOM(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\ufeff")) }

package terminal

import (
	"bytes"
	"html/template"
	"iter"
	"strings"

	"webchat/internal/render"
)

// Line is a line of what a program wrote.
type Line struct {
	Number int
	Text   []byte        // without its line feed
	Cut    int64         // bytes of the line that are not in Text
	Gap    template.HTML // a row in place of lines, if there is one; then there is nothing else
}

// Lines shows lines, each drawn by itself. What is too much for one window, or takes longer than
// five times [render.WorkLimit], is left empty. The error is that of lines.
func Lines(lines iter.Seq2[Line, error]) (template.HTML, error) {
	work := render.BeginWork(5 * render.WorkLimit)
	defer work.End()
	var b strings.Builder
	shown := 0
	for l, err := range lines {
		switch {
		case err != nil:
			return "", err
		case l.Gap != "":
			b.WriteString(string(l.Gap))
			continue
		}
		render.OpenRow(&b, l.Number)
		head := l.Text[:min(len(l.Text), shownLine)]
		if shown += len(head); shown <= windowSize && !work.Over() {
			drawLine(&b, head)
			render.More(&b, len(l.Text)-len(head)+int(l.Cut))
		}
		render.CloseRow(&b)
	}
	return template.HTML(b.String()), nil
}

// drawLine writes what a line looks like if nothing stands above it.
func drawLine(b *strings.Builder, line []byte) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if plain(line) {
		colourVerdicts(b, string(line))
		return
	}
	s := newScreen(nil)
	var all []string
	s.out = func(row string) { all = append(all, row) }
	s.write(line)
	for _, row := range append(all, s.rows()...) { // more than one if it moved down
		termRow(b, row)
	}
}

package terminal

import (
	"bufio"
	"context"
	"errors"
	"html/template"
	"io"
	"strings"

	"bytes"

	"webchat/internal/render"
)

// lines writes lines from to to, each drawn by itself; src begins with line n. What is too much for
// one window is left empty.
func (t *Document) lines(ctx context.Context, b *strings.Builder, src io.Reader, n, from, to int) error {
	work := render.BeginWork(5 * render.WorkLimit)
	defer work.End()
	r := bufio.NewReaderSize(src, chunkSize)
	shown := 0
	for ; n <= to; n++ {
		head, size, err := nextLine(r)
		if err != nil {
			return err
		}
		if n < from {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		render.OpenRow(b, n-1+t.first)
		if shown += len(head); shown <= windowSize && !work.Over() {
			drawLine(b, head)
			render.More(b, size-len(head))
		}
		render.CloseRow(b)
	}
	return nil
}

// nextLine reads a line and returns its beginning and its length, both without its end. It keeps
// no more of it than is shown.
func nextLine(r *bufio.Reader) (head []byte, size int, err error) {
	for {
		part, err := r.ReadSlice('\n')
		ended := bytes.HasSuffix(part, []byte("\n"))
		part = bytes.TrimSuffix(part, []byte("\n"))
		size += len(part)
		head = append(head, part[:min(len(part), shownLine-len(head))]...)
		if errors.Is(err, bufio.ErrBufferFull) || errors.Is(err, io.EOF) && ended {
			continue
		}
		if errors.Is(err, io.EOF) && size > 0 {
			err = nil
		}
		return head, size, err
	}
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

// Rows renders a whole small text at once; first is the number of its first row.
func Rows(p []byte, first int) template.HTML {
	t := New(bytes.NewReader(p), first)
	if err := t.Advance(context.Background(), int64(len(p))); err != nil {
		return ""
	}
	rows, err := t.Rows(context.Background(), 1, t.Total())
	if err != nil {
		return ""
	}
	return rows.HTML
}

package views

import (
	"bytes"
	"context"
	"io"
	"slices"

	"webchat/internal/outputs"
)

// Undo returns the text of the file that o holds with one change taken back: change n since the
// output with, from 1, as the view of differences numbers them. Lines keep their ends. It fails with
// an [outputs.Refusal] if o or with does not hold a whole file in UTF-8, or has no such change.
func (h *Views) Undo(ctx context.Context, o, with *outputs.Output, n int) ([]byte, error) {
	now, err := wholeLines(o)
	if err != nil {
		return nil, err
	}
	was, err := wholeLines(with)
	if err != nil {
		return nil, err
	}
	c, err := compare(ctx, with, o)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > len(c.changes) {
		return nil, refuse("no_change", "There is no such change. Open what changed again.")
	}
	at, first := 0, c.changes[n-1]
	if first > 0 { // the line before it
		at = int(c.rows[first-1].b) + max(0, int(c.rows[first-1].n)-1)
	}
	end, old := at, [][]byte(nil)
	next := len(c.rows)
	if n < len(c.changes) {
		next = c.changes[n]
	}
	for _, r := range c.rows[first:next] {
		if r.kind == '-' {
			old = append(old, was[r.a-1])
		} else if r.kind == '+' {
			end++
		} else {
			break
		}
	}
	lines := slices.Concat(now[:at], old, now[end:])
	for i, line := range lines {
		if i < len(lines)-1 && !bytes.HasSuffix(line, []byte{'\n'}) { // it was the last one
			lines[i] = append(bytes.Clone(line), '\n')
		}
	}
	return bytes.Join(lines, nil), nil
}

// wholeLines returns the lines of an output with their ends.
func wholeLines(o *outputs.Output) ([][]byte, error) {
	m := o.Meta()
	if m.Type != outputs.File || m.StartLine > 1 || m.EndLine > 0 && m.EndLine < m.TotalLines || m.Truncated || m.Unread > 0 || m.Binary || o.Text() != o {
		return nil, refuse("not_whole", "Changes are taken back in text files that are shown whole, in UTF-8.")
	}
	text := make([]byte, o.Size())
	if _, err := o.ReadAt(text, 0); err != nil && err != io.EOF {
		return nil, err
	}
	lines := bytes.SplitAfter(text, []byte{'\n'})
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines, nil
}

package views

import (
	"bytes"
	"context"
	"hash/fnv"
	"html/template"
	"io"
	"regexp"
	"slices"
	"sync"

	"webchat/internal/outputs"
	"webchat/internal/render"
	"webchat/internal/render/code"
)

const mostRows = 400 // of one change that are drawn with it

// A Hunk is one change between two outputs, with the lines around it.
type Hunk struct {
	N              int    // among the changes, from 1
	Sum            uint64 // of its lines in both texts; it is the same for the same change elsewhere
	First, Last    int    // its lines in the newer text; Last is before First if it only removed lines
	OldFirst       int    // its first line in the older text
	Added, Removed int    // lines
	In             string
	Rows           template.HTML // at most [mostRows]
	More           int           // rows that are left out
	// of files that are not text: how many there were and are; they have no rows
	Bytes *[2]int64
}

// Hunks returns what changed since the output with, each change by itself; the rows of two changes
// that are near each other do not overlap. The errors are those of the view of differences.
func (h *Views) Hunks(ctx context.Context, o, with *outputs.Output) (list []Hunk, err error) {
	if o.Meta().Binary {
		v, err := newVersions(ctx, o, with)
		if err != nil || len(v.spans) == 0 {
			return nil, err
		}
		return []Hunk{{N: 1, Sum: sum(v.was, v.now), Bytes: &[2]int64{with.Size(), o.Size()}}}, nil
	}
	c, err := compare(ctx, with, o)
	if err != nil {
		return nil, err
	}
	lines, err := wholeLines(o)
	if err != nil {
		return nil, err
	}
	old, err := wholeLines(with)
	if err != nil {
		return nil, err
	}
	shown := 0 // rows that an earlier hunk has
	for k, s := range c.spans() {
		hunk := Hunk{
			N:        k + 1,
			First:    s.now + 1,
			Last:     s.nowEnd,
			OldFirst: s.was + 1,
			Added:    s.nowEnd - s.now,
			Removed:  s.wasEnd - s.was,
			Sum:      sum(old[s.was:s.wasEnd], lines[s.now:s.nowEnd]),
			In:       enclosing(lines, s.now),
		}
		from, to := s.row, s.rowEnd
		for from > shown && s.row-from < contextLines && c.rows[from-1].kind == '=' {
			from--
		}
		for to < len(c.rows) && to-s.rowEnd < contextLines && c.rows[to].kind == '=' {
			to++
		}
		shown = to
		hunk.More = max(0, to-from-mostRows)
		out := &render.DiffRows{}
		if err := h.diffRows(ctx, with, o, c, from+1, to-hunk.More, out); err != nil {
			return nil, err
		}
		hunk.Rows = out.HTML()
		list = append(list, hunk)
	}
	return list, nil
}

func sum(was, now [][]byte) uint64 {
	h := fnv.New64a()
	for _, side := range [][][]byte{was, now} {
		for _, line := range side {
			_, _ = h.Write(line) // it cannot fail
		}
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// declared matches a line that begins a function or a type in one of many languages.
var declared = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^\s*(?:(?:export|default|pub|public|private|static|async|abstract|final)\s+)*` +
			`(?:func(?:\s*\([^)]*\))?|function|def|class|fn|interface|struct|type|impl|trait|enum)\s+([\pL_$][\pL\pN_$]*)`)
})

// enclosing is the name of what the line at lines[at] stands in, judged by how far lines are
// indented; empty means not known.
func enclosing(lines [][]byte, at int) string {
	indent := func(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " \t")) }
	for at < len(lines) && len(bytes.TrimSpace(lines[at])) == 0 {
		at++
	}
	if at >= len(lines) {
		return ""
	}
	deep := indent(lines[at])
	for i := at - 1; i >= max(0, at-2000) && deep > 0; i-- {
		line := lines[i]
		if len(bytes.TrimSpace(line)) == 0 || indent(line) >= deep {
			continue
		}
		deep = indent(line)
		if m := declared().FindSubmatch(line[:min(len(line), 500)]); m != nil {
			return string(m[1])
		}
	}
	return ""
}

// span is where a change stands: its rows, and its lines in both texts, from 0 to before the end.
type span struct{ row, rowEnd, was, wasEnd, now, nowEnd int }

func (c *comparison) spans() (list []span) {
	for _, first := range c.changes {
		s := span{row: first, rowEnd: first}
		if first > 0 { // the line before it
			before := c.rows[first-1]
			more := max(0, int(before.n)-1)
			s.was, s.now = int(before.a)+more, int(before.b)+more
		}
		s.wasEnd, s.nowEnd = s.was, s.now
		for ; s.rowEnd < len(c.rows) && c.rows[s.rowEnd].kind == '-'; s.rowEnd++ {
			s.wasEnd++
		}
		for ; s.rowEnd < len(c.rows) && c.rows[s.rowEnd].kind == '+'; s.rowEnd++ {
			s.nowEnd++
		}
		list = append(list, s)
	}
	return list
}

// Undo returns the text of the file that o holds with some changes taken back: those numbered in
// undone since the output with, from 1, as the view of differences numbers them. Lines keep their
// ends. Files that both are marked as binary have one change. It fails with an [outputs.Refusal] if
// one of other files is not whole and in UTF-8, or if there is no such change.
func (h *Views) Undo(ctx context.Context, o, with *outputs.Output, undone []int) ([]byte, error) {
	v, err := newVersions(ctx, o, with)
	if err != nil {
		return nil, err
	}
	for _, n := range undone {
		if n < 1 || n > len(v.spans) {
			return nil, refuse("no_change", "There is no such change. Open what changed again.")
		}
	}
	var lines [][]byte
	at := 0
	for k, s := range v.spans {
		lines = append(lines, v.now[at:s.now]...)
		if at = s.nowEnd; slices.Contains(undone, k+1) {
			lines = append(lines, v.was[s.was:s.wasEnd]...)
		} else {
			lines = append(lines, v.now[s.now:s.nowEnd]...)
		}
	}
	lines = append(lines, v.now[at:]...)
	for i, line := range lines {
		if i < len(lines)-1 && !bytes.HasSuffix(line, []byte{'\n'}) { // it was the last one
			lines[i] = append(bytes.Clone(line), '\n')
		}
	}
	return bytes.Join(lines, nil), nil
}

// Undone returns which changes since the output with are taken back in text, which otherwise is
// what o holds; false if text differs from that in more, or in other places. Errors are those of
// [Views.Undo].
func (h *Views) Undone(ctx context.Context, o, with *outputs.Output,
	text []byte) (undone []int, ok bool, err error) {
	v, err := newVersions(ctx, o, with)
	if err != nil {
		return nil, false, err
	}
	if o.Meta().Binary {
		switch {
		case bytes.Equal(text, bytes.Join(v.now, nil)):
			return nil, true, nil
		case bytes.Equal(text, bytes.Join(v.was, nil)):
			return []int{1}, true, nil
		}
		return nil, false, nil
	}
	lines := split(text)
	type place struct {
		line int // of text, from 0
		from int // place in the step before
		undo bool
	}
	// steps[k] are the places at which the first k changes may end: two for each change, unless
	// different choices make the same lines.
	steps := [][]place{{{}}}
	at := 0
	for _, s := range v.spans {
		var next []place
		for i, p := range steps[len(steps)-1] {
			begin, same := follows(lines, p.line, v.now[at:s.now])
			if !same {
				continue
			}
			for _, side := range []struct {
				lines [][]byte
				undo  bool
			}{{v.now[s.now:s.nowEnd], false}, {v.was[s.was:s.wasEnd], true}} {
				end, same := follows(lines, begin, side.lines)
				if same && !slices.ContainsFunc(next, func(q place) bool { return q.line == end }) {
					next = append(next, place{end, i, side.undo})
				}
			}
		}
		if len(next) == 0 || len(next) > 100 {
			return nil, false, ctx.Err()
		}
		steps, at = append(steps, next), s.nowEnd
	}
	for i, p := range steps[len(steps)-1] {
		if end, same := follows(lines, p.line, v.now[at:]); !same || end != len(lines) {
			continue
		}
		for k := len(steps) - 1; k > 0; k-- {
			p := steps[k][i]
			if i = p.from; p.undo {
				undone = append(undone, k)
			}
		}
		slices.Reverse(undone)
		return undone, true, nil
	}
	return nil, false, nil
}

// follows reports whether want stands in lines at a place, and where it ends. The last line of a
// text may have no end.
func follows(lines [][]byte, at int, want [][]byte) (end int, ok bool) {
	if at+len(want) > len(lines) {
		return 0, false
	}
	for i, line := range want {
		if !bytes.Equal(bytes.TrimSuffix(lines[at+i], []byte{'\n'}),
			bytes.TrimSuffix(line, []byte{'\n'})) {
			return 0, false
		}
	}
	return at + len(want), true
}

// versions are two texts and where they differ. What is not text is one line, and its own change.
type versions struct {
	was, now [][]byte
	spans    []span
}

func newVersions(ctx context.Context, o, with *outputs.Output) (v versions, err error) {
	if o.Meta().Binary && with.Meta().Binary {
		for of, lines := range map[*outputs.Output]*[][]byte{o: &v.now, with: &v.was} {
			data, err := whole(of)
			if err != nil {
				return v, err
			}
			if len(data) > 0 {
				*lines = [][]byte{data}
			}
		}
		if !slices.EqualFunc(v.was, v.now, bytes.Equal) {
			v.spans = []span{{wasEnd: len(v.was), nowEnd: len(v.now)}}
		}
		return v, nil
	}
	if v.now, err = wholeLines(o); err != nil {
		return v, err
	}
	if v.was, err = wholeLines(with); err != nil {
		return v, err
	}
	c, err := compare(ctx, with, o)
	if err != nil {
		return v, err
	}
	v.spans = c.spans()
	return v, nil
}

// wholeLines returns the lines of an output with their ends.
func wholeLines(o *outputs.Output) ([][]byte, error) {
	if o.Meta().Binary || o.Text() != o {
		return nil, errNotWhole
	}
	text, err := whole(o)
	return split(text), err
}

var errNotWhole = refuse("not_whole",
	"Changes are undone in text files that are shown whole, in UTF-8. Open the whole file; take one "+
		"that is no text from git or a copy.")

// whole returns the bytes of a file.
func whole(o *outputs.Output) ([]byte, error) {
	m := o.Meta()
	if m.Type != outputs.File || m.StartLine > 1 || m.EndLine > 0 && m.EndLine < m.TotalLines ||
		m.Truncated || m.Unread > 0 {
		return nil, errNotWhole
	}
	data := make([]byte, o.Size())
	if _, err := o.Raw().ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return data, nil
}

func split(text []byte) [][]byte {
	lines := bytes.SplitAfter(text, []byte{'\n'})
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// TextMeta describes a file's text that is kept to be compared.
func TextMeta(sessionID, path string, text []byte) outputs.Meta {
	return outputs.Meta{
		Type:      outputs.File,
		SessionID: sessionID,
		Path:      path,
		Earlier:   true,
		MimeType:  "text/plain; charset=utf-8",
		Highlight: code.Language(path, text[:min(len(text), 4096)]),
	}
}

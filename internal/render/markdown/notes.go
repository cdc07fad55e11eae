package markdown

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	mdtext "github.com/yuin/goldmark/text"
)

// footnote is a text that stands at the document's end.
type footnote struct {
	number int
	rows   []row
}

// takeNotes takes the footnotes out of the lines, which keep their numbers, and counts them in the
// order in which the text refers to them.
func (d *Document) takeNotes(lines []string) []string {
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "[^") }) {
		return lines
	}
	texts := noteTexts{lines: map[string][]string{}, at: map[string]int{}}
	texts.take(lines)
	if len(texts.labels) == 0 {
		return lines
	}
	number := func(label string) {
		if texts.lines[label] != nil && d.notes[label] == nil {
			n := &footnote{number: len(d.order) + 1}
			d.notes[label], d.order = n, append(d.order, n)
		}
	}
	fence := ""
	for _, line := range lines {
		if fence = inFence(fence, strings.TrimRight(line, "\r\n")); fence == "" {
			for _, m := range inDocument().noteRef.FindAllStringSubmatch(line, -1) {
				number(strings.ToLower(m[1]))
			}
		}
	}
	for _, label := range texts.labels {
		number(label)
	}
	for _, label := range texts.labels {
		d.notes[label].rows = d.parse(texts.lines[label], texts.at[label])
	}
	return lines
}

// noteTexts are the texts of footnotes, as they are written.
type noteTexts struct {
	labels []string
	lines  map[string][]string // by label
	at     map[string]int      // the number of the first of those
}

// take moves the footnotes out of lines; empty ones stay in their places.
func (n *noteTexts) take(lines []string) {
	label, fence := "", ""
	for i, line := range lines {
		bare := strings.TrimRight(line, "\r\n")
		if fence = inFence(fence, bare); fence != "" {
			label = ""
			continue
		}
		if m := inDocument().note.FindStringSubmatch(bare); m != nil && len(n.labels) < maxNotes {
			label = strings.ToLower(m[1])
			if n.lines[label] != nil {
				label = ""
				continue
			}
			n.lines[label], n.at[label] = []string{m[2] + "\n"}, i+1
			n.labels = append(n.labels, label)
			lines[i] = "\n"
			continue
		}
		if label == "" {
			continue
		}
		switch {
		case strings.TrimSpace(bare) == "":
			n.lines[label] = append(n.lines[label], "\n")
		case strings.HasPrefix(bare, "    ") || strings.HasPrefix(bare, "\t"):
			n.lines[label] = append(n.lines[label], dedent(line, 4))
			lines[i] = "\n"
		default:
			label = ""
		}
	}
}

// inFence is the fence that a line stands in: what it opens, what was open, or none.
func inFence(fence, line string) string {
	if !strings.ContainsAny(line, "`~$") { // the usual case
		return fence
	}
	l := newLine(line)
	switch {
	case fence == "" && l.kind == lineFence:
		return l.fence
	case fence != "" && l.endsFence(fence):
		return ""
	}
	return fence
}

// noteRefs finds what refers to a footnote.
type noteRefs struct{}

// noteRef is such a place.
type noteRef struct {
	ast.BaseInline
	number int
}

var (
	kindNoteRef = ast.NewNodeKind("NoteRef")
	docKey      = parser.NewContextKey()
)

// Dump implements ast.Node.
func (n *noteRef) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// Kind implements ast.Node.
func (*noteRef) Kind() ast.NodeKind { return kindNoteRef }

// Trigger implements parser.InlineParser.
func (noteRefs) Trigger() []byte { return []byte{'['} }

// Parse implements parser.InlineParser.
func (noteRefs) Parse(_ ast.Node, block mdtext.Reader, pc parser.Context) ast.Node {
	d, _ := pc.Get(docKey).(*Document)
	if d == nil || len(d.notes) == 0 {
		return nil
	}
	line, _ := block.PeekLine()
	line = line[:min(len(line), 110)]
	m := inDocument().noteRef.FindSubmatchIndex(line)
	if m == nil || m[0] != 0 {
		return nil
	}
	n := d.notes[strings.ToLower(string(line[m[2]:m[3]]))]
	if n == nil {
		return nil
	}
	block.Advance(m[1])
	return &noteRef{number: n.number}
}

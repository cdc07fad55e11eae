package views

import (
	"bytes"
	"context"
	"strconv"

	"webchat/internal/outputs"
	"webchat/internal/render"
)

const (
	// bigSpan is from how many bytes on a value is remembered: smaller ones are read
	// again whenever they are shown.
	bigSpan    = 64 << 10
	spanMarks  = 100 // children between two places of a value that are remembered
	nameLength = 60  // bytes of the text that names a folded value
	textLength = 600 // bytes of a text that are shown
)

// span is a value that is large, or not known to its end.
type span struct {
	start, end    int64
	line, endLine int
	count         int
	array         bool
	marks         []place // of every spanMarks-th child
	key           place   // the last string at its level, which may be a key
}

// jsonTree is JSON of any size: a pass over it remembers where large values are, so
// that any children of any value can be read by themselves.
type jsonTree struct {
	o     *outputs.Output
	big   map[int64]*span
	root  *span
	lines bool // values stand one behind the other

	off      int64 // up to here the pass has come
	line     int
	stack    []*span
	inside   byte // '"' in a string, 's' in another scalar
	string   span // the one the pass is in
	escaped  bool
	complete bool
	broken   bool
}

func newJSONTree(o *outputs.Output, lines bool) *jsonTree {
	first := max(o.Meta().StartLine, 1)
	t := &jsonTree{o: o, big: map[int64]*span{}, lines: lines, line: first}
	t.root = &span{start: -1, line: first, array: true}
	t.stack = []*span{t.root}
	return t
}

// index goes on with the pass, until stop.
func (t *jsonTree) index(ctx context.Context, stop func() bool) error {
	src := newReader(t.o)
	for !t.complete {
		if t.off >= src.size || t.broken {
			for _, s := range t.stack {
				s.end, s.endLine = t.off, t.line
				t.big[s.start] = s
			}
			t.broken = t.broken || len(t.stack) > 1
			t.complete = true
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if stop() {
			break
		}
		b, _, err := src.from(t.off, maxRecord)
		if err != nil {
			return err
		}
		b = b[:min(len(b), maxRecord)]
		t.take(b)
		t.off += int64(len(b))
	}
	return nil
}

// take goes through bytes, the first being at t.off.
func (t *jsonTree) take(b []byte) {
	for i := 0; i < len(b) && !t.broken; i++ {
		c := b[i]
		if t.inside == '"' {
			i = t.inString(b, i)
			continue
		}
		switch c {
		case '\n':
			t.line++
			t.inside = 0
		case ' ', '\t', '\r', ',':
			t.inside = 0
		case ':':
			t.inside = 0
			t.child(t.top().key)
		case '"':
			t.begin(i)
			t.inside, t.string = '"', span{start: t.off + int64(i), line: t.line, count: -1}
		case '{', '[':
			t.begin(i)
			t.stack = append(t.stack, &span{start: t.off + int64(i), line: t.line, array: c == '['})
			t.broken = len(t.stack) > maxDepth
		case '}', ']':
			t.inside = 0
			t.pop(t.off + int64(i) + 1)
		default:
			if t.inside == 0 {
				t.begin(i)
				t.inside = 's'
			}
		}
	}
}

func (t *jsonTree) top() *span { return t.stack[len(t.stack)-1] }

// begin notes that a value or a key begins at byte i.
func (t *jsonTree) begin(i int) {
	t.inside = 0
	at := place{off: t.off + int64(i), line: t.line}
	if s := t.top(); s.array {
		t.child(at)
	} else {
		s.key = at
	}
}

// child notes that the value at hand has one more child.
func (t *jsonTree) child(at place) {
	s := t.top()
	if at.index = s.count; s.count%spanMarks == 0 {
		s.marks = append(s.marks, at)
	}
	s.count++
}

func (t *jsonTree) pop(end int64) {
	if len(t.stack) == 1 {
		t.broken = true
		return
	}
	s := t.top()
	t.stack = t.stack[:len(t.stack)-1]
	if s.end, s.endLine = end, t.line; end-s.start >= bigSpan {
		t.big[s.start] = s
	}
}

// inString goes to the end of the string, or of b, and returns the index of the last
// byte it took.
func (t *jsonTree) inString(b []byte, i int) int {
	for ; i < len(b); i++ {
		if t.escaped {
			t.escaped = false
			continue
		}
		j := bytes.IndexAny(b[i:], "\"\\\n")
		if j < 0 {
			return len(b)
		}
		switch i += j; b[i] {
		case '\\':
			t.escaped = true
		case '\n':
			t.line++
		default:
			t.inside = 0
			if end := t.off + int64(i) + 1; end-t.string.start >= bigSpan {
				s := t.string
				s.end, s.endLine = end, t.line
				t.big[s.start] = &s
			}
			return i
		}
	}
	return i
}

// find returns what is remembered of the value that begins at off.
func (t *jsonTree) find(off int64) *span {
	if s := t.big[off]; s != nil {
		return s
	}
	for _, s := range t.stack {
		if s.start == off {
			return s
		}
	}
	return nil
}

// children implements forest.
func (t *jsonTree) children(ctx context.Context, at string, from, n int) (list []render.Node, total int, err error) {
	src := newReader(t.o)
	s := t.root
	if at != "" {
		off, err := strconv.ParseInt(at, 10, 64)
		if err != nil || off < 0 || off >= src.size {
			return nil, 0, errNoNode
		}
		if s = t.find(off); s == nil {
			if s, err = t.small(src, off); err != nil {
				return nil, 0, err
			}
		}
	}
	if from > s.count {
		return nil, s.count, nil
	}
	p := s.marks[(from-1)/spanMarks]
	for p.index < min(from-1+n, s.count) && len(list) < n {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		node, next, err := t.node(src, p, s.array)
		if err != nil {
			return nil, 0, err
		}
		if next.off <= p.off {
			break
		}
		node.Root = at == "" && !t.lines
		if p.index >= from-1 {
			list = append(list, node)
		}
		if p = next; s.end > 0 && p.off >= s.end {
			break
		}
	}
	return list, s.count, nil
}

// small reads a value that is not remembered.
func (t *jsonTree) small(src *reader, off int64) (*span, error) {
	b, _, err := src.from(off, maxRecord)
	if err != nil {
		return nil, err
	}
	end := skipValue(b, 0)
	if end < 0 || b[0] != '{' && b[0] != '[' {
		return nil, errNoNode
	}
	sub := &jsonTree{o: t.o, big: map[int64]*span{}, off: off, line: t.lineAt(off)}
	sub.stack = []*span{{start: -1, array: true}}
	sub.take(b[:1])
	s := sub.top()
	sub.off++
	sub.take(b[1:end])
	s.end = off + int64(end)
	return s, nil
}

// lineAt returns the number of the line that holds an offset.
func (t *jsonTree) lineAt(off int64) int { return t.o.LineOf(off) }

// node reads the child at p and returns where the next one begins.
func (t *jsonTree) node(src *reader, p place, item bool) (n render.Node, next place, err error) {
	n.Index, n.First = p.index, p.line
	b, _, err := src.from(p.off, maxRecord)
	if err != nil {
		return n, next, err
	}
	i := 0
	if !item {
		end := skipString(b, 0)
		if end < 0 {
			return n, p, nil
		}
		n.Key, n.HasKey = string(jsonText(b[:end])), true
		for i = end; i < len(b) && bytes.IndexByte([]byte(" \t\r\n:"), b[i]) >= 0; {
			i++
		}
	}
	if i == len(b) {
		return n, p, nil
	}
	line, end := p.line+bytes.Count(b[:i], []byte{'\n'}), int64(0)
	off := p.off + int64(i)
	if s := t.find(off); s != nil {
		n.Kind, n.Count, n.At, n.Last = b[i], s.count, strconv.FormatInt(off, 10), s.endLine
		if end = s.end; end == 0 { // the pass has not come to its end
			end, n.Last = src.size, line
		}
		if s.count < 0 {
			n.Kind, n.Text, n.Cut = 's', string(b[i:min(len(b), i+textLength)]), int(end-off)-textLength
		}
		line = n.Last
	} else {
		k := skipValue(b, i)
		if k <= i {
			return n, p, nil
		}
		value := b[i:k]
		end = off + int64(len(value))
		line += bytes.Count(value, []byte{'\n'})
		n.Last = line
		describe(&n, value, off)
	}
	next = place{off: end, line: line, index: p.index + 1}
	b, _, err = src.from(min(end, src.size), 1)
	for i = 0; i < len(b) && bytes.IndexByte([]byte(" \t\r\n,"), b[i]) >= 0; i++ {
		if b[i] == '\n' {
			next.line++
		}
	}
	next.off += int64(i)
	return n, next, err
}

// describe fills in what a value that is wholly there is.
func describe(n *render.Node, value []byte, off int64) {
	n.Kind = value[0]
	switch value[0] {
	case '{':
		n.At = strconv.FormatInt(off, 10)
		eachMember(value, 0, func(_, v []byte) bool {
			if n.Count++; n.Name == "" && v[0] == '"' {
				n.Name = shorten(jsonText(v))
			}
			return true
		})
	case '[':
		n.At = strconv.FormatInt(off, 10)
		for i := 1; ; {
			for i < len(value) && bytes.IndexByte([]byte(" \t\r\n,"), value[i]) >= 0 {
				i++
			}
			if i >= len(value)-1 {
				return
			}
			end := skipValue(value, i)
			if end <= i {
				return
			}
			n.Count++
			i = end
		}
	case '"':
		n.Kind = 's'
		n.Text, n.Cut = string(value[:min(len(value), textLength)]), len(value)-textLength
	default:
		if n.Kind = 'm'; value[0] > '9' {
			n.Kind = 'k'
		}
		n.Text, n.Cut = string(value[:min(len(value), textLength)]), len(value)-textLength
	}
}

func shorten(b []byte) string {
	if len(b) <= nameLength {
		return string(b)
	}
	return string(bytes.ToValidUTF8(b[:nameLength], nil)) + "…"
}

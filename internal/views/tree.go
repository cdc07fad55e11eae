package views

import (
	"bytes"
	"cmp"
	"strconv"

	"webchat/internal/outputs"
	"webchat/internal/render"
)

// forest is values in values.
type forest interface {
	// children returns children of the value with this handle, from the from-th on (from 1) and n
	// at most, and how many it has. The handle of all is "".
	children(at string, from, n int) ([]render.Node, int, error)
}

var errNoNode = refuse("no_node", "There is no such value: give at as it stands in data-at.")

// foldedFrom is how many children of a value are shown before the rest is a range.
const (
	foldedFrom   = 100
	unfoldedRows = 60 // that a tree opens at first: a page folds those for which it has no room
	maxChildren  = 1000
	nameLength   = 60  // characters of the text that names a folded value
	textLength   = 600 // bytes of a text that are shown
)

// tree is children of a value, each a list item; those of a value that stands alone are shown with
// it.
func (h *Views) tree(o *outputs.Output, k *kind, a outputs.Ask) (w outputs.Window, err error) {
	d := documentOf(o)
	d.seen.mu.Lock()
	defer d.seen.mu.Unlock()
	t := cmp.Or(d.seen.tree, k.forest)
	if t == nil {
		if t, err = newForest(o, k); err != nil {
			return w, err
		}
	}
	d.seen.tree = t
	rows := min(a.Rows, maxChildren)
	if a.From == 1 { // the rest is a range
		rows = min(rows, foldedFrom)
	}
	nodes, total, err := t.children(a.At, a.From, rows)
	if err != nil {
		return w, err
	}
	if a.At == "" && total == 1 && len(nodes) == 1 {
		if err = unfold(t, &nodes[0]); err != nil {
			return w, err
		}
	}
	to := a.From + len(nodes) - 1
	w = window(render.Tree(nodes, total-to, to), a.From, to, total)
	if j, ok := t.(*jsonTree); ok && j.root.broken {
		w.Header = map[string]string{"Broken": strconv.Itoa(o.LineOf(int64(j.root.end)))}
	}
	return w, nil
}

// unfold opens a value, and in it those nearest to the top first whose all fits beside what is
// open.
func unfold(t forest, root *render.Node) (err error) {
	room := unfoldedRows
	for queue := []*render.Node{root}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		if n.At == "" || n.Count == 0 || n != root && n.Count > room {
			continue
		}
		if n.Children, _, err = t.children(n.At, 1, foldedFrom); err != nil {
			return err
		}
		room -= len(n.Children)
		for i := range n.Children {
			queue = append(queue, &n.Children[i])
		}
	}
	return nil
}

func newForest(o *outputs.Output, k *kind) (forest, error) {
	text, err := readPart(o, 0, o.Size())
	if err != nil {
		return nil, err
	}
	switch k.format {
	case yaml:
		return parseYAML(text)
	case toml:
		return parseTOML(text)
	}
	copy(text, "   "[:len(text)-len(trimBOM(text))])
	return &jsonTree{
		o:     o,
		root:  listJSON(text, true),
		lines: k.format == jsonLines,
		known: map[int64]jsonList{},
	}, nil
}

// jsonTree is JSON, whose values are scanned when they are first shown. The handle of a value is
// its offset.
type jsonTree struct {
	o     *outputs.Output
	root  jsonList
	lines bool // values stand one behind the other
	known map[int64]jsonList
}

// knownFrom is from how many bytes on the list of a value is kept. All of them together are at most
// two times as long as the text: a value is in one list.
const knownFrom = 4 << 10

// list returns what is in the value that text begins with, and which begins at off; cut: text may
// end before it does, and then false.
func (t *jsonTree) list(off int64, text []byte, cut bool) (jsonList, bool) {
	l, known := t.known[off]
	if known {
		return l, true
	}
	if l = listJSON(text, false); cut && l.broken {
		return l, false
	}
	if l.end >= knownFrom {
		t.known[off] = l
	}
	return l, true
}

// open returns what is in the value that begins at off.
func (t *jsonTree) open(off int64) (l jsonList, object bool, err error) {
	for n := int64(knownFrom); ; n <<= 8 { // most values are small
		end := min(off+n, t.o.Size())
		text, err := readPart(t.o, off, end)
		if err != nil {
			return l, false, err
		}
		if !holds(text[0]) {
			return l, false, errNoNode
		}
		if l, ok := t.list(off, text, end < t.o.Size()); ok {
			return l, text[0] == '{', nil
		}
	}
}

// children implements forest.
func (t *jsonTree) children(at string, from, n int) (nodes []render.Node, total int, err error) {
	l, base, object := t.root, int64(0), false
	if at != "" {
		base, err = strconv.ParseInt(at, 10, 64)
		if err != nil || base < 0 || base >= t.o.Size() {
			return nil, 0, errNoNode
		}
		if l, object, err = t.open(base); err != nil {
			return nil, 0, err
		}
	}
	total = len(l.begins)
	if from > total {
		return nil, total, nil
	}
	to := min(from-1+n, total)
	begin, end := l.begins[from-1], int32(l.end)
	if to < total {
		end = l.begins[to]
	}
	text, err := readPart(t.o, base+int64(begin), base+int64(end))
	if err != nil {
		return nil, 0, err
	}
	line := t.o.LineOf(base + int64(begin))
	for i := from - 1; i < to; i++ {
		part := text[l.begins[i]-begin:]
		if i+1 < to {
			part = part[:l.begins[i+1]-l.begins[i]]
		}
		node := render.Node{Index: i, Root: at == "" && !t.lines, First: line}
		t.describe(&node, base+int64(l.begins[i]), part, object)
		nodes = append(nodes, node)
		line += countLines(part)
	}
	return nodes, total, nil
}

// countLines counts line ends.
func countLines(b []byte) int { return bytes.Count(b, []byte{'\n'}) }

// describe fills in what is known of the value that text begins with, or of the member if that is
// one of an object.
func (t *jsonTree) describe(n *render.Node, off int64, text []byte, member bool) {
	n.Last = n.First
	dec := jsonDecoder(text)
	if member {
		name, err := dec.ReadValue()
		if err != nil {
			return
		}
		n.Key, n.HasKey = jsonText(name), true
		value := skip(text, int(dec.InputOffset()))
		n.Last += countLines(text[:value])
		off, text = off+int64(value), text[value:]
		dec = jsonDecoder(text)
	}
	if holds(text[0]) {
		l, _ := t.list(off, text, false)
		n.Kind, n.Count, n.Name, n.At = text[0], len(l.begins), l.name, strconv.FormatInt(off, 10)
		n.Last += countLines(text[:min(l.end, len(text))])
		return
	}
	value, err := dec.ReadValue()
	if err != nil {
		return
	}
	switch n.Kind = 'k'; {
	case text[0] == '"':
		n.Kind = 's'
	case text[0] <= '9':
		n.Kind = 'm'
	}
	n.Text, n.Cut = string(value[:min(len(value), textLength)]), len(value)-textLength
}

package views

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"webchat/internal/outputs"
	"webchat/internal/render"
)

// forest is values in values.
type forest interface {
	// children returns children of the value with this handle, from the from-th on
	// (from 1) and n at most, and how many it has. The handle of all is "".
	children(at string, from, n int) ([]render.Node, int, error)
}

var errNoNode = refuse("no_node", "There is no such value: give at as it stands in data-at.")

// foldedFrom is how many children of a value are shown before the rest is a range.
const (
	foldedFrom  = 100
	maxChildren = 1000
	nameLength  = 60  // bytes of the text that names a folded value
	textLength  = 600 // bytes of a text that are shown
)

// tree is children of a value, each a list item; those of a value that stands alone
// are shown with it.
func (h *Views) tree(o *outputs.Output, k *kind, a Ask) (w Window, err error) {
	d := h.document(o)
	d.seen.mu.Lock()
	defer d.seen.mu.Unlock()
	t, ok := d.seen.blobs[Tree].(forest)
	if !ok {
		if t, err = newForest(o, k); err != nil {
			return w, err
		}
		d.seen.keep(Tree, t)
	}
	rows := min(a.Rows, maxChildren)
	if a.From == 1 { // the rest is a range
		rows = min(rows, foldedFrom)
	}
	nodes, total, err := t.children(a.At, a.From, rows)
	if err != nil {
		return w, err
	}
	if a.At == "" && total == 1 {
		for i := range nodes {
			if n := &nodes[i]; n.At != "" {
				if n.Children, _, err = t.children(n.At, 1, foldedFrom); err != nil {
					return w, err
				}
			}
		}
	}
	to := a.From + len(nodes) - 1
	w = window(render.Tree(nodes, total-to, to), a.From, to, total)
	if j, ok := t.(*jsonTree); ok && j.root.broken {
		w.Header = map[string]string{"Broken": strconv.Itoa(o.LineOf(int64(j.root.end)))}
	}
	return w, nil
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
	return &jsonTree{o: o, root: listJSON(text, true), lines: k.format == jsonLines, known: map[int64]jsonList{}}, nil
}

// jsonTree is JSON, whose values are gone through when they are first shown. The handle
// of a value is where it begins.
type jsonTree struct {
	o     *outputs.Output
	root  jsonList
	lines bool // values stand one behind the other
	known map[int64]jsonList
}

// knownFrom is from how many bytes on the list of a value is kept. All of them together
// are at most two times as long as the text: a value is in one list.
const knownFrom = 4 << 10

// list returns what is in the value that text begins with, and which begins at off.
func (t *jsonTree) list(off int64, text []byte) jsonList {
	l, ok := t.known[off]
	if !ok {
		if l = listJSON(text, false); l.end >= knownFrom {
			t.known[off] = l
		}
	}
	return l
}

// children implements forest.
func (t *jsonTree) children(at string, from, n int) (nodes []render.Node, total int, err error) {
	l, base, object := t.root, int64(0), false
	if at != "" {
		base, err = strconv.ParseInt(at, 10, 64)
		if err != nil || base < 0 || base >= t.o.Size() {
			return nil, 0, errNoNode
		}
		text, err := readPart(t.o, base, base+1)
		if err != nil || !holds(text[0]) {
			return nil, 0, errNoNode
		}
		object = text[0] == '{'
		if _, ok := t.known[base]; !ok {
			if text, err = readPart(t.o, base, t.o.Size()); err != nil {
				return nil, 0, err
			}
		}
		l = t.list(base, text)
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
	for i := from - 1; i < to; i++ {
		part := text[l.begins[i]-begin:]
		if i+1 < to {
			part = part[:l.begins[i+1]-l.begins[i]]
		}
		node := t.node(base+int64(l.begins[i]), part, object)
		node.Index, node.Root = i, at == "" && !t.lines
		nodes = append(nodes, node)
	}
	return nodes, total, nil
}

// node is the value that text begins with, or the member if that is one of an object.
func (t *jsonTree) node(off int64, text []byte, member bool) (n render.Node) {
	n.First = t.o.LineOf(off)
	n.Last = n.First
	if member {
		dec := jsonDecoder(text)
		name, err := dec.ReadValue()
		if err != nil {
			return n
		}
		n.Key, n.HasKey = jsonText(name), true
		value := skip(text, int(dec.InputOffset()))
		off, text = off+int64(value), text[value:]
	}
	n.Kind = text[0]
	if holds(n.Kind) {
		l := t.list(off, text)
		n.Count, n.Name, n.At = len(l.begins), l.name, strconv.FormatInt(off, 10)
		n.Last = t.o.LineOf(off + int64(max(0, l.end-1)))
		return n
	}
	value, err := jsonDecoder(text).ReadValue()
	if err != nil {
		value = jsontext.Value(text)
	}
	switch n.Kind = 'k'; {
	case text[0] == '"':
		n.Kind = 's'
	case text[0] <= '9':
		n.Kind = 'm'
	}
	n.Text, n.Cut = string(value[:min(len(value), textLength)]), len(value)-textLength
	return n
}

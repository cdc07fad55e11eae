package views

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/pelletier/go-toml/v2/unstable"
	yamllib "go.yaml.in/yaml/v4"

	"webchat/internal/render"
	"webchat/internal/wording"
)

// parsed is a small text that is parsed as a whole.
type parsed struct{ items []*item }

// item is a value in it.
type item struct {
	node  render.Node
	kids  []*item
	named map[string]*item
}

// maxDepth is how deep values of YAML and TOML may nest.
const maxDepth = 500

var (
	errDeep  = errors.New("values nest too deep")
	errEmpty = errors.New("there is no value")
)

// children implements forest.
func (p *parsed) children(at string, from, n int) ([]render.Node, int, error) {
	i := 0
	if at != "" {
		var err error
		if i, err = strconv.Atoi(at); err != nil || i < 0 || i >= len(p.items) {
			return nil, 0, errNoNode
		}
	}
	kids := p.items[i].kids
	var list []render.Node
	for k := from - 1; k < min(len(kids), from-1+n); k++ {
		list = append(list, kids[k].node)
	}
	return list, len(kids), nil
}

// add makes a value part of another. Values that hold others get their handles here.
func (p *parsed) add(to *item, x *item) *item {
	x.node.Index = len(to.kids)
	if x.node.Kind == '{' || x.node.Kind == '[' {
		x.node.At = strconv.Itoa(len(p.items))
		p.items = append(p.items, x)
	}
	to.kids = append(to.kids, x)
	to.node.Count++
	if to.node.Name == "" && x.node.Kind == 's' {
		to.node.Name = wording.Cut(x.node.Text, nameLength)
	}
	if x.node.HasKey {
		if to.named == nil {
			to.named = map[string]*item{}
		}
		to.named[x.node.Key] = x
	}
	return x
}

// finish fills in the last line of each value once all in it are known.
func (p *parsed) finish() (*parsed, error) {
	if len(p.items[0].kids) == 0 {
		return nil, errEmpty
	}
	p.items[0].lastLine()
	return p, nil
}

func (x *item) lastLine() int {
	for _, k := range x.kids {
		x.node.Last = max(x.node.Last, k.lastLine())
	}
	return max(x.node.First, x.node.Last)
}

func newItem(kind byte, line int) *item { return &item{node: render.Node{Kind: kind, First: line}} }

func scalar(kind byte, text string, line int) *item {
	x := &item{node: render.Node{
		Kind:  kind,
		Text:  text[:min(len(text), textLength)],
		Cut:   len(text) - textLength,
		First: line,
	}}
	x.node.Last = line + bytes.Count([]byte(text), []byte{'\n'})
	return x
}

// tooDeep reports whether brackets nest deeper than a parser is to follow them.
func tooDeep(b []byte) bool {
	depth := 0
	for _, c := range b {
		switch c {
		case '[', '{':
			if depth++; depth > maxDepth {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return false
}

// parseYAML reads all documents of a text. Aliases stay names, so that they cannot grow.
func parseYAML(b []byte) (*parsed, error) {
	p := &parsed{items: []*item{newItem('[', 0)}}
	loader, err := yamllib.NewLoader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	for {
		var doc yamllib.Node
		if err := loader.Load(&doc); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if len(doc.Content) == 0 {
			continue
		}
		if first := doc.Content[0]; first.Kind == yamllib.ScalarNode && len(p.items[0].kids) == 0 {
			return nil, errEmpty // prose is a YAML text, too
		}
		p.yaml(p.items[0], doc.Content[0], nil)
	}
	if len(p.items[0].kids) == 1 {
		p.items[0].kids[0].node.Root = true
	}
	return p.finish()
}

// yaml adds a node, which has a key if it is of a mapping. The loader limits how deep nodes nest.
func (p *parsed) yaml(to *item, n, key *yamllib.Node) {
	var x *item
	switch n.Kind {
	case yamllib.MappingNode:
		x = newItem('{', n.Line)
	case yamllib.SequenceNode:
		x = newItem('[', n.Line)
	case yamllib.AliasNode:
		x = scalar('k', "*"+n.Value, n.Line)
	default:
		kind := byte('s')
		switch n.ShortTag() {
		case "!!int", "!!float", "!!timestamp":
			kind = 'm'
		case "!!bool", "!!null":
			kind = 'k'
		}
		x = scalar(kind, n.Value, n.Line)
	}
	if key != nil {
		x.node.Key, x.node.HasKey, x.node.First = key.Value, true, key.Line
		if key.Kind != yamllib.ScalarNode {
			x.node.Key = "?"
		}
	}
	p.add(to, x)
	if n.Kind == yamllib.SequenceNode {
		for _, c := range n.Content {
			p.yaml(x, c, nil)
		}
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		p.yaml(x, n.Content[i+1], n.Content[i])
	}
}

// tomlReader makes items of expressions.
type tomlReader struct {
	parsed
	unstable.Parser
	text []byte
	off  int // bytes whose line ends are counted
	line int
}

// parseTOML reads a text.
func parseTOML(b []byte) (_ *parsed, err error) {
	if tooDeep(b) {
		return nil, errDeep
	}
	t := &tomlReader{text: b, line: 1}
	t.items = []*item{newItem('[', 0)}
	root := t.add(t.items[0], &item{node: render.Node{Kind: '{', Root: true, First: t.line}})
	t.Reset(b)
	for at := root; t.NextExpression(); {
		e := t.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			if at, err = t.table(root, e.Key(), e.Kind == unstable.ArrayTable); err != nil {
				return nil, err
			}
		case unstable.KeyValue:
			t.keyValue(at, e)
		}
	}
	if err := t.Error(); err != nil {
		return nil, err
	}
	return t.finish()
}

// lineOf counts on to where a node is; nodes come in order.
func (t *tomlReader) lineOf(n *unstable.Node) int {
	if to := int(n.Raw.Offset); to > t.off && to <= len(t.text) {
		t.line += bytes.Count(t.text[t.off:to], []byte{'\n'})
		t.off = to
	}
	return t.line
}

// under finds what a key names in a table, or makes it.
func (t *tomlReader) under(at *item, key *unstable.Node, kind byte) *item {
	line := t.lineOf(key)
	if x := at.named[string(key.Data)]; x != nil {
		return x
	}
	x := newItem(kind, line)
	x.node.Key, x.node.HasKey = string(key.Data), true
	return t.add(at, x)
}

// table finds or makes the table that a key names.
func (t *tomlReader) table(at *item, key unstable.Iterator, list bool) (*item, error) {
	for key.Next() {
		kind, item := byte('{'), list && key.IsLast()
		if item {
			kind = '['
		}
		at = t.under(at, key.Node(), kind)
		switch {
		case item && at.node.Kind == '[':
			at = t.add(at, newItem('{', t.line))
		case at.node.Kind == '[' && len(at.kids) > 0:
			at = at.kids[len(at.kids)-1]
		}
		if at.node.Kind != '{' {
			return nil, fmt.Errorf("line %d: a table stands where a value is", t.line)
		}
	}
	return at, nil
}

func (t *tomlReader) keyValue(at *item, e *unstable.Node) {
	for key := e.Key(); key.Next(); {
		if n := key.Node(); key.IsLast() {
			x := t.value(e.Value(), t.lineOf(n))
			x.node.Key, x.node.HasKey = string(n.Data), true
			t.fill(t.add(at, x), e.Value())
			return
		}
		at = t.under(at, key.Node(), '{')
	}
}

func (t *tomlReader) value(n *unstable.Node, line int) *item {
	switch n.Kind {
	case unstable.Array:
		return newItem('[', line)
	case unstable.InlineTable:
		return newItem('{', line)
	case unstable.String:
		return scalar('s', string(n.Data), line)
	case unstable.Bool:
		return scalar('k', string(n.Data), line)
	}
	return scalar('m', string(n.Data), line)
}

// fill adds what is in an array or an inline table.
func (t *tomlReader) fill(x *item, n *unstable.Node) {
	if x.node.Kind != '[' && x.node.Kind != '{' {
		return
	}
	for it := n.Children(); it.Next(); {
		switch c := it.Node(); c.Kind {
		case unstable.KeyValue:
			t.keyValue(x, c)
		case unstable.Comment:
		default:
			t.fill(t.add(x, t.value(c, t.lineOf(c))), c)
		}
	}
}

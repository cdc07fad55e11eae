package views

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
	yamllib "go.yaml.in/yaml/v4"

	"webchat/internal/render"
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
		to.node.Name = shorten(x.node.Text)
	}
	if x.node.HasKey {
		if to.named == nil {
			to.named = map[string]*item{}
		}
		to.named[x.node.Key] = x
	}
	return x
}

// finish fills in what is known of a value once all in it are: its counts, and its last
// line.
func (p *parsed) finish() (*parsed, error) {
	if len(p.items[0].kids) == 0 {
		return nil, errEmpty
	}
	var last func(x *item, depth int) (int, error)
	last = func(x *item, depth int) (int, error) {
		if depth > maxDepth {
			return 0, errDeep
		}
		for _, k := range x.kids {
			n, err := last(k, depth+1)
			if err != nil {
				return 0, err
			}
			x.node.Last = max(x.node.Last, n)
		}
		return max(x.node.First, x.node.Last), nil
	}
	_, err := last(p.items[0], 0)
	return p, err
}

func scalar(kind byte, text string, line int) *item {
	x := &item{node: render.Node{Kind: kind, Text: text[:min(len(text), textLength)], Cut: len(text) - textLength, First: line}}
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
	if tooDeep(b) {
		return nil, errDeep
	}
	p := &parsed{items: []*item{{node: render.Node{Kind: '['}}}}
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
		if err := p.yaml(p.items[0], doc.Content[0], nil, 0); err != nil {
			return nil, err
		}
	}
	if len(p.items[0].kids) == 1 {
		p.items[0].kids[0].node.Root = true
	}
	return p.finish()
}

func (p *parsed) yaml(to *item, n, key *yamllib.Node, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	var x *item
	switch n.Kind {
	case yamllib.MappingNode:
		x = &item{node: render.Node{Kind: '{', First: n.Line}}
	case yamllib.SequenceNode:
		x = &item{node: render.Node{Kind: '[', First: n.Line}}
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
	for i := 0; i < len(n.Content); i++ {
		if n.Kind == yamllib.SequenceNode {
			if err := p.yaml(x, n.Content[i], nil, depth+1); err != nil {
				return err
			}
			continue
		}
		if i++; i < len(n.Content) {
			if err := p.yaml(x, n.Content[i], n.Content[i-1], depth+1); err != nil {
				return err
			}
		}
	}
	return nil
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
	t.items = []*item{{node: render.Node{Kind: '['}}}
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
			if err := t.keyValue(at, e, 0); err != nil {
				return nil, err
			}
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

// table finds or makes the table that a key names.
func (t *tomlReader) table(at *item, key unstable.Iterator, list bool) (*item, error) {
	for depth := 0; key.Next(); depth++ {
		n, last := key.Node(), key.IsLast()
		next := at.named[string(n.Data)]
		line := t.lineOf(n)
		if depth > maxDepth {
			return nil, errDeep
		}
		if next == nil {
			kind := byte('{')
			if last && list {
				kind = '['
			}
			next = t.add(at, &item{node: render.Node{Kind: kind, Key: string(n.Data), HasKey: true, First: line}})
		}
		switch {
		case last && list && next.node.Kind == '[':
			next = t.add(next, &item{node: render.Node{Kind: '{', First: line}})
		case next.node.Kind == '[' && len(next.kids) > 0:
			next = next.kids[len(next.kids)-1]
		}
		if next.node.Kind != '{' {
			return nil, fmt.Errorf("line %d: a table stands where a value is", line)
		}
		at = next
	}
	return at, nil
}

func (t *tomlReader) keyValue(at *item, e *unstable.Node, depth int) error {
	key := e.Key()
	for key.Next() {
		n := key.Node()
		line := t.lineOf(n)
		if key.IsLast() {
			return t.value(at, e.Value(), string(n.Data), true, line, depth)
		}
		next := at.named[string(n.Data)]
		if next == nil {
			next = t.add(at, &item{node: render.Node{Kind: '{', Key: string(n.Data), HasKey: true, First: line}})
		}
		at = next
	}
	return nil
}

func (t *tomlReader) value(at *item, n *unstable.Node, key string, keyed bool, line, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	var x *item
	switch n.Kind {
	case unstable.Array:
		x = &item{node: render.Node{Kind: '[', First: line}}
	case unstable.InlineTable:
		x = &item{node: render.Node{Kind: '{', First: line}}
	case unstable.String:
		x = scalar('s', string(n.Data), line)
	case unstable.Bool:
		x = scalar('k', string(n.Data), line)
	case unstable.Comment:
		return nil
	default:
		x = scalar('m', string(n.Data), line)
	}
	x.node.Key, x.node.HasKey = key, keyed
	t.add(at, x)
	if x.node.Kind != '[' && x.node.Kind != '{' {
		return nil
	}
	for it := n.Children(); it.Next(); {
		c := it.Node()
		var err error
		if c.Kind == unstable.KeyValue {
			err = t.keyValue(x, c, depth+1)
		} else {
			err = t.value(x, c, "", false, t.lineOf(c), depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func shorten(s string) string {
	if len(s) <= nameLength {
		return s
	}
	return strings.ToValidUTF8(s[:nameLength], "") + "…"
}

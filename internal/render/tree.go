package render

import (
	"encoding/json"
	"html/template"
	"strconv"
	"strings"
	"unicode"

	"webchat/internal/wording"
)

// Node is a value in a tree of values.
type Node struct {
	Key         string
	HasKey      bool // false: it is an item, or stands by itself
	Root        bool // it stands by itself
	Index       int  // of an item, from 0
	Kind        byte // '{' and '[' hold others; 's' string, 'm' number, 'k' word
	Text        string
	Cut         int    // bytes of the value that are not in Text, if positive
	Name        string // of a folded one: the first text in it, by which an item is known
	Count       int    // how many it holds
	At          string // its handle: digits
	First, Last int    // lines
	Children    []Node // shown below it; nil: folded
}

// Tree shows values, then a row for the more that follow the one of number last.
//
//	<li role="treeitem" aria-expanded="false" data-at="128" data-step=".pump" data-lines="96-99"><a class="ln" href="#L96"
//	aria-label="Line 96">96</a><span class="na">pump</span><span class="o">: </span>{<span class="held">…}</span><span class="many">3 keys</span></li>
//	<li class="range" data-from="101">100 … 1,203<span class="many">1,104 more</span></li>
//
// data-step is what the value adds to the path of the one it stands in.
func Tree(nodes []Node, more, last int) template.HTML {
	var b strings.Builder
	treeNodes(&b, nodes)
	treeRange(&b, more, last)
	return template.HTML(b.String())
}

func treeRange(b *strings.Builder, more, last int) {
	if more > 0 {
		b.WriteString(`<li class="range" data-from="` + strconv.Itoa(last+1) + `">` +
			wording.Count(last) + " … " + wording.Count(last+more-1) + `<span class="many">` +
			wording.Count(more) + " more</span></li>\n")
	}
}

func treeNodes(b *strings.Builder, nodes []Node) {
	for i := range nodes {
		nodes[i].write(b)
	}
}

func (n *Node) write(b *strings.Builder) {
	holds := n.Kind == '{' || n.Kind == '['
	b.WriteString(`<li role="treeitem"`)
	if holds && n.Count != 0 {
		b.WriteString(` aria-expanded="` + strconv.FormatBool(n.Children != nil) + `" data-at="` +
			digits(n.At) + `"`)
	}
	if step := n.step(); len(step) < 300 {
		b.WriteString(` data-step="` + EscapeText(step) + `"`)
	}
	line := strconv.Itoa(n.First)
	b.WriteString(` data-lines="` + line + "-" + strconv.Itoa(max(n.First, n.Last)) +
		`"><a class="ln" href="#L` + line + `" aria-label="Line ` + line + `">` + line + "</a>")
	if !n.Root {
		n.writeKey(b)
	}
	if !holds {
		b.WriteString(`<span class="` + string(rune(n.Kind)) + `">`)
		visible(b, strings.ToValidUTF8(n.Text, "\uFFFD"))
		b.WriteString("</span>")
		More(b, n.Cut)
		b.WriteString("</li>\n")
		return
	}
	n.writeHeld(b)
	b.WriteString("</li>\n")
}

func (n *Node) writeKey(b *strings.Builder) {
	key := strconv.Itoa(n.Index)
	if n.HasKey {
		key = n.Key
	}
	head, left := CutRunes(key, cellLimit)
	b.WriteString(`<span class="na">`)
	visible(b, head)
	More(b, left)
	b.WriteString(`</span><span class="o">: </span>`)
}

func (n *Node) writeHeld(b *strings.Builder) {
	end, what := "}", "key"
	if n.Kind == '[' {
		end, what = "]", "item"
	}
	many := wording.Plural(n.Count, what)
	open := "" // what stands there in place of a name, once what it holds is shown
	switch {
	case n.Count == 0:
		b.WriteString(string(rune(n.Kind)) + end)
	default:
		// hidden while it is open
		b.WriteString(string(rune(n.Kind)) + `<span class="held">…` + end + `</span>`)
		if n.Name != "" && !n.HasKey && !n.Root {
			many, open = n.Name, ` data-open="`+many+`"`
		}
	}
	b.WriteString(`<span class="many"` + open + `>`)
	visible(b, many)
	b.WriteString("</span>")
	if n.Children != nil {
		b.WriteString(`<ul role="group" data-at="` + digits(n.At) + `" data-close="` + end + `">` + "\n")
		treeNodes(b, n.Children)
		treeRange(b, n.Count-len(n.Children), len(n.Children))
		b.WriteString("</ul>")
	}
}

// More says how many bytes of a text are not shown, if any.
func More(b *strings.Builder, bytes int) {
	if bytes > 0 {
		b.WriteString(`<span class="c"> … ` + strconv.Itoa(bytes) + ` more bytes</span>`)
	}
}

// step is what a value adds to a path: .name, ["a name"] or [3], in characters that cannot hide or
// reorder.
func (n *Node) step() string {
	switch {
	case n.Root:
		return "$"
	case !n.HasKey:
		return "[" + strconv.Itoa(n.Index) + "]"
	}
	plain := n.Key != ""
	for i, r := range n.Key {
		plain = plain && (r == '_' || r == '-' && i > 0 || unicode.IsLetter(r) || unicode.IsDigit(r) &&
			i > 0)
	}
	if plain {
		return "." + n.Key
	}
	quoted, err := json.Marshal(strings.ToValidUTF8(n.Key, "\uFFFD"))
	if err != nil { // a string always marshals
		return ""
	}
	var b strings.Builder
	for _, r := range string(quoted) {
		if hidden(r) {
			b.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + `}`)
			continue
		}
		b.WriteRune(r)
	}
	return "[" + b.String() + "]"
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

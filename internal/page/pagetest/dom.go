// Package pagetest does to a parsed page what the script does to a live one, so
// that a test can compare a page that was streamed with one that was loaded.
// A DOM belongs to one goroutine.
//
//	d := pagetest.Parse(t, loaded)
//	d.Apply(frame.Data())
//	same := d.State() == pagetest.Parse(t, loadedNow).State()
package pagetest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"webchat/internal/page"
)

// DOM does to a parsed page exactly what the script does to a live one.
type DOM struct {
	t     testing.TB
	Root  *html.Node
	Title string
}

// Parse reads a page.
func Parse(t testing.TB, src string) *DOM {
	t.Helper()
	n, err := html.Parse(strings.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	d := &DOM{t: t, Root: n}
	if title := find(n, func(n *html.Node) bool {
		return n.DataAtom == atom.Title
	}); title != nil && title.FirstChild != nil {
		d.Title = title.FirstChild.Data
	}
	return d
}

func find(n *html.Node, ok func(*html.Node) bool) *html.Node {
	if n.Type == html.ElementNode && ok(n) {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if f := find(c, ok); f != nil {
			return f
		}
	}
	return nil
}

// Attr returns an attribute of an element.
func Attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// ByID finds an element.
func ByID(n *html.Node, id string) *html.Node {
	return find(n, func(n *html.Node) bool { v, ok := Attr(n, "id"); return ok && v == id })
}

func clear(n *html.Node) {
	for n.FirstChild != nil {
		n.RemoveChild(n.FirstChild)
	}
}

func setAttr(n *html.Node, name string, v *string) {
	for i, a := range n.Attr {
		if a.Key == name {
			if v == nil {
				n.Attr = append(n.Attr[:i], n.Attr[i+1:]...)
			} else {
				n.Attr[i].Val = *v
			}
			return
		}
	}
	if v != nil {
		n.Attr = append(n.Attr, html.Attribute{Key: name, Val: *v})
	}
}

// Apply takes a frame as it travels.
func (d *DOM) Apply(data []byte) {
	d.t.Helper()
	if bytes.ContainsAny(data, "\n\r") {
		d.t.Fatalf("a frame of several lines: %q", data)
	}
	var f page.Frame
	if err := json.Unmarshal(data, &f); err != nil {
		d.t.Fatal(err)
	}
	for _, op := range f.Ops {
		d.op(op)
	}
}

func (d *DOM) op(op page.Op) {
	switch op.Action {
	case "title":
		d.Title = op.HTML
		return
	case "say", "alert":
		if op.HTML == "" {
			d.t.Errorf("%s says nothing", op.Action)
		}
		return
	}
	target := ByID(d.Root, op.Target)
	if target == nil {
		d.t.Errorf("%s: the page has no #%s", op.Action, op.Target)
		return
	}
	switch op.Action {
	case "add":
		n := d.parse(op, target)
		id, _ := Attr(n, "id")
		if old := ByID(d.Root, id); old != nil {
			swap(old, n)
		} else {
			target.InsertBefore(n, ByID(target, op.Before))
		}
	case "put":
		swap(target, d.parse(op, target.Parent))
		d.trim(op.Target)
	case "update":
		update(target, d.parse(op, target.Parent))
	case "remove":
		target.Parent.RemoveChild(target)
	case "clear":
		clear(target)
	default:
		d.t.Errorf("unknown action %q", op.Action)
	}
}

// parse returns the one element of an op's HTML, for a place in context.
func (d *DOM) parse(op page.Op, context *html.Node) *html.Node {
	d.t.Helper()
	nodes, err := html.ParseFragment(strings.NewReader(op.HTML),
		&html.Node{Type: html.ElementNode, Data: context.Data, DataAtom: context.DataAtom})
	if err != nil {
		d.t.Fatal(err)
	}
	if len(nodes) != 1 || nodes[0].Type != html.ElementNode {
		d.t.Fatalf("%s #%s: %d roots in %q", op.Action, op.Target, len(nodes), op.HTML)
	}
	return nodes[0]
}

// trim takes away the turns that #earlier leads to, as a reload would; a live page keeps
// them while they are looked at.
func (d *DOM) trim(target string) {
	if target != "earlier" {
		return
	}
	link := find(ByID(d.Root, target), func(n *html.Node) bool {
		_, ok := Attr(n, "data-earlier")
		return ok
	})
	if link == nil {
		return
	}
	from, _ := Attr(link, "data-earlier")
	turns := ByID(d.Root, "turns")
	for c := turns.FirstChild; c != nil; c = turns.FirstChild {
		if at, _ := Attr(c, "data-from"); at == from {
			return
		}
		turns.RemoveChild(c)
	}
}

func swap(old, fresh *html.Node) {
	keep(old, fresh)
	old.Parent.InsertBefore(fresh, old)
	old.Parent.RemoveChild(old)
}

func keeps(n *html.Node) bool { _, ok := Attr(n, "data-keep"); return ok }

// update gives old the attributes of fresh, and puts what has an id in that into the place
// of what has it in old. What is to be kept, or holds it, is updated in the same way.
func update(old, fresh *html.Node) {
	for _, a := range fresh.Attr {
		if a.Key != "data-keep" {
			setAttr(old, a.Key, &a.Val)
		}
	}
	if _, hidden := Attr(fresh, "hidden"); !hidden {
		setAttr(old, "hidden", nil)
	}
	if keeps(fresh) {
		return
	}
	for c := fresh.FirstChild; c != nil; {
		next := c.NextSibling
		updateIn(old, c)
		c = next
	}
}

func updateIn(old, part *html.Node) {
	id, ok := Attr(part, "id")
	was := ByID(old, id)
	switch {
	case ok && was != nil && find(part, keeps) != nil:
		update(was, part)
	case ok && was != nil:
		part.Parent.RemoveChild(part)
		swap(was, part)
	default:
		for c := part.FirstChild; c != nil; {
			next := c.NextSibling
			updateIn(old, c)
			c = next
		}
	}
}

// keep moves elements whose id and data-rev did not change from the old subtree
// into the new one, and runs of a text that come later.
func keep(old, fresh *html.Node) {
	for c := fresh.FirstChild; c != nil; {
		next := c.NextSibling
		rev, ok := Attr(c, "data-rev")
		class, _ := Attr(c, "class")
		id, _ := Attr(c, "id")
		if o := ByID(old, id); (ok || class == "run" && keeps(c)) && id != "" && o != nil {
			if r, _ := Attr(o, "data-rev"); r == rev {
				o.Parent.RemoveChild(o)
				fresh.InsertBefore(o, c)
				fresh.RemoveChild(c)
				c = next
				continue
			}
		}
		keep(old, c)
		c = next
	}
}

// State is all of a page that frames may change, in one text.
func (d *DOM) State() string {
	var b strings.Builder
	b.WriteString("title: " + d.Title + "\n")
	for _, id := range []string{"turns", "dock-asks", "ledger", "outs", "meter", "earlier", "trouble",
		"title", "pick", "dock-plan", "dock-queue", "dock-tasks"} {
		n := ByID(d.Root, id)
		if n == nil {
			d.t.Fatalf("the page has no #%s", id)
		}
		if id == "turns" {
			setAttr(n, "data-seq", nil)
		}
		write(&b, n, 0)
	}
	for id, names := range map[string][]string{"composer": {"data-status", "data-model",
		"data-backend"}} {
		for _, name := range names {
			v, _ := Attr(ByID(d.Root, id), name)
			b.WriteString(id + " " + name + "=" + v + "\n")
		}
	}
	_, hidden := Attr(ByID(d.Root, "hello"), "hidden")
	if hidden {
		b.WriteString("hello is hidden\n")
	}
	return b.String()
}

// write prints a tree with one node a line and attributes in order.
func write(b *strings.Builder, n *html.Node, depth int) {
	pad := strings.Repeat(" ", depth)
	if n.Type == html.TextNode {
		if n.Data != "" {
			b.WriteString(pad + strings.ReplaceAll(n.Data, "\n", "⏎") + "\n")
		}
		return
	}
	var attrs []string
	for _, a := range n.Attr {
		attrs = append(attrs, a.Key+"="+a.Val)
	}
	slices.Sort(attrs)
	b.WriteString(pad + "<" + n.Data + " " + strings.Join(attrs, " ") + ">\n")
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		write(b, c, depth+1)
	}
}

// Clone returns another page that is the same.
func (d *DOM) Clone() *DOM { return &DOM{t: d.t, Root: cloneNode(d.Root), Title: d.Title} }

func cloneNode(n *html.Node) *html.Node {
	c := &html.Node{
		Type:      n.Type,
		DataAtom:  n.DataAtom,
		Data:      n.Data,
		Namespace: n.Namespace,
		Attr:      append([]html.Attribute(nil), n.Attr...),
	}
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		c.AppendChild(cloneNode(k))
	}
	return c
}

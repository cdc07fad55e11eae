package page

import (
	"bytes"
	"encoding/json"
	"slices"

	"webchat/internal/wording"
)

// Op is one step in bringing a page forward; package web says what each does.
type Op struct {
	Action string  `json:"a"`
	Target string  `json:"t,omitempty"`
	HTML   string  `json:"h,omitempty"` // or text
	Name   string  `json:"n,omitempty"` // of an attribute
	Value  *string `json:"v,omitempty"` // nil removes the attribute
}

// Frame is what one batch of events changes on a page.
type Frame struct {
	Seq   int64 `json:"seq"` // the last logged event it has taken in
	Pos   int64 `json:"pos"` // strictly increasing in one Projector
	Join  bool  `json:"join,omitempty"`
	From  int64 `json:"from,omitempty"`  // with Join: the place it starts from
	Reset bool  `json:"reset,omitempty"` // with Join: it rebuilds everything
	Ops   []Op  `json:"ops"`
}

// revealed is the op with nothing that hides in its texts, as package page writes them.
func (o Op) revealed() Op {
	if o.Value != nil {
		o.Value = ptr(wording.Shown(*o.Value))
	}
	switch o.Action {
	case "text", "title", "say", "alert":
		o.HTML = wording.Shown(o.HTML)
	}
	return o
}

// Data returns the frame as one line of JSON.
func (f Frame) Data() []byte {
	f.Ops = slices.Clone(f.Ops)
	for i, o := range f.Ops {
		f.Ops[i] = o.revealed()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		panic(err) // strings and numbers always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// change is an Op before it is rendered: what it shows is looked up when the
// batch is over, so that many changes of one element cost one rendering.
type change struct {
	action string
	target string
	key    string // the id of the element it sets; a later change of it is already in
	within string // nothing to do if the element of this id was set in this batch
	owner  *node  // nothing to do if it, or what holds it, is rendered whole in this batch
	whole  *node  // the node to render, if the op carries one
	tmpl   string // else the template
	data   any    // of the template, or a func() any that gives it
	name   string
	value  *string
}

// batch collects the changes of one Feed.
type batch struct {
	list          []change
	index         map[string]int // changes of which only the last one counts, by what they change
	announcements []announcement
}

func (b *batch) add(c change) {
	if c.action == "attr" || c.action == "text" || c.action == "title" || c.action == "trim" {
		k := c.action + " " + c.target + " " + c.name
		if i, ok := b.index[k]; ok {
			b.list[i].action = "" // what it needs may have come since: the last one goes where it was made
		}
		if b.index == nil {
			b.index = map[string]int{}
		}
		b.index[k] = len(b.list)
	}
	b.list = append(b.list, c)
}

func (b *batch) append(parent, n *node) {
	b.add(change{action: "append", target: parent.inner(), key: n.ID, owner: parent, whole: n})
}

func (b *batch) before(sibling, n *node) {
	b.add(change{action: "before", target: sibling.ID, key: n.ID, owner: sibling.parent, whole: n})
}

func (b *batch) replace(n *node) {
	b.add(change{action: "replace", target: n.ID, key: n.ID, owner: n.parent, whole: n})
}

func (b *batch) remove(n *node) {
	b.add(change{action: "remove", target: n.ID, owner: n.parent, whole: n})
}

// part renders a template into one element of a node; its id is target.
func (b *batch) part(owner *node, target, tmpl string, data any) {
	b.add(change{action: "replace", target: target, key: target, owner: owner, tmpl: tmpl, data: data})
}

func (b *batch) attr(owner *node, target, name string, value *string) {
	b.add(change{action: "attr", target: target, owner: owner, name: name, value: value})
}

// trim leaves no turn before the one with this id.
func (b *batch) trim(first string) { b.add(change{action: "trim", target: "turns", value: &first}) }

func (b *batch) title(text string) { b.add(change{action: "title", value: &text}) }

func (b *batch) announce(action, text string) { b.announceAbout(nil, action, text) }

// announceAbout says something about n, unless n is gone when the batch is over.
func (b *batch) announceAbout(n *node, action, text string) {
	b.announcements = append(b.announcements, announcement{n, Op{Action: action, HTML: text}})
}

// announcement is what a screen reader is told.
type announcement struct {
	about *node
	op    Op
}

// ops renders the batch.
func (b *batch) ops(render func(tmpl string, data any) string) []Op {
	var out []Op
	whole := map[*node]bool{} // rendered whole, or appended and removed again
	set := map[string]bool{}
	for _, c := range b.list {
		if c.action == "" || renderedWhole(c.owner, whole) || set[c.key] {
			continue
		}
		if set[c.within] {
			set[c.key] = c.key != "" // set with what it stands in
			continue
		}
		op := Op{Action: c.action, Target: c.target, Name: c.name, Value: c.value}
		switch {
		case c.action == "remove":
			if whole[c.whole] {
				continue
			}
		case c.whole != nil:
			if c.whole.gone && c.action == "replace" {
				continue // the page has the old one, which is still to be removed
			}
			whole[c.whole] = true
			if c.whole.gone {
				continue
			}
			op.HTML = render("node", c.whole)
		case c.tmpl != "":
			data := c.data
			if late, ok := data.(func() any); ok {
				data = late()
			}
			op.HTML = render(c.tmpl, data)
		case c.action == "text" || c.action == "title":
			op.HTML, op.Value = *c.value, nil
		}
		if c.key != "" {
			set[c.key] = true
		}
		out = append(out, op)
	}
	for _, s := range b.announcements {
		if s.about == nil || !s.about.gone {
			out = append(out, s.op)
		}
	}
	return out
}

func renderedWhole(n *node, whole map[*node]bool) bool {
	for ; n != nil; n = n.parent {
		if whole[n] || n.gone {
			return true
		}
	}
	return false
}

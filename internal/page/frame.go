package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"webchat/internal/wording"
)

// Op is one step in bringing a page forward; package web says what each does.
type Op struct {
	Action string `json:"a"`
	Target string `json:"t,omitempty"`
	Before string `json:"b,omitempty"`
	HTML   string `json:"h,omitempty"` // or text
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

// Data returns the frame as one line of JSON, with nothing that hides in its texts.
func (f Frame) Data() []byte {
	f.Ops = slices.Clone(f.Ops)
	for i, o := range f.Ops {
		if o.Action == "title" || o.Action == "say" || o.Action == "alert" {
			f.Ops[i].HTML = wording.Shown(o.HTML)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		panic(err) // strings and numbers always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// parts are the elements of a page around its turns that show the state of a session, by
// their ids, with the templates of the [State] that make them. They are put anew, or updated:
// keeps for what scripts fill, lists unless a page that comes back needs all of the list.
var parts = []struct{ id, template, update string }{
	{"hello", "hello.gone", "keeps"}, {"composer", "composer.state", "keeps"},
	{"dock-tasks", "dock-tasks", "lists"}, {"dock-asks", "dock-asks", "lists"},
	{id: "dock-plan"}, {id: "dock-queue"}, {id: "ledger"}, {id: "outs"}, {id: "meter"},
	{id: "wait"}, {id: "trouble"}, {id: "pick"}, {id: "title"}, {id: "earlier"}, {id: "stays-now"},
	{id: "copy"},
}

// batch is what changed since the last frame. What it shows is looked up when the frame is
// made, so that many changes of one element cost one rendering.
type batch struct {
	list   []*node // that changed, in the order of their first change
	parts  map[string]bool
	tab    bool // the title of the document
	speech []speech
	moved  []string // ids of elements that stand elsewhere from now on
}

// speech is what a screen reader announces of something; nil means of the session.
type speech struct {
	about *node
	op    Op
}

// mark adds a change of a node.
func (b *batch) mark(n *node, c change) {
	if n.state == same {
		b.list = append(b.list, n)
	}
	if c == gone && n.state == fresh {
		c = never
	}
	n.state = max(n.state, c)
}

// unmark has what changed of a node until now not be shown.
func (b *batch) unmark(n *node) {
	b.list = slices.DeleteFunc(b.list, func(k *node) bool { return k == n })
	n.state = same
}

// changed has the page get parts of it again.
func (b *batch) changed(names ...string) {
	if b.parts == nil {
		b.parts = map[string]bool{}
	}
	for _, name := range names {
		b.parts[name] = true
	}
}

func (b *batch) say(text string) { b.announce(nil, "say", text) }

// announce says something about n, unless n is gone when the batch is over.
func (b *batch) announce(n *node, how, text string) {
	b.speech = append(b.speech, speech{n, Op{Action: how, HTML: text}})
}

// reset begins a new batch.
func (b *batch) reset() {
	for _, n := range b.list {
		if n.state < gone {
			n.state = same
		}
	}
	*b = batch{}
}

// ops renders what changed and begins a new batch.
func (f *State) ops() (out []Op) {
	for _, id := range f.batch.moved { // before they are added again
		out = append(out, Op{Action: "remove", Target: id})
	}
	for _, n := range f.batch.list {
		switch {
		case n.state == never || covered(n):
		case n.Turn != nil && n.state == gone:
			// pages keep what a reader looks at: #earlier says where they may end
		case n.state == gone:
			out = append(out, Op{Action: "remove", Target: n.ID})
		case n.state == fresh:
			add := Op{Action: "add", Target: n.parent.inner(), Before: next(n)}
			out = append(out, f.inPieces(add, n)...)
			n.state = whole // the page has it now
		default:
			out = append(out, f.changedNode(n)...)
		}
	}
	out = append(out, f.renderParts(f.batch.parts, false)...)
	if f.batch.tab {
		out = append(out, Op{Action: "title", HTML: f.DocumentTitle()})
	}
	for _, s := range f.batch.speech {
		if s.about == nil || s.about.state < gone {
			out = append(out, s.op)
		}
	}
	f.batch.reset()
	return out
}

// renderParts renders the parts that changed; all: all of them, for a page that comes back.
func (f *State) renderParts(changed map[string]bool, all bool) (out []Op) {
	f.Own = !all
	defer func() { f.Own = false }()
	for _, p := range parts {
		if !all && !changed[p.id] || p.id == "hello" && f.Empty() {
			continue
		}
		op := Op{Action: "put", Target: p.id, HTML: f.pages.render(cmp.Or(p.template, p.id), f)}
		if p.update == "keeps" || p.update == "lists" && f.Own {
			op.Action = "update"
		}
		out = append(out, op)
	}
	return out
}

// changedNode renders a node that the page has, without its children where they stand in
// an element of their own.
func (f *core) changedNode(n *node) []Op {
	op := func(action, target, template string, data any) []Op {
		return []Op{{Action: action, Target: target, HTML: f.pages.render(template, data)}}
	}
	switch {
	case n.Call != nil && n.state == running:
		n.Call.Live = true
		defer func() { n.Call.Live = false }()
		return op("update", n.Call.El(), "call.view", n.Call)
	case n.Call != nil && n.state == own:
		return op("put", n.Call.El(), "call.view", n.Call)
	case n.Task != nil:
		return op("put", n.ID+".o", "task.output", n.Task)
	case n.Steps != nil && n.state == own:
		return op("put", n.ID+".s", "steps.sum", n)
	case n.state == own && (n.Turn != nil || n.Did != nil || n.body() != nil):
		n.Own = true
		defer func() { n.Own = false }()
		return op("update", n.ID, "node", n)
	}
	return f.inPieces(Op{Action: "put", Target: n.ID}, n)
}

// covered reports whether n is in the page with what holds it, or gone with that.
func covered(n *node) bool {
	for p := n.parent; p != nil; p = p.parent {
		if p.state >= whole {
			return true
		}
	}
	return false
}

// next is the id of the first of the nodes behind n that the page has; empty if there is none.
func next(n *node) (id string) {
	kids := n.parent.Kids
	for i := len(kids) - 1; kids[i] != n; i-- {
		if kids[i].state != fresh {
			id = kids[i].ID
		}
	}
	return id
}

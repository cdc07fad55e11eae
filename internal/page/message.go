package page

import (
	"html/template"
	"strconv"
	"strings"

	"webchat/internal/render/markdown"
	"webchat/internal/wording"
)

// message is a text of the model in flight or whole: an answer or reasoning. It
// is shown block by block; while it streams only its last block changes.
type message struct {
	Runs []*run
	Busy bool // text is still arriving
	Cut  bool // it was cut off here

	key    string
	id     string
	text   []byte
	whole  bool // nothing comes any more
	stream markdown.Stream
}

// run is some blocks of a message after each other. The browser lays out those in
// sight and the one that grows, so a long text costs no more than a short one.
type run struct {
	ID     string
	Blocks []*block
}

const runLength = 64 // blocks

// block is one piece of a message that is shown by itself. Code and tables may
// come in parts, so that an open one of any length costs little.
type block struct {
	ID string
	*markdown.Block
}

// Inner is the id of the element that holds the parts.
func (b *block) Inner() string { return b.ID + ".c" }

// Pieces are the parts there are.
func (b *block) Pieces() []part {
	pieces := make([]part, b.Parts())
	for i := range pieces {
		pieces[i] = part{b, i}
	}
	return pieces
}

// part is one piece of a block, looked up when it is rendered.
type part struct {
	block *block
	i     int
}

// ID is that of its element.
func (p part) ID() string { return p.block.Inner() + "." + strconv.Itoa(p.i) }

// Table reports whether it is rows of a table.
func (p part) Table() bool { return p.block.Table() }

// HTML is what it holds; empty if the block is shown as a whole by now.
func (p part) HTML() template.HTML {
	if p.i >= p.block.Parts() {
		return ""
	}
	return p.block.Part(p.i).HTML()
}

// Body is the id of the element that holds the blocks.
func (m *message) Body() string { return m.id + ".b" }

// First is the start of the text, for a folded row.
func (m *message) First() string { return wording.FirstLine(m.start(), 90) }

// messageDelta adds to a message in flight: text = text[:offset] + piece.
func (f *State) messageDelta(prefix, id, parentCall string, offset int64, piece string, reasoning bool) {
	n := f.nodes[prefix+id]
	if n == nil {
		if offset > 0 {
			return // its start was not seen; the whole message comes
		}
		n = f.newMessage(prefix, id, parentCall, reasoning)
		n.body().Busy = true
	}
	m := n.body()
	if offset < 0 || offset > int64(len(m.text)) || !m.Busy {
		return // a gap is closed by the whole message; a finished one does not change
	}
	if offset < int64(len(m.text)) {
		f.rewrite(n, string(m.text[:offset])+piece)
		return
	}
	f.extend(n, piece)
}

func (n *node) body() *message {
	if n.Reasoning != nil {
		return n.Reasoning
	}
	return n.Message
}

func (f *State) newMessage(prefix, id, parentCall string, reasoning bool) *node {
	n := f.node(elementID(prefix, id))
	m := &message{key: prefix + id, id: n.ID}
	parent := f.container(parentCall)
	f.nodes[m.key] = n
	if reasoning {
		n.Reasoning = m
		f.addStep(parent, n)
	} else {
		n.Message = m
		f.add(parent, n)
	}
	return n
}

// messageComplete makes a message whole.
func (f *State) messageComplete(prefix, id, parentCall, content string, partial, reasoning bool) {
	n := f.nodes[prefix+id]
	if n == nil {
		if content == "" {
			return // it only asked for tools
		}
		n = f.newMessage(prefix, id, parentCall, reasoning)
	}
	m := n.body()
	f.touch(n)
	switch {
	case content == "":
		f.messageDiscarded(prefix, id)
		return
	case !m.whole && strings.HasPrefix(content, string(m.text)):
		f.extend(n, content[len(m.text):])
	case m.whole && content == string(m.text):
	default:
		f.rewrite(n, content)
	}
	f.finish(n)
	if partial && !m.Cut {
		m.Cut = true
		f.batch.replace(n)
	}
	if !reasoning && parentCall == "" {
		f.batch.announce("say", wording.FirstLine(content, 300))
	}
}

func (f *State) messageDiscarded(prefix, id string) {
	n := f.nodes[prefix+id]
	if n == nil {
		return
	}
	delete(f.nodes, prefix+id)
	f.touch(n)
	f.batch.remove(n)
	f.forget(n)
	delete(f.ids, hash(n.ID)) // a retry may take it again
	n.detach()
}

// extend adds text at the end.
func (f *State) extend(n *node, piece string) {
	m := n.body()
	m.text = append(m.text, piece...)
	m.stream.Write(piece)
	f.patch(n)
}

// finish says that nothing comes any more: the last block ends, and the caret goes.
func (f *State) finish(n *node) {
	m := n.body()
	if !m.whole {
		m.whole = true
		m.stream.End()
		f.patch(n)
	}
	if m.Busy {
		m.Busy = false
		f.batch.attr(n, m.Body(), "aria-busy", nil)
	}
}

// patch shows what is new: finished blocks stay, the open one is shown again, or
// its last part. Nothing becomes HTML before the batch is over.
func (f *State) patch(n *node) {
	m := n.body()
	for _, p := range m.stream.Patches() {
		b, r, fresh := m.block(p.Block)
		if fresh && len(r.Blocks) == 1 {
			f.batch.add(change{action: "append", target: m.Body(), key: r.ID, owner: n, tmpl: "run", data: r})
		}
		b.Block = m.stream.Block(p.Block)
		f.patchBlock(n, p, b, r, fresh)
	}
}

// block returns a block and the run it stands in; a new one if it is the next.
func (m *message) block(i int) (b *block, r *run, fresh bool) {
	at, in := i/runLength, i%runLength
	if at == len(m.Runs) {
		m.Runs = append(m.Runs, &run{ID: m.id + ".r" + strconv.Itoa(at)})
	}
	r = m.Runs[at]
	if in == len(r.Blocks) {
		r.Blocks = append(r.Blocks, &block{ID: m.id + "." + strconv.Itoa(i)})
		fresh = true
	}
	return r.Blocks[in], r, fresh
}

func (f *State) patchBlock(n *node, p markdown.Patch, b *block, r *run, fresh bool) {
	if p.Part < 0 {
		c := change{action: "replace", target: b.ID, key: b.ID, within: r.ID, owner: n, tmpl: "block", data: b}
		if fresh {
			c.action, c.target = "append", r.ID
		}
		f.batch.add(c)
		return
	}
	piece := part{b, p.Part}
	action, target := "replace", piece.ID()
	if p.New {
		action, target = "append", b.Inner()
	}
	f.batch.add(change{action: action, target: target, key: piece.ID(), within: b.ID, owner: n, tmpl: "block.part", data: piece})
}

// rewrite shows another text from its start.
func (f *State) rewrite(n *node, text string) {
	m := n.body()
	m.text, m.Runs, m.stream, m.whole = []byte(text), nil, markdown.Stream{}, false
	m.stream.Write(text)
	f.patch(n)
	f.batch.replace(n)
}

// start is as much of the text as a line may need.
func (m *message) start() string { return string(m.text[:min(len(m.text), 2000)]) }

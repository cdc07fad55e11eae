package page

import (
	"html/template"
	"strconv"
	"strings"

	"webchat/internal/render/markdown"
	"webchat/internal/wording"
)

// runLength and runSize are how many blocks, and bytes of source, a run of a message holds before
// the next one begins. The browser lays out those in sight and the one that grows, so a long text
// costs no more than a short one.
const (
	runLength = 64
	runSize   = 12 << 10
)

// run is some blocks of a message after each other.
type run struct {
	Later bool // while it is rendered for a page that gets it by an operation of its own

	first int // the number of its first block in the message
}

// message is a text of the model in flight or whole: an answer or reasoning. It
// is shown block by block; while it streams only its last block changes. Code and tables
// may come in pieces, so that an open one of any length costs little.
type message struct {
	Busy bool // text is still arriving
	Cut  bool // it was cut off here

	key    string
	text   []byte
	whole  bool // it is complete
	stream markdown.Stream
}

// messages are the texts of the model.
type messages struct{ *core }

// piece is a part of a block's code or some rows of its table.
type piece struct {
	block *markdown.Block
	i     int
}

// Table reports whether it is rows of a table.
func (p *piece) Table() bool { return p.block.Table() }

// HTML is what it holds; empty if the block is shown as a whole by now.
func (p *piece) HTML() template.HTML {
	if p.i >= p.block.Parts() {
		return ""
	}
	return p.block.Part(p.i).HTML()
}

// start is as much of the text as a line may need.
func (m *message) start() string { return string(m.text[:min(len(m.text), 2000)]) }

func (n *node) body() *message {
	if n.Reasoning != nil {
		return n.Reasoning
	}
	return n.Message
}

// delta adds to a message in flight: text = text[:offset] + added.
func (f *messages) delta(prefix, id, parentCall string, offset int64, added string) {
	n := f.nodes[prefix+id]
	if n == nil {
		if offset > 0 {
			return // its start was not seen; the whole message comes
		}
		n = f.begin(prefix, id, parentCall)
		n.body().Busy = true
	}
	m := n.body()
	switch {
	case offset < 0 || offset > int64(len(m.text)) || !m.Busy:
		// a gap is closed by the whole message; a finished one does not change
	case offset < int64(len(m.text)):
		f.rewrite(n, string(m.text[:offset])+added)
	default:
		f.extend(n, added)
	}
}

func (f *messages) begin(prefix, id, parentCall string) *node {
	n := f.node(elementID(prefix, id))
	m := &message{key: prefix + id}
	parent := f.container(parentCall)
	f.nodes[m.key] = n
	if prefix == "r-" {
		n.Reasoning = m
		f.addStep(parent, n)
	} else {
		n.Message = m
		f.add(parent, n)
	}
	return n
}

// complete makes a message whole.
func (f *messages) complete(prefix, id, parentCall, content string, partial bool) {
	n := f.nodes[prefix+id]
	if content == "" { // it only asked for tools, or did not come to be
		f.discard(prefix + id)
		return
	}
	if n == nil {
		n = f.begin(prefix, id, parentCall)
	}
	m := n.body()
	switch {
	case !m.whole && strings.HasPrefix(content, string(m.text)):
		f.extend(n, content[len(m.text):])
	case !m.whole || content != string(m.text):
		f.rewrite(n, content)
	}
	f.finish(n)
	if n.Message != nil && parentCall == "" {
		f.order++
		n.order = f.order
		if t := n.parent.Turn; t != nil {
			t.spoke = n.order
		}
	}
	if partial && !m.Cut {
		m.Cut = true
		f.show(n, whole)
	}
	if n.Message != nil && parentCall == "" {
		f.say(wording.FirstLine(content, 300))
	}
}

func (f *messages) discard(key string) {
	n := f.nodes[key]
	if n == nil {
		return
	}
	delete(f.nodes, key)
	delete(f.ids, hash(n.ID)) // a retry may take it again
	f.take(n)
}

// extend adds text at the end.
func (f *messages) extend(n *node, added string) {
	m := n.body()
	if f.pages.lines > 0 && len(m.text) > 0 { // a secret may go on in what is added
		f.rewrite(n, string(m.text)+added)
		return
	}
	m.text = append(m.text, added...)
	m.stream.Write(f.pages.kept(added))
	f.patch(n)
}

// rewrite shows another text from its start.
func (f *messages) rewrite(n *node, text string) {
	m := n.body()
	m.text, m.stream, m.whole, n.Kids = nil, markdown.Stream{}, false, nil
	f.extend(n, text)
	f.show(n, whole)
}

// finish completes the message: the last block ends, and the caret goes.
func (f *messages) finish(n *node) {
	m := n.body()
	if !m.whole {
		m.whole = true
		m.stream.End()
		f.patch(n)
	}
	m.Busy = false
	f.show(n, own)
}

// patch shows what is new: finished blocks stay, the open one is shown again, or
// its last piece. Nothing becomes HTML before the batch is over.
func (f *messages) patch(n *node) {
	m := n.body()
	for _, p := range m.stream.Patches() {
		b := f.block(n, p.Block)
		if is := m.stream.Block(p.Block); is != b.Block {
			b.Block, b.Kids = is, nil
		}
		for i := len(b.Kids); i < b.Block.Parts(); i++ {
			id := b.inner() + "." + strconv.Itoa(i)
			f.insert(b, nil, &node{ID: id, Piece: &piece{b.Block, i}})
		}
		b.Kids = b.Kids[:b.Block.Parts()]
		if p.Part < 0 {
			f.show(b, whole)
		} else {
			f.show(b.Kids[p.Part], whole)
		}
	}
}

// block returns the element of a block of a message; a new one if it is the next. Where a run ends
// depends on the blocks before and on nothing else, so that a page that loads has the same runs.
func (f *messages) block(n *node, i int) *node {
	at := len(n.Kids) - 1
	for at >= 0 && n.Kids[at].Run.first > i {
		at--
	}
	if at < 0 || i == n.Kids[at].Run.first+len(n.Kids[at].Kids) && n.Kids[at].full() {
		at++
		f.insert(n, nil, &node{ID: n.ID + ".r" + strconv.Itoa(at), Run: &run{first: i}})
	}
	r := n.Kids[at]
	if i-r.Run.first == len(r.Kids) {
		f.insert(r, nil, &node{ID: n.ID + "." + strconv.Itoa(i), Block: &markdown.Block{}})
	}
	return r.Kids[i-r.Run.first]
}

// full reports whether the next block begins another run.
func (n *node) full() bool {
	size := 0
	for _, b := range n.Kids {
		size += b.Block.Size()
	}
	return size >= runSize || len(n.Kids) >= runLength
}

// inPieces completes an operation with the HTML of n. Of a text of several runs it has only the
// places: the page gets the runs by operations of their own, between which it does what else it
// has to. Until then it keeps what it has of them, so that no text shrinks.
func (f *core) inPieces(op Op, n *node) []Op {
	var later []*node
	for _, t := range n.texts(nil) {
		if len(t.Kids) > 1 {
			later = append(later, t.Kids...)
		}
	}
	for _, r := range later {
		r.Run.Later = true
	}
	op.HTML = f.pages.render("node", n)
	ops := []Op{op}
	for _, r := range later {
		r.Run.Later = false
		ops = append(ops, Op{Action: "put", Target: r.ID, HTML: f.pages.render("node", r)})
	}
	return ops
}

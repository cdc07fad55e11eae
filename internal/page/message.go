package page

import (
	"html/template"
	"strconv"
)

// message is a text of the model in flight or whole: an answer or reasoning. It
// is shown block by block; while it streams only its last block changes.
type message struct {
	Blocks []*block
	Busy   bool // text is still arriving
	Cut    bool // it was cut off here

	key    string
	id     string
	text   string
	stream mdStream
}

// block is one piece of a message that was rendered by itself.
type block struct {
	ID   string
	HTML template.HTML
}

// Body is the id of the element that holds the blocks.
func (m *message) Body() string { return m.id + ".b" }

// First is the start of the text, for a folded row.
func (m *message) First() string { return firstLine(m.text, 90) }

// delta adds to a message in flight: text = text[:offset] + piece.
func (f *fold) delta(prefix, id, parentCall string, offset int64, piece string, reasoning bool) {
	n := f.nodes[prefix+id]
	if n == nil {
		if offset > 0 {
			return // its start was not seen; the whole message comes
		}
		n = f.newMessage(prefix, id, parentCall, reasoning)
		n.body().Busy = true
	}
	m := n.body()
	if offset > int64(len(m.text)) || !m.Busy {
		return // a gap is closed by the whole message; a finished one does not change
	}
	if offset < int64(len(m.text)) {
		f.rewrite(n, m.text[:offset]+piece)
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

func (f *fold) newMessage(prefix, id, parentCall string, reasoning bool) *node {
	n := f.node(elementID(prefix, id))
	m := &message{key: prefix + id, id: n.ID}
	parent := f.place(parentCall)
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

// said makes a message whole.
func (f *fold) said(prefix, id, parentCall, content string, partial, reasoning bool) {
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
		f.discard(prefix, id)
		return
	case len(content) >= len(m.text) && content[:len(m.text)] == m.text:
		f.extend(n, content[len(m.text):])
	default:
		f.rewrite(n, content)
	}
	if m.Busy {
		m.Busy = false
		f.batch.attr(n, m.Body(), "aria-busy", nil)
	}
	if partial && !m.Cut {
		m.Cut = true
		f.batch.replace(n)
	}
	if !reasoning && parentCall == "" {
		f.batch.say("say", firstLine(content, 300))
	}
}

func (f *fold) discard(prefix, id string) {
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

// extend adds text at the end: finished blocks stay, the open one is shown again.
func (f *fold) extend(n *node, piece string) {
	m := n.body()
	m.text += piece
	m.stream.Write(piece)
	m.patch(func(b *block, isNew bool) {
		action := "replace"
		target := b.ID
		if isNew {
			action, target = "append", m.Body()
		}
		f.batch.add(change{action: action, target: target, key: b.ID, owner: n, tmpl: "block", data: b})
	})
}

// rewrite shows another text from its start.
func (f *fold) rewrite(n *node, text string) {
	m := n.body()
	m.text, m.Blocks, m.stream = text, nil, mdStream{}
	m.stream.Write(text)
	m.patch(func(*block, bool) {})
	f.batch.replace(n)
}

func (m *message) blockID(i int) string { return m.id + "." + strconv.Itoa(i) }

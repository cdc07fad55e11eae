package page

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"
	"slices"
	"strconv"

	"webchat/internal/render/markdown"
)

// node is an element of the page with an id. Exactly one of its kinds is set; the
// template "node" chooses by it.
type node struct {
	ID        string
	Turn      *turn
	Message   *message
	Reasoning *message
	Run       *run
	Block     *markdown.Block
	Piece     *piece
	Call      *Call
	Steps     *steps
	Did       *did
	Ask       *Ask // its row
	Question  *Ask // its card in the dock, while it waits
	Hook      *hook
	Note      *note
	Task      *task
	Refused   *refusals // below their call

	Kids   []*node
	parent *node
	hides  *node // of a question: the call whose row it hides while it waits
	seq    int64 // of the event that made it
	order  int   // its place among the things of its turn; 0: as it stands
	state  change
	Own    bool // while it is rendered for a page that keeps the element of its children
}

// change is what the page has to be given of a node after a batch of events.
type change int8

const (
	same    change = iota
	running        // of a call: how far it is
	own            // all but its children
	whole          // the node with its children
	fresh          // the same; the page does not have it yet
	gone           // it was taken out of the tree
	never          // the same before the page had it
)

// inner is the id of the element that holds the children.
func (n *node) inner() string {
	switch {
	case n.Turn != nil, n.Message != nil, n.Reasoning != nil, n.Did != nil:
		return n.ID + ".b"
	case n.Call != nil:
		return n.ID + ".n"
	case n.Block != nil:
		return n.ID + ".c"
	}
	return n.ID
}

func (n *node) last() *node {
	if len(n.Kids) == 0 {
		return nil
	}
	return n.Kids[len(n.Kids)-1]
}

// turn returns the turn that holds n.
func (n *node) turn() *turn {
	for ; n != nil; n = n.parent {
		if n.Turn != nil {
			return n.Turn
		}
	}
	return nil
}

// key is the name under which later events find n.
func (n *node) key() string {
	switch {
	case n.body() != nil:
		return n.body().key
	case n.Call != nil:
		return "c-" + n.Call.ID
	case n.Ask != nil:
		return "p-" + n.Ask.RequestID
	case n.Hook != nil:
		return "h-" + n.Hook.ID
	}
	return ""
}

// calls are the calls in n.
func (n *node) calls(to []*node) []*node {
	for _, k := range n.Kids {
		to = k.calls(to)
	}
	if n.Call != nil {
		to = append(to, n)
	}
	return to
}

// texts are the messages in n.
func (n *node) texts(to []*node) []*node {
	if n.body() != nil {
		return append(to, n)
	}
	for _, k := range n.Kids {
		to = k.texts(to)
	}
	return to
}

// node makes one whose id no other has: an agent may use an id twice.
func (f *core) node(id string) *node {
	free := id
	for i := 2; f.ids[hash(free)]; i++ {
		free = id + ".again" + strconv.Itoa(i)
	}
	f.ids[hash(free)] = true
	return &node{ID: free}
}

// insert puts n among the children of parent before one of them; nil means at the end.
func (f *core) insert(parent, before, n *node) {
	n.parent, n.seq = parent, f.Seq
	if t := n.turn(); t != nil && n.Call != nil {
		n.Call.From = t.from
	}
	i := len(parent.Kids)
	if before != nil {
		i = slices.Index(parent.Kids, before)
	}
	parent.Kids = slices.Insert(parent.Kids, i, n)
	f.show(n, fresh)
}

// remove takes n out of the tree.
func (f *core) remove(n *node) {
	f.show(n, gone)
	if n.parent != nil {
		n.parent.Kids = slices.DeleteFunc(n.parent.Kids, func(k *node) bool { return k == n })
	}
}

// show notes what a page has to be given of n, and that n's turn changed, so that a page
// that comes back gets it.
func (f *core) show(n *node, c change) {
	if t := n.turn(); t != nil {
		t.seq = f.Seq
		if n.Turn == nil {
			f.heard(t)
		}
	}
	f.batch.mark(n, c)
}

// hash is the same in every process, so that a page made after a restart has the
// ids of the one before.
func hash(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash takes everything
	return h.Sum64()
}

// elementID makes an id of the document from one an agent chose, which may hold
// anything. What is short and plain stays readable.
func elementID(prefix, id string) string {
	plain := len(id) > 0 && len(id) <= 80
	for _, r := range id {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' ||
			r == '-') {
			plain = false
			break
		}
	}
	if plain {
		return prefix + id
	}
	h := sha256.Sum256([]byte(id))
	return prefix + "x" + hex.EncodeToString(h[:10])
}

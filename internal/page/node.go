package page

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// node is an element of the transcript with an id. Exactly one of its kinds is
// set; the template "node" chooses by it.
type node struct {
	ID        string
	Turn      *turn
	Message   *message
	Reasoning *message
	Call      *Call
	Steps     *steps
	Ask       *Ask // its row
	Question  *Ask // its card in the dock, while it waits
	Hook      *hook
	Note      *note

	Kids   []*node
	parent *node
	hides  *node // of a question: the call whose row it hides while it waits
	gone   bool
}

// inner is the id of the element that holds the children.
func (n *node) inner() string {
	switch {
	case n.Turn != nil:
		return n.ID + ".b"
	case n.Call != nil:
		return n.ID + ".n"
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

func (n *node) detach() {
	n.gone = true
	if n.parent != nil {
		n.parent.Kids = slices.DeleteFunc(n.parent.Kids, func(k *node) bool { return k == n })
	}
}

// elementID makes an id of the document from one an agent chose, which may hold
// anything. What is short and plain stays readable.
func elementID(prefix, id string) string {
	plain := len(id) > 0 && len(id) <= 80
	for _, r := range id {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
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

package page

import (
	"slices"
	"strings"

	"webchat/internal/wording"
)

// steps are acts of one kind next to each other: one row, which opens to them if they are several.
type steps struct {
	node *node
	kind string // of all of them; empty: it has one
}

// Long reports whether they are several.
func (s *steps) Long() bool { return len(s.node.Kids) > 1 }

// first is the call that the others are like; nil where they are not calls.
func (s *steps) first() *Call {
	if len(s.node.Kids) == 0 {
		return nil
	}
	return s.node.Kids[0].Call
}

// mostNames is how many names a row of several acts has.
const mostNames = 3

// Verb is the word the row begins with.
func (s *steps) Verb() string {
	if c := s.first(); c != nil {
		v, _ := verbOf(c.Tool)
		return v.done
	}
	if s.node.Kids[0].Hook != nil {
		return "Hooks"
	}
	return "Reasoning"
}

// What is what was done, each thing by its name as long as they are few.
func (s *steps) What() string {
	var names []string
	for _, k := range s.node.Kids {
		if k.Call == nil {
			continue
		}
		if name := k.Call.What(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > mostNames {
		return wording.Count(len(names)) + " " + nounOf(s.Verb(), len(names))
	}
	return strings.Join(names, ", ")
}

// Times says how often, where it is not seen by the names.
func (s *steps) Times() string {
	seen := map[string]bool{}
	for _, k := range s.node.Kids {
		if k.Call != nil {
			seen[k.Call.What()] = true
		}
	}
	if n := len(s.node.Kids); n > max(1, len(seen)) {
		return times(n)
	}
	return ""
}

// ByUser reports whether a person allowed one of them.
func (s *steps) ByUser() bool {
	return slices.ContainsFunc(s.node.Kids, func(k *node) bool {
		return k.Call != nil && k.Call.Allowed.ByHand() != ""
	})
}

// Counts is how many lines they added and removed.
func (s *steps) Counts() (n struct{ Added, Removed int }) {
	for _, k := range s.node.Kids {
		if k.Call == nil || !k.Call.Done() {
			continue
		}
		if d := k.Call.Diff(); d != nil {
			c := d.Counts()
			n.Added, n.Removed = n.Added+c.Added, n.Removed+c.Removed
		}
	}
	return n
}

// Price is what their results cost the model.
func (s *steps) Price() string { return price(s.tokens()) }

func (s *steps) tokens() (n int64) {
	for _, k := range s.node.Kids {
		if k.Call != nil && counted(k.Call) {
			n += k.Call.Tokens
		}
	}
	return n
}

func price(tokens int64) string {
	if tokens == 0 {
		return ""
	}
	return "+" + wording.Count(tokens)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return wording.Count(n) + " times"
}

// kindOf is what acts of one row have in common; empty: it has its own row.
func (n *node) kindOf() string {
	switch c := n.Call; {
	case c == nil && n.Hook != nil:
		return "hook"
	case c == nil && n.Reasoning != nil:
		return "reasoning"
	case c == nil || c.Early || c.Agent != "":
		return ""
	case writes(c.Tool):
		v, _ := verbOf(c.Tool)
		return v.done + " " + c.In.inWorkspace(c.Name())
	default:
		if v, known := verbOf(c.Tool); known {
			return v.done
		}
		return "Used " + c.Tool
	}
}

// addStep puts an act where it belongs: into what its turn did, or into what a helper agent did.
func (f *core) addStep(parent, n *node) {
	f.setOrder(n)
	t := parent.Turn
	switch {
	case t == nil:
		f.addBeside(parent, n)
	case t.Look || n.stands():
		f.insert(parent, parent.behind(n.order), n)
	default:
		f.addBeside(f.didOf(parent), n)
	}
	f.stepChanged(n, own)
}

// addBeside puts an act into the row of those before it, if they are of its kind and no message
// came since.
func (f *core) addBeside(parent, n *node) {
	kind, last := n.kindOf(), parent.last()
	if kind != "" && last != nil && last.Steps != nil && last.Steps.kind == kind &&
		len(last.Kids) > 0 &&
		(parent.Did == nil || last.last().order > parent.Did.turn.spoke) {
		f.insert(last, nil, n)
		if len(last.Kids) == 2 {
			f.show(last, whole)
		}
		return
	}
	s := f.node("g-" + n.ID)
	s.Steps = &steps{node: s, kind: kind}
	s.order = n.order
	f.insert(parent, parent.behind(n.order), s)
	f.insert(s, nil, n)
}

// stands reports whether an act has a row outside of the fold: what was shown, denied, refused,
// failed or held, and what an agent asked.
func (n *node) stands() bool {
	switch {
	case n.Call != nil:
		return n.Call.Kind != "" || n.isRefused() || n.Call.State == "failed" && !n.Call.Hidden()
	case n.Ask != nil:
		return !n.Ask.IsPermission() || n.Ask.Later() || n.Ask.Answered && !n.Ask.Allowed()
	case n.Hook != nil:
		return n.Hook.Done && !n.Hook.Allow
	}
	return false
}

// stepChanged shows an act again, and what stands for it. It leaves the fold once it has to stand
// outside.
func (f *core) stepChanged(n *node, c change) {
	f.show(n, c)
	if n.did() != nil && n.stands() {
		f.takeOut(n)
		return
	}
	for p := n.parent; p != nil && p.Turn == nil; p = p.parent {
		if p.Steps != nil && p.Steps.Long() || p.Did != nil {
			f.show(p, own)
		}
	}
}

// takeOut moves an act out of what its turn did.
func (f *core) takeOut(n *node) {
	turn := n.did().parent
	f.detach(n)
	f.insertMoved(turn, turn.behind(n.order), n)
}

// detach takes n out of the tree, and what held only n. A page that has n is given that first.
func (f *core) detach(n *node) {
	if n.state != fresh {
		f.batch.moved = append(f.batch.moved, n.ID)
	}
	f.batch.unmark(n)
	p := n.parent
	p.Kids = slices.DeleteFunc(p.Kids, func(k *node) bool { return k == n })
	f.emptied(p)
}

// emptied removes a row, and a fold, that holds nothing more.
func (f *core) emptied(p *node) {
	switch {
	case p.Steps == nil && p.Did == nil:
	case len(p.Kids) > 0:
		f.show(p, whole)
		if p.Steps != nil && p.parent.Did != nil {
			f.show(p.parent, own)
		}
	default:
		if p.Did != nil {
			p.Did.turn.did = nil
		}
		up := p.parent
		f.remove(p)
		f.emptied(up)
	}
}

// insertMoved is insert of a node that was elsewhere before: it keeps the event that made it.
func (f *core) insertMoved(parent, before, n *node) {
	seq := n.seq
	f.insert(parent, before, n)
	n.seq = seq
}

// setOrder gives n its place among the things of its turn.
func (f *core) setOrder(n *node) {
	if n.order == 0 {
		f.order++
		n.order = f.order
	}
}

// behind is the first child that came later than a place; nil if none did.
func (n *node) behind(order int) *node {
	for _, k := range n.Kids {
		if k.order > order {
			return k
		}
	}
	return nil
}

// take removes n, and a row that held only n.
func (f *core) take(n *node) {
	p := n.parent
	f.remove(n)
	f.emptied(p)
}

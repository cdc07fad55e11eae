package page

import (
	"slices"
	"time"

	"webchat/internal/wording"
)

// longSteps is how many rows stand open; more fold when they are over.
const longSteps = 6

// steps is a run of rows on one thread.
type steps struct {
	Long bool // folded into one line
	node *node
}

// Sum is the line that stands for all of them: 9 steps · 4.2 s · +3,110.
func (s *steps) Sum() string {
	var d time.Duration
	var tokens int64
	for _, k := range s.node.Kids {
		if k.Call != nil {
			d += k.Call.Took
			tokens += k.Call.Tokens
		}
	}
	text := wording.Plural(len(s.node.Kids), "step")
	if d > 0 {
		text += " · " + wording.Took(d)
	}
	if tokens > 0 {
		text += " · +" + wording.Count(tokens)
	}
	return text
}

// addStep puts a row at the end of a container's steps, which it may begin. Rows
// that belong to a display call still waiting for its output come before it.
func (f *State) addStep(parent, n *node) {
	after := parent.last()
	if after != nil && after.Call != nil && after.Call.Awaited() && n.Call == nil {
		f.stepBefore(parent, after, n)
		return
	}
	if after == nil || after.Steps == nil {
		after = f.add(parent, f.newSteps(n))
	}
	f.insert(after, nil, n)
	f.stepChanged(n, own)
}

// stepBefore puts a row into the steps before the last node of parent.
func (f *State) stepBefore(parent, last, n *node) {
	i := len(parent.Kids) - 2
	if i < 0 || parent.Kids[i].Steps == nil {
		i++
		f.insert(parent, last, f.newSteps(n))
	}
	f.insert(parent.Kids[i], nil, n)
}

func (f *State) newSteps(first *node) *node {
	s := f.node("g-" + first.ID)
	s.Steps = &steps{node: s}
	return s
}

// closeSteps folds a run of rows that is over and long.
func (f *State) closeSteps(s *node) {
	// it is never folded away
	waits := func(k *node) bool { return k.Ask != nil && !k.Ask.Answered || k.isRefused() }
	if s.Steps.Long || len(s.Kids) <= longSteps || slices.ContainsFunc(s.Kids, waits) {
		return
	}
	s.Steps.Long = true
	f.show(s, whole)
}

// stepChanged shows a row again, and the sum of its steps if that is shown.
func (f *State) stepChanged(n *node, c change) {
	f.show(n, c)
	if p := n.parent; p != nil && p.Steps != nil && p.Steps.Long {
		f.show(p, whole)
	}
}

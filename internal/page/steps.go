package page

import (
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
	f.attach(after, n)
	f.batch.append(after, n)
	if after.Steps.Long {
		f.batch.part(after, after.ID+".s", "steps.sum", after)
	}
}

func (f *State) stepBefore(parent, call, n *node) {
	i := len(parent.Kids) - 1
	if i > 0 && parent.Kids[i-1].Steps != nil {
		s := parent.Kids[i-1]
		f.attach(s, n)
		f.batch.append(s, n)
		return
	}
	s := f.newSteps(n)
	s.parent = parent
	parent.Kids = append(parent.Kids[:i:i], s, call)
	f.batch.before(call, s)
	f.attach(s, n)
	f.batch.append(s, n)
}

func (f *State) newSteps(first *node) *node {
	s := f.node("g-" + first.ID)
	s.Steps = &steps{node: s}
	return s
}

// closeSteps folds a run of rows that is over and long.
func (f *State) closeSteps(s *node) {
	if s.Steps.Long || len(s.Kids) <= longSteps {
		return
	}
	for _, k := range s.Kids {
		if k.Ask != nil && k.Ask.Open() {
			return // a question is never folded away
		}
	}
	s.Steps.Long = true
	f.batch.attr(s, s.ID, "class", ptr("steps is-long"))
	f.batch.attr(s, s.ID, "open", nil)
	f.batch.part(s, s.ID+".s", "steps.sum", s)
}

// stepChanged shows a row again.
func (f *State) stepChanged(n *node) {
	f.touch(n)
	if p := n.parent; p != nil && p.Steps != nil && p.Steps.Long {
		f.batch.part(p, p.ID+".s", "steps.sum", p)
	}
}

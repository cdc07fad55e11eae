package page

import (
	"cmp"
	"slices"
	"time"
)

// wait is what a running turn waits for while nothing comes. The page counts how long, and shows
// it when that is long.
type wait struct {
	For   string // a model, or the agent
	Since time.Time
}

// waitStep is how exact the beginning of a wait is: with text that arrives it moves no more often.
const waitStep = 500 * time.Millisecond

// heard notes that something of the running turn arrived.
func (f *State) heard(t *turn) {
	if f.current != nil && f.current.Turn == t && f.now.Sub(t.heard) >= waitStep {
		t.heard = f.now
	}
}

// began notes a call or a hook, which the turn does not wait for: its own row says that it runs.
func (f *State) began(n *node) { f.busy = append(f.busy, n) }

// ended reports whether what began is over.
func ended(n *node) bool {
	if n.Hook != nil {
		return n.Hook.Done
	}
	return n.Call.Done() || n.Call.Gone
}

// setWait finds out what is waited for after an event.
func (f *State) setWait() {
	f.busy = slices.DeleteFunc(f.busy, ended)
	var w wait
	if n := f.current; n != nil && len(f.asks.Kids) == 0 && !f.pages.elsewhere(f.Backend) &&
		!slices.ContainsFunc(f.busy, func(b *node) bool { return b.turn() == n.Turn }) {
		w = wait{cmp.Or(f.Backend, "the agent"), n.Turn.heard}
		if n.Turn.called {
			w.For = cmp.Or(f.Model, f.pages.Models[f.Backend], w.For)
		}
	}
	if w != f.wait {
		f.wait = w
		f.changed("wait")
	}
}

// Wait is what the running turn waits for; nil: nothing, or what a row of its own says.
func (f *State) Wait() *wait {
	if f.wait == (wait{}) {
		return nil
	}
	return &f.wait
}

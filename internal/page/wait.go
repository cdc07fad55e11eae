package page

import (
	"cmp"
	"slices"
	"time"
)

// wait is what a running turn waits for while nothing comes. The page counts how long, and shows
// it when that is long.
type wait struct {
	For   string // a model, or the agent; empty: the answer to another session's question
	Other string // that session, if it is one of the same user's
	Since time.Time
}

// waits is what runs, and what the running turn waits for.
type waits struct {
	*core
	questions *questions
	busy      []*node // calls and hooks that run
	wait      wait    // for nothing, if it is empty
}

// waitStep is how exact the beginning of a wait is: with text that arrives it moves no more often.
const waitStep = 500 * time.Millisecond

// heard notes that something of the running turn arrived.
func (f *core) heard(t *turn) {
	if f.current != nil && f.current.Turn == t && f.now.Sub(t.heard) >= waitStep {
		t.heard = f.now
	}
}

// began notes a call or a hook, which the turn does not wait for: its own row says that it runs.
func (f *waits) began(n *node) { f.busy = append(f.busy, n) }

// ended reports whether what began is over.
func ended(n *node) bool {
	if n.Hook != nil {
		return n.Hook.Done
	}
	return n.Call.Done() || n.Call.Gone
}

// set finds out what is waited for after an event.
func (f *waits) set() {
	f.busy = slices.DeleteFunc(f.busy, ended)
	var w wait
	if n := f.current; n != nil && len(f.questions.asks.Kids) == 0 && !f.pages.elsewhere(f.Backend) {
		w = f.waitIn(n.Turn)
	}
	if w != f.wait {
		f.wait = w
		f.changed("wait")
	}
}

// waitIn is what a turn that asks nothing waits for.
func (f *waits) waitIn(t *turn) wait {
	runs := false
	for _, n := range f.busy {
		if n.turn() != t {
			continue
		}
		if runs = true; n.Call != nil && n.Call.Progress.WaitsFor != nil {
			return wait{Other: n.Call.Progress.WaitsFor.SessionID, Since: n.Call.Since()}
		}
	}
	if runs {
		return wait{}
	}
	w := wait{For: cmp.Or(f.Backend, "the agent"), Since: t.heard}
	if t.called {
		w.For = cmp.Or(f.Model, f.pages.Models[f.Backend], w.For)
	}
	return w
}

// Asks is what the other session is called; empty: that is not to be said.
func (f *waits) Asks() string {
	if f.wait.Other == "" || f.pages.Title == nil {
		return ""
	}
	return f.pages.Title(f.wait.Other)
}

// Wait is what the running turn waits for; nil: nothing, or what a row of its own says.
func (f *waits) Wait() *wait {
	if f.wait == (wait{}) {
		return nil
	}
	return &f.wait
}

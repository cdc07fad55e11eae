package page

import (
	"slices"
	"strings"
	"time"

	"webchat/internal/wording"
)

// did is what a turn did, folded into one line: its acts, and once the turn is over the agent's
// remarks between them. What was denied, refused or failed stands outside.
type did struct {
	node *node
	turn *turn
}

// didOf returns the fold of a turn, which stands below its prompt.
func (f *core) didOf(t *node) *node {
	if t.Turn.did != nil {
		return t.Turn.did
	}
	d := f.node("d-" + t.ID)
	d.Did = &did{d, t.Turn}
	t.Turn.did = d
	i := slices.IndexFunc(t.Kids, func(k *node) bool { return k.Note == nil })
	if i < 0 {
		f.insert(t, nil, d)
	} else {
		f.insert(t, t.Kids[i], d)
	}
	return d
}

// did is the fold that holds n; nil if none does.
func (n *node) did() *node {
	for p := n.parent; p != nil; p = p.parent {
		if p.Did != nil {
			return p
		}
	}
	return nil
}

// Opens reports whether it stands open by itself, once the turn is over.
func (d *did) Opens() bool { return d.turn.opens }

// acts calls yield with each act of the fold, in their order.
func (d *did) acts(yield func(*node) bool) {
	for _, s := range d.node.Kids {
		if s.Steps == nil {
			continue
		}
		for _, k := range s.Kids {
			if !yield(k) {
				return
			}
		}
	}
}

// Price is what the results of all of them cost the model: the sum of the rows.
func (d *did) Price() string {
	var sum int64
	for _, s := range d.node.Kids {
		if s.Steps != nil {
			sum += s.Steps.tokens()
		}
	}
	return price(sum)
}

// Waits reports whether one of them waits for the user.
func (d *did) Waits() bool {
	for n := range d.acts {
		if n.waits() {
			return true
		}
	}
	return false
}

// waits reports whether n, or something below it, is a question without an answer.
func (n *node) waits() bool {
	return n.Ask != nil && !n.Ask.Answered || slices.ContainsFunc(n.Kids, (*node).waits)
}

// now is the call that runs, the last of several; nil if none does.
func (d *did) now() (c *Call) {
	for n := range d.acts {
		if n.Call != nil && !n.Call.Done() && !n.Call.Hidden() {
			c = n.Call
		}
	}
	return c
}

// Busy reports whether something in it goes on.
func (d *did) Busy() bool { return d.turn.Running() && (d.Waits() || d.now() != nil) }

// Since is when the act that runs began; zero if none runs.
func (d *did) Since() (at time.Time) {
	if c := d.now(); c != nil && d.turn.Running() {
		at = c.Since()
	}
	return at
}

// part is some words of the line, and a name behind them.
type part struct{ Words, Name string }

// deed is what was done of one kind.
type deed struct {
	verb  string
	names []string
	times int
}

// Parts are the words of the line: read 2 files, searched once, edited pump.go.
func (d *did) Parts() (all []part) {
	var deeds []*deed
	asked, thought, hooks := 0, false, 0
	for n := range d.acts {
		switch {
		case n.Call != nil && counted(n.Call):
			deeds = addDeed(deeds, n.Call)
		case n.Ask != nil && n.Ask.Answered:
			asked++
		case n.Hook != nil:
			hooks++
		case n.Reasoning != nil:
			thought = true
		}
	}
	last := ""
	for _, done := range deeds {
		all = append(all, done.part(last))
		last = ""
		if len(done.names) == 1 {
			last = done.names[0]
		}
	}
	if c := d.now(); c != nil && d.turn.Running() {
		v, _ := verbOf(c.Tool)
		words := strings.ToLower(v.doing)
		if len(all) > 0 {
			words = "now " + words
		}
		all = append(all, part{words, c.What()})
	}
	switch {
	case len(all) > 0 || d.Waits():
	case asked > 0:
		all = append(all, part{Words: "asked you " + times(asked)})
	case thought:
		all = append(all, part{Words: "thought about it"})
	case hooks > 0:
		all = append(all, part{Words: "ran your " + nounOf("hook", hooks)})
	default: // what it began has not ended, though everything has stopped
		all = append(all, part{Words: "did not finish"})
	}
	for i := range all {
		if i == 0 {
			all[i].Words = wording.Capital(all[i].Words)
		} else {
			all[i].Words = ", " + all[i].Words
		}
	}
	return all
}

// addDeed counts a call among those of its kind.
func addDeed(deeds []*deed, c *Call) []*deed {
	v, known := verbOf(c.Tool)
	name := wording.FirstLine(wording.Plain(c.In.inWorkspace(c.Name())), 80)
	switch {
	case c.Agent != "":
		name = wording.Plain(c.Agent)
	case !known:
		name = wording.Plain(c.Tool)
	}
	i := slices.IndexFunc(deeds, func(d *deed) bool { return d.verb == v.done })
	if i < 0 {
		i = len(deeds)
		deeds = append(deeds, &deed{verb: v.done})
	}
	deeds[i].times++
	if !slices.Contains(deeds[i].names, name) {
		deeds[i].names = append(deeds[i].names, name)
	}
	return deeds
}

// part says it; it is the thing that the words before named, if that is the only one.
func (d *deed) part(it string) part {
	words := strings.ToLower(d.verb)
	switch {
	case strings.HasPrefix(d.verb, "Searched"), d.verb == "Listed":
		if d.verb == "Listed" {
			words += " files"
		}
		return part{Words: words + " " + times(d.times)}
	case len(d.names) == 1 && d.names[0] == it && it != "":
		return part{Words: words + " it"}
	case len(d.names) == 1 && d.names[0] != "":
		return part{words, d.names[0]}
	}
	return part{Words: words + " " + wording.Count(len(d.names)) + " " + nounOf(d.verb, len(d.names))}
}

// nounOf names several things of one kind.
func nounOf(verb string, n int) string {
	noun := map[string]string{"Read": "file", "Edited": "file", "Made": "file", "Wrote": "file",
		"Deleted": "file", "Ran": "command", "Fetched": "page", "Asked": "agent", "Used": "tool",
		"Searched": "search", "Listed": "list", "hook": "hook"}[verb]
	switch {
	case noun == "":
		noun = "thing"
	case noun == "search" && n != 1:
		return "searches"
	}
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// foldRemarks moves the agent's remarks before its last act into what the turn did, once the turn is
// over. The last words stay as the answer.
func (f *core) foldRemarks(t *node) {
	d := t.Turn.did
	if d == nil {
		return
	}
	last := 0
	for _, c := range t.calls(nil) {
		last = max(last, c.order)
	}
	var remarks []*node
	for _, k := range t.Kids {
		if k.Message != nil {
			remarks = append(remarks, k)
		}
	}
	for i, k := range remarks {
		if i == len(remarks)-1 || k.order > last {
			break
		}
		f.detach(k)
		f.insertMoved(d, d.behind(k.order), k)
	}
	f.show(d, own)
}

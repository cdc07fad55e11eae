package page

import (
	"encoding/json"
	"slices"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Past is what a session came to, for a [Projector] that reads only the end of its log.
type Past struct {
	eventlog.Summary
	Cwd      string // the folder of the session, absolute
	Readable []Readable
}

// Readable is an output whose life is not over, with the call that showed it. Those of
// a session are in the order of their calls.
type Readable struct {
	Call, Output string
	Type         string // file, terminal, image
	Name         string // its path or its command
	Complete     bool
}

// Cut says from where on a projector has to be fed: as many turns as it shows, and all
// it has to keep.
func (p *Projector) Cut() *event.Cut {
	c := event.NewCut(p.pages.Turns, p.fold.keep)
	c.Weigh(maxWeight, weightOf)
	return c
}

// LoadEnd is Load of the end of a log, from where [Projector.Cut] lies, for a new
// Projector. After it the projector is as if it had been fed all of the log, but for
// turns that would make a page slow to open.
func (p *Projector) LoadEnd(past Past, entries ...event.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, open := p.fold, past.Open
	f.Backend, f.cards.Cwd, f.left = past.Backend, past.Cwd, open.Left
	p.apply(entries)
	f.trim.toWeight(entries)
	f.addEarlierOutputs(past.Readable)
	f.title, f.Backend, f.Model, f.effort, f.todos = past.Title, past.Backend, past.Model, open.Effort,
		open.Todos
	l := f.ledger
	l.sum = past.Summary
	l.fill, l.fillAt, l.reported = event.Fill{}, time.Time{}, false
	if open.Fill != nil {
		l.fill, l.fillAt = open.Fill.Fill, time.UnixMilli(open.Fill.At)
	}
	f.cards.Window = l.window()
	f.batch.reset()
}

// addEarlierOutputs puts outputs on the shelf whose calls were not among what was loaded.
func (f *shelf) addEarlierOutputs(all []Readable) {
	var before []*Call
	for _, r := range all {
		known := slices.ContainsFunc(f.outputs, func(c *Call) bool {
			return c.ID == r.Call && c.Output == r.Output
		})
		if known || f.nodes["c-"+r.Call] != nil || f.lost[r.Call] != nil {
			continue
		}
		args, err := json.Marshal(map[string]string{"path": r.Name})
		if err != nil {
			panic(err) // strings
		}
		c := &Call{ID: r.Call, Kind: r.Type, Args: args, State: "done", Output: r.Output,
			Element: elementID("c-", r.Call), In: f.cards, Gone: true}
		if !r.Complete {
			c.State = "running"
			f.lost[c.ID] = c
		}
		before = append(before, c)
	}
	f.outputs = append(before, f.outputs...)
	f.outputs = f.outputs[max(0, len(f.outputs)-maxOutputs):]
}

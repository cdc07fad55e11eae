package page

import (
	"encoding/json"
	"slices"
	"time"

	"webchat/internal/event"
)

// Totals is what a session has come to at the end of its log, for a [Projector] that
// reads only that end.
type Totals struct {
	Title, Backend, Model string
	Cwd                   string // the folder of the session, absolute
	Shown, Sent           int64  // tokens: of what was displayed, of what the model read instead
	Estimated             bool   // Shown was sampled
	Usage                 event.Usage
	Outputs               *int // how many were shown; nil: that is not known
	Readable              []Readable
	Effort                string // how hard the model thinks
	Todos                 []event.Todo
	Left                  func(seq int64) bool // which events the agent was made to forget; nil: none
	Begun                 *bool                // whether a turn was; nil: that is not known
	Fill                  event.Fill           // how full the model's context was at FillAt; zero: not known
	FillAt                time.Time
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
	c := event.NewCut(p.cfg.Turns, p.fold.keep)
	c.Weigh(maxWeight, weightOf)
	return c
}

// LoadEnd is Load of the end of a log, from where [Projector.Cut] lies, for a new
// Projector. After it the projector is as if it had been fed all of the log, but for
// turns that would make a page slow to open.
func (p *Projector) LoadEnd(whole Totals, entries ...event.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.fold
	f.Backend, f.cards.Cwd, f.left = whole.Backend, whole.Cwd, whole.Left
	p.apply(entries)
	f.trimToWeight()
	f.addEarlierOutputs(whole.Readable)
	f.title, f.Backend, f.Model, f.effort, f.todos = whole.Title, whole.Backend, whole.Model, whole.Effort, whole.Todos
	l := &f.ledger
	l.shown, l.sent, l.estimated, l.usage = whole.Shown, whole.Sent, whole.Estimated, whole.Usage
	l.fill, l.fillAt, l.reported = whole.Fill, whole.FillAt, false
	f.cards.Window = l.window()
	if whole.Begun != nil || !*l.begun { // else the end of the log shows it
		l.begun = whole.Begun
	}
	if whole.Outputs != nil {
		l.count, l.counted = *whole.Outputs, true
	}
	f.batch = batch{}
}

// addEarlierOutputs puts outputs into the rail whose calls were not among what was loaded.
func (f *State) addEarlierOutputs(all []Readable) {
	var before []*Call
	for _, r := range all {
		known := slices.ContainsFunc(f.outputs, func(c *Call) bool { return c.ID == r.Call && c.Output == r.Output })
		if known || f.nodes["c-"+r.Call] != nil || f.lost[r.Call] != nil {
			continue
		}
		args, err := json.Marshal(map[string]string{"path": r.Name})
		if err != nil {
			panic(err) // strings
		}
		c := &Call{ID: r.Call, Kind: r.Type, Args: args, State: "running", Output: r.Output, Element: elementID("c-", r.Call), In: f.cards, Gone: true}
		if r.Complete {
			c.State = "done"
		} else {
			f.lost[c.ID] = c
		}
		before = append(before, c)
	}
	f.outputs = append(before, f.outputs...)
	f.outputs = f.outputs[max(0, len(f.outputs)-maxOutputs):]
}

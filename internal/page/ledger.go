package page

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/tokens"
	"webchat/internal/wording"
)

const maxOutputs = 200 // rows of the shelf

// ledger is what the model holds and what it was spared, in tokens.
type ledger struct {
	*core
	sum      eventlog.Summary // of the session so far
	fill     event.Fill       // of the model's context; zero: unknown
	fillAt   time.Time        // when that was so; zero: it is so now
	reported bool             // fill by the agent, to this process
	quota    string           // what is left of the user's plan; empty: no agent reported it
	growing  map[string]bool  // calls whose output is not complete
}

// shelf is what was shown.
type shelf struct {
	*core
	ledger   *ledger
	outputs  []*Call          // in the order shown; the last ones only
	lost     map[string]*Call // those that run, and whose turn is not kept
	former   map[string]*Call // by outputs in whose place another one stands
	showings showings
}

// count folds what a list would show of the session.
func (f *ledger) count(e event.Entry) {
	l := f
	tokens, usage, begun := l.sum.Tokens, l.sum.Usage, l.sum.Open.Begun
	if l.sum = eventlog.Summarize(l.sum, e); tokens != l.sum.Tokens || usage != l.sum.Usage ||
		begun != l.sum.Open.Begun {
		f.ledgerChanged()
	}
}

// fillChanged folds what says how full the model's context is.
func (f *ledger) fillChanged(data event.Data) {
	set := func(fill event.Fill, at time.Time, reported bool) {
		l := f
		l.fill, l.fillAt, l.reported = fill, at, reported
		f.cards.Window = l.window()
		f.ledgerChanged()
	}
	if event.VoidsFill(data) {
		set(event.Fill{}, time.Time{}, false)
	}
	switch d := data.(type) {
	case event.SessionUsageInfo:
		set(event.Fill{TokenLimit: d.TokenLimit, CurrentTokens: d.CurrentTokens}, time.Time{}, true)
	case event.TurnEnd:
		if d.Fill != nil && !f.reported {
			set(*d.Fill, f.now, false)
		}
	}
}

// window is how much the model holds at most, as far as that is known.
func (l *ledger) window() int64 {
	if l.fill.TokenLimit > 0 {
		return l.fill.TokenLimit
	}
	return tokens.UsualWindow
}

func (f *core) ledgerChanged() { f.changed("ledger", "outs", "meter") }

// meter is the line below the composer: what is unknown is empty.
type meter struct {
	Modelless bool // nothing is sent to any model
	Known     bool // the size of the model's context is
	Filled    bool // it is known what the model holds
	Begun     bool // a turn was

	Most, Left int64  // tokens that the model can hold, 0: unknown; and the room left
	In, Out    string // widths of the meter's bars: what it holds; what only the user saw

	Held, Limit, Given, Seen, Calls string
	Since                           string // when the model held that, unless it does now
}

// Meter is how full the model's context is, and what only the user saw.
func (f *ledger) Meter() meter {
	l, u := f, &f.sum.Usage
	seen := max(0, l.sum.Tokens.Shown-l.sum.Tokens.Sent)
	m := meter{
		Modelless: f.pages.noModel(f.Backend),
		Known:     l.fill.TokenLimit > 0,
		Filled:    l.fill != event.Fill{},
		Begun:     l.sum.Open.Begun,
		Most:      l.fill.TokenLimit,
		Left:      max(0, l.window()-l.fill.CurrentTokens),
		Held:      wording.Short(l.fill.CurrentTokens),
		Limit:     wording.Short(l.fill.TokenLimit),
		Calls:     callsOf(*u),
	}
	if u.InputTokens > 0 {
		m.Given = wording.Short(u.InputTokens)
	}
	m.In, m.Out = l.width(l.fill.CurrentTokens), l.width(min(seen, m.Left))
	switch { // no model could have read more than it has room for
	case seen > m.Left:
		m.Seen = wording.Short(m.Left) + " or more"
	case seen > 0:
		m.Seen = wording.Short(seen)
	}
	at, now := l.fillAt.In(f.pages.Location), f.pages.Now().In(f.pages.Location)
	switch {
	case l.fillAt.IsZero():
	case at.YearDay() == now.YearDay() && at.Year() == now.Year():
		m.Since = at.Format("at 15:04")
	default:
		m.Since = at.Format("on 2 January")
	}
	return m
}

// width is a number of tokens as a width of the meter.
func (l *ledger) width(n int64) string {
	if l.fill.TokenLimit <= 0 {
		return "0.0%"
	}
	part := min(100, 100*float64(n)/float64(l.fill.TokenLimit))
	return strconv.FormatFloat(part, 'f', 1, 64) + "%"
}

// Shown is how many outputs were shown.
func (f *ledger) Shown() string {
	return wording.Count(f.sum.Open.Outputs + len(f.growing))
}

// Outputs are the rows of what was shown: of turns that are not kept only what can be
// read.
func (f *shelf) Outputs() []outputRow {
	rows := make([]outputRow, 0, len(f.outputs))
	for _, c := range f.outputs {
		if !f.expired(c) {
			rows = append(rows, c.shelf())
		}
	}
	return rows
}

// expired reports whether an output has ended, on its card and at its address.
func (f *shelf) expired(c *Call) bool {
	if !c.Gone {
		return false
	}
	_, readable := f.pages.Outputs.Output(c.Output)
	return !readable
}

// put puts a call's output among those.
func (f *shelf) put(c *Call) {
	f.outputs = append(slices.DeleteFunc(f.outputs, f.expired), c)
	if over := len(f.outputs) - maxOutputs; over > 0 {
		f.outputs = append(f.outputs[:0:0], f.outputs[over:]...)
	}
	f.ledgerChanged()
}

// shownAs finds a call by its target; nil if there is none.
func (f *shelf) shownAs(target string) *Call {
	if c := f.former[target]; c != nil {
		return c
	}
	for _, c := range slices.Backward(f.outputs) {
		if c.Output == target {
			return c
		}
	}
	for _, n := range f.nodes {
		if n.Call != nil && n.Call.Kind != "" && n.Call.Target() == target {
			return n.Call
		}
	}
	return nil
}

// quotaChanged shows the quota of the user's plan of which the smallest part is left, of
// [event.AssistantUsage].QuotaSnapshots as the Copilot CLI reports them.
func (f *ledger) quotaChanged(snapshots json.RawMessage) {
	var all map[string]struct {
		IsUnlimitedEntitlement bool
		EntitlementRequests    int64
		UsedRequests           int64
		RemainingPercentage    float64
	}
	if json.Unmarshal(snapshots, &all) != nil {
		return // none, or no quotas of this shape
	}
	least, left := 101.0, ""
	for _, q := range all {
		text := strconv.FormatFloat(q.RemainingPercentage, 'f', -1, 64) + "%"
		if q.EntitlementRequests > 0 {
			text = wording.Count(max(0, q.EntitlementRequests-q.UsedRequests)) + " of " +
				wording.Count(q.EntitlementRequests)
		}
		better := q.RemainingPercentage < least || q.RemainingPercentage == least && text < left
		if !q.IsUnlimitedEntitlement && better {
			least, left = q.RemainingPercentage, text
		}
	}
	if left != f.quota {
		f.quota = left
		f.ledgerChanged()
	}
}

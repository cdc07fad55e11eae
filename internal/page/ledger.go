package page

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"webchat/internal/event"
	"webchat/internal/wording"
)

const (
	window     = 128_000 // tokens that a model is assumed to hold where that is unknown
	maxOutputs = 200     // rows of the shelf
)

// ledger is what the model holds and what it was spared, in tokens.
type ledger struct {
	shown, sent int64
	estimated   bool
	begun       *bool           // whether a turn was; nil: unknown
	fill        event.Fill      // of the model's context; zero: unknown
	fillAt      time.Time       // when that was so; zero: it is so now
	reported    bool            // fill by the agent, to this process
	usage       event.Usage     // of all model calls
	count       int             // outputs that were shown
	counted     bool            // else only those are known that are kept
	quota       string          // what is left of the user's plan; empty: no agent reported it
	growing     map[string]bool // calls whose output is not complete
}

// fillChanged folds what says how full the model's context is, or that a turn was begun.
func (f *State) fillChanged(data event.Data) {
	l := &f.ledger
	begin := func(yes bool) {
		if l.begun == nil || *l.begun != yes {
			l.begun = &yes
			f.ledgerChanged()
		}
	}
	set := func(fill event.Fill, at time.Time, reported bool) {
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
	case event.TurnStart:
		begin(true)
	case event.TurnEnd:
		if d.Fill != nil && !l.reported {
			set(*d.Fill, f.now, false)
		}
	case event.SessionBranched:
		begin(false) // what was copied was sent by another
	}
}

// show counts an output that is complete. One without a price costs nothing, as in the
// totals of a session.
func (l *ledger) show(t Telemetry) {
	if l.count++; t.TokensShown <= 0 {
		return
	}
	l.shown += t.TokensShown
	l.sent += max(0, t.TokensSent)
	l.estimated = l.estimated || t.TokensEstimated
}

// window is how much the model holds at most, as far as that is known.
func (l *ledger) window() int64 {
	if l.fill.TokenLimit > 0 {
		return l.fill.TokenLimit
	}
	return window
}

func (f *State) ledgerChanged() { f.changed("ledger", "outs", "meter") }

// countUsage adds what models took.
func (f *State) countUsage(u event.Usage) {
	f.ledger.usage = f.ledger.usage.Plus(u)
	f.ledgerChanged()
}

// meter is the ledger as the page shows it: what is unknown is empty.
type meter struct {
	Modelless bool // nothing is sent to any model
	Known     bool // the size of the model's context is
	Filled    bool // it is known what the model holds
	Begun     bool // a turn was; Unsent: none was
	Unsent    bool

	Most, Left int64  // tokens that the model can hold, 0: unknown; and the room left
	In, Out    string // widths of the meter's bars: what it holds; what only the user saw

	Held, Limit, Given, Seen, Calls string // for a small place
	InContext, Shown, Sent, Room    string
	Definitions                     string // what describing the session's tools cost
	Net                             string // kept from the model, less what the tools for it cost
	Owed                            string // in its place, where they have cost more
	Read, Cached, Written           string // in all calls of the model
	Spent, Worth, Prices            string // in dollars, and whose prices these are
	Since                           string // when the model held that, unless it does now
	Quota                           string
}

// Meter is the state of the ledger.
func (f *State) Meter() meter {
	l, u := &f.ledger, &f.ledger.usage
	seen, room := max(0, l.shown-l.sent), max(0, l.fill.TokenLimit-l.fill.CurrentTokens)
	m := meter{
		Modelless: f.pages.noModel(f.Backend), Known: l.fill.TokenLimit > 0, Filled: l.fill != event.Fill{},
		Begun: l.begun != nil && *l.begun, Unsent: l.begun != nil && !*l.begun,
		Most: l.fill.TokenLimit, Left: max(0, l.window()-l.fill.CurrentTokens),
		Held: wording.Short(l.fill.CurrentTokens), Limit: wording.Short(l.fill.TokenLimit),
		Given: wording.Short(u.InputTokens), InContext: wording.Count(l.fill.CurrentTokens),
		Shown: wording.Count(l.shown), Sent: wording.Count(l.sent), Room: wording.Count(room),
		Definitions: known(u.DefinitionTokens), Read: known(u.InputTokens),
		Cached: known(u.CacheReadTokens), Written: known(u.OutputTokens), Quota: l.quota,
	}
	m.In, m.Out = l.width(l.fill.CurrentTokens), l.width(min(seen, m.Left))
	switch { // no model could have read more than it has room for
	case seen > m.Left:
		m.Seen = wording.Short(m.Left) + " or more"
	case seen > 0:
		m.Seen = wording.Short(seen)
	}
	if u.Calls > 0 {
		m.Calls = "in " + wording.Plural(u.Calls, "call")
	}
	switch net := l.shown - l.sent - u.DefinitionTokens; {
	case u.DefinitionTokens == 0:
	case net < 0:
		m.Owed = wording.Count(-net)
	default:
		m.Net = wording.Count(net)
	}
	// What came from a cache costs less, and is counted in full.
	in, out := f.pages.Price(f.Model)
	m.Spent = dollars(float64(u.InputTokens)*in + float64(u.OutputTokens)*out)
	if m.Worth = dollars(float64(seen) * in); m.Spent+m.Worth != "" {
		m.Prices = "at the prices of " + f.Model
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

// known is a number of tokens; empty for none.
func known(n int64) string {
	if n == 0 {
		return ""
	}
	return wording.Count(n)
}

// dollars are tokens at a price for a million; empty for nothing.
func dollars(millionths float64) string {
	if millionths <= 0 {
		return ""
	}
	return "≈ $" + strconv.FormatFloat(millionths/1e6, 'f', 2, 64)
}

// Shown is how many outputs were shown.
func (f *State) Shown() string {
	if !f.ledger.counted {
		return wording.Count(len(f.Outputs()))
	}
	return wording.Count(f.ledger.count + len(f.ledger.growing))
}

// Outputs are the rows of what was shown: of turns that are not kept only what can be
// read.
func (f *State) Outputs() []outputRow {
	rows := make([]outputRow, 0, len(f.outputs))
	for _, c := range f.outputs {
		if !f.expired(c) {
			rows = append(rows, c.shelf())
		}
	}
	return rows
}

// expired reports whether an output has ended, on its card and at its address.
func (f *State) expired(c *Call) bool {
	if !c.Gone {
		return false
	}
	_, readable := f.pages.Outputs.Output(c.Output)
	return !readable
}

// addToShelf puts a call's output among those.
func (f *State) addToShelf(c *Call) {
	f.outputs = append(slices.DeleteFunc(f.outputs, f.expired), c)
	if over := len(f.outputs) - maxOutputs; over > 0 {
		f.outputs = append(f.outputs[:0:0], f.outputs[over:]...)
	}
	f.ledgerChanged()
}

// shownAs finds a call by its target; nil: there is none.
func (f *State) shownAs(target string) *Call {
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
func (f *State) quotaChanged(snapshots json.RawMessage) {
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
			text = wording.Count(max(0, q.EntitlementRequests-q.UsedRequests)) + " of " + wording.Count(q.EntitlementRequests)
		}
		better := q.RemainingPercentage < least || q.RemainingPercentage == least && text < left
		if !q.IsUnlimitedEntitlement && better {
			least, left = q.RemainingPercentage, text
		}
	}
	if left != f.ledger.quota {
		f.ledger.quota = left
		f.ledgerChanged()
	}
}

package page

import (
	"slices"
	"strconv"
	"time"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// ledger is what the model holds and what it was spared, in tokens.
type ledger struct {
	shown, sent int64
	estimated   bool
	begun       *bool           // whether a turn was; nil: that is not known
	fill        event.Fill      // of the model's context; zero: it is not known
	fillAt      time.Time       // when that was so; zero: it is so now
	reported    bool            // fill by the agent, to this process
	usage       event.Usage     // of all model calls
	count       int             // outputs that were shown
	counted     bool            // else only those are known that are kept
	quota       string          // what is left of the user's plan, as the backend reported
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

// seen is what only the user saw.
func (l *ledger) seen() int64 { return max(0, l.shown-l.sent) }

// window is how much the model holds at most, as far as that is known.
func (l *ledger) window() int64 {
	if l.fill.TokenLimit > 0 {
		return l.fill.TokenLimit
	}
	return window
}

func (f *State) ledgerChanged() {
	f.batch.part(nil, "ledger", "ledger", f.Rail())
	f.batch.part(nil, "outs", "outs", f.Rail())
	f.batch.part(nil, "meter", "meter", f.Rail())
}

// Rail is the right column and the bar's gauge, looked up when it is rendered.
func (f *State) Rail() *Rail { return &Rail{f} }

type Rail struct{ f *State }

// Shown is what only the user saw.
func (r *Rail) Shown() string { return wording.Count(r.f.ledger.shown) }

// Sent is what the model read in its place.
func (r *Rail) Sent() string { return wording.Count(r.f.ledger.sent) }

// Definitions is what describing the session's tools cost, in all calls of the
// model; empty when the backend does not count it.
func (r *Rail) Definitions() string {
	return known(r.f.ledger.usage.DefinitionTokens)
}

// Net is what was kept from the model, less what the tools for it cost; empty when that is
// not counted.
func (r *Rail) Net() string {
	if r.f.ledger.usage.DefinitionTokens == 0 {
		return ""
	}
	net := r.f.ledger.shown - r.f.ledger.sent - r.f.ledger.usage.DefinitionTokens
	if net < 0 {
		return "−" + wording.Count(-net)
	}
	return wording.Count(net)
}

// Read is what the model was given in all calls, and Written what it answered.
func (r *Rail) Read() string { return known(r.f.ledger.usage.InputTokens) }

// Cached is how much of that came from the provider's cache.
func (r *Rail) Cached() string { return known(r.f.ledger.usage.CacheReadTokens) }

// Written is what the model answered, in all calls.
func (r *Rail) Written() string { return known(r.f.ledger.usage.OutputTokens) }

// known is a number of tokens; empty for none.
func known(n int64) string {
	if n == 0 {
		return ""
	}
	return wording.Count(n)
}

// Filled reports whether it is known what the model holds, and Known whether the size of
// its context is.
func (r *Rail) Filled() bool { return r.f.ledger.fill != event.Fill{} }

// Since says when the model held that, where it is not what the agent says now: it is the
// last that the log has.
func (r *Rail) Since() string {
	at, now := r.f.ledger.fillAt.In(r.f.cfg.Location), r.f.cfg.Now().In(r.f.cfg.Location)
	switch {
	case r.f.ledger.fillAt.IsZero():
		return ""
	case at.YearDay() == now.YearDay() && at.Year() == now.Year():
		return at.Format("at 15:04")
	}
	return at.Format("on 2 January")
}

// Unsent reports that nothing was sent to a model yet, and Begun that something was.
func (r *Rail) Unsent() bool { return r.f.ledger.begun != nil && !r.Begun() }

// Begun reports whether a turn was begun.
func (r *Rail) Begun() bool { return r.f.ledger.begun != nil && *r.f.ledger.begun }

// Given is what the model was given in all calls, for a small place.
func (r *Rail) Given() string { return wording.Short(r.f.ledger.usage.InputTokens) }

// Calls is in how many calls that was; empty where it was not counted.
func (r *Rail) Calls() string {
	if r.f.ledger.usage.Calls == 0 {
		return ""
	}
	return "in " + wording.Plural(r.f.ledger.usage.Calls, "call")
}

// Known reports whether the size of the model's context is known.
func (r *Rail) Known() bool { return r.f.ledger.fill.TokenLimit > 0 }

// InContext is what the model holds.
func (r *Rail) InContext() string { return wording.Count(r.f.ledger.fill.CurrentTokens) }

// Room is what it still has room for, and Limit what it could hold.
func (r *Rail) Room() string {
	return wording.Count(max(0, r.f.ledger.fill.TokenLimit-r.f.ledger.fill.CurrentTokens))
}

// Limit is the size of the model's context.
func (r *Rail) Limit() string { return wording.Short(r.f.ledger.fill.TokenLimit) }

// part is a number of tokens as a width of the meter, in percent.
func (r *Rail) part(n int64) float64 {
	if r.f.ledger.fill.TokenLimit <= 0 {
		return 0
	}
	return min(100, 100*float64(n)/float64(r.f.ledger.fill.TokenLimit))
}

// Modelless says that nothing is sent to any model.
func (r *Rail) Modelless() bool { return slices.Contains(r.f.cfg.NoModel, r.f.Backend) }

// Left is the room left, in tokens.
func (r *Rail) Left() int64 { return max(0, r.f.ledger.window()-r.f.ledger.fill.CurrentTokens) }

// Most is what the model can hold, in tokens; 0: unknown.
func (r *Rail) Most() int64 { return r.f.ledger.fill.TokenLimit }

// In, Out and OutX are the bars of the meter: widths and a place, in percent.
func (r *Rail) In() string { return pct(r.part(r.f.ledger.fill.CurrentTokens)) }

// Out is the width of what only the user saw, as far as there would be room for it.
func (r *Rail) Out() string { return pct(r.part(min(r.f.ledger.seen(), r.Left()))) }

// OutX is where it begins.
func (r *Rail) OutX() string { return r.In() }

// Held is what the model holds, for a small place.
func (r *Rail) Held() string { return wording.Short(r.f.ledger.fill.CurrentTokens) }

// Seen is what only the user saw: no model could have read more than it has room for.
func (r *Rail) Seen() string {
	switch seen, left := r.f.ledger.seen(), r.Left(); {
	case seen == 0:
		return ""
	case seen > left:
		return wording.Short(left) + " or more"
	default:
		return wording.Short(seen)
	}
}

func pct(p float64) string { return strconv.FormatFloat(p, 'f', 1, 64) + "%" }

// Prices are the model's, if it has any.
func (r *Rail) Prices() string {
	if r.Spent() == "" && r.Worth() == "" {
		return ""
	}
	return "at the prices of " + r.f.Model
}

// Spent is what all calls cost at the model's prices. What came from a cache costs less
// than that, and is counted in full.
func (r *Rail) Spent() string {
	in, out := r.f.cfg.Price(r.f.Model)
	return dollars(float64(r.f.ledger.usage.InputTokens)*in + float64(r.f.ledger.usage.OutputTokens)*out)
}

// Worth is what reading what was kept from the model would have cost once.
func (r *Rail) Worth() string {
	in, _ := r.f.cfg.Price(r.f.Model)
	return dollars(float64(max(0, r.f.ledger.shown-r.f.ledger.sent)) * in)
}

// dollars are tokens at a price for a million; empty for nothing.
func dollars(millionths float64) string {
	if millionths <= 0 {
		return ""
	}
	return "≈ $" + strconv.FormatFloat(millionths/1e6, 'f', 2, 64)
}

// Count is how many outputs were shown.
func (r *Rail) Count() string {
	if !r.f.ledger.counted {
		return wording.Count(len(r.Outputs()))
	}
	return wording.Count(r.f.ledger.count + len(r.f.ledger.growing))
}

// expired reports whether neither a card shows an output any more nor its address does.
func (f *State) expired(c *Call) bool {
	_, readable := f.cfg.Outputs.Output(c.Output)
	return c.Gone && !readable
}

// Outputs are the rows of what was shown: of turns that are not kept only what can be
// read.
func (r *Rail) Outputs() []OutputRow {
	rows := make([]OutputRow, 0, len(r.f.outputs))
	for _, c := range r.f.outputs {
		if r.f.expired(c) {
			continue
		}
		rows = append(rows, c.Shelf())
	}
	return rows
}

package page

import (
	"strconv"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/tokens"
	"webchat/internal/wording"
)

// bill is what a session cost and kept out, as the sheet behind the meter shows it.
type bill struct {
	Begun bool   // a model was sent something
	Calls string // how many; empty: there was none
	Each  string // what a figure of the second column is for
	Rows  []figure
	Cuts  []cutCall
	Most  string // the model's window; empty: unknown, and no call was cut
	Quota string // what is left of the user's plan; empty: unknown
}

// figure is a row of the bill.
type figure struct {
	Name, Words     string
	Tokens, PerCall string
	Class           string // of, kept, net, owed; empty: an ordinary one
}

// cutCall is a call whose usage is estimated.
type cutCall struct {
	Icon, Text, Tokens string
}

// Bill is the state of the ledger.
func (f *ledger) Bill() bill {
	l := f
	b := bill{
		Begun: l.sum.Open.Begun && !f.pages.noModel(f.Backend),
		Calls: callsOf(l.sum.Usage),
		Each:  "per call",
		Rows:  figures(l.sum.Usage, f.pages.Prices(f.Model)),
		Quota: l.quota,
	}
	unit := "Call"
	if l.sum.Usage.Turns > 0 {
		b.Each, unit = "per turn", "Turn"
	}
	for _, c := range l.sum.Open.Cuts {
		row := cutCall{"alert", "was cut off", wording.Count(c.Tokens)}
		if c.Stopped {
			row.Icon, row.Text = "stop", "was stopped"
		}
		at := time.UnixMilli(c.At).In(f.pages.Location).Format("15:04")
		row.Text = unit + " " + wording.Count(c.Number) + " " + row.Text + " at " + at
		b.Cuts, b.Most = append(b.Cuts, row), wording.Short(l.window())
	}
	return b
}

// callsOf counts the calls of models, or the turns where no agent reports calls.
func callsOf(u event.Usage) string {
	var parts []string
	if u.Calls > 0 {
		parts = append(parts, wording.Plural(u.Calls, "model call"))
	}
	if u.Turns > 0 {
		parts = append(parts, wording.Plural(u.Turns, "turn"))
	}
	return strings.Join(parts, " and ")
}

// figures are the rows of what a session's calls took. None: there was no call.
func figures(u event.Usage, price tokens.Prices) (rows []figure) {
	calls := u.Calls + u.Turns
	if calls <= 0 {
		return nil
	}
	add := func(class, name string, n int64, words ...string) {
		rows = append(rows, figure{name, strings.Join(words, ""), wording.Count(n),
			wording.Count(n / calls), class})
	}
	each := "call"
	if u.Turns > 0 {
		each = "turn"
	}
	words := "Input and output as charged"
	switch {
	case u.EstimatedTokens > 0 && u.EstimatedTokens == u.InputTokens:
		words = "Estimated: the agent reported nothing"
	case u.EstimatedTokens > 0:
		words += "; " + wording.Count(u.EstimatedTokens) + " estimated"
	}
	input, spent := price.Of(u.InputTokens, u.CacheReadTokens, u.OutputTokens)
	sofar, _ := costOf(u)
	add("", "Spent", sofar, words, dollars(spent))
	if u.CacheReadTokens > 0 {
		words = "Counted in full"
		if price.Cached > 0 {
			words += ", priced as cached"
		}
		add("of", "of it from the cache", u.CacheReadTokens, words)
	}
	net, known := u.Net()
	// more was counted by versions that did not know what a call was charged
	if known && u.OwnTokens <= sofar {
		add("of", "of it for webchat", u.OwnTokens,
			"Definitions of its tools, the lines, and calls it caused")
	}
	add("kept", "Kept out", u.KeptTokens, "What you saw, in each "+each+" until a compaction")
	switch {
	case !known:
	case net < 0:
		add("owed", "Not yet earned back", -net, "One look at a file of "+wording.Count(-net)+
			" tokens does it")
	default:
		add("net", "Net", net, "Kept out, less what webchat cost", dollars(float64(net)*input))
	}
	return rows
}

// dollars goes on with a sentence by what that was in money; empty for nothing.
func dollars(millionths float64) string {
	if millionths < 5_000 {
		return ""
	}
	return " · ≈ $" + strconv.FormatFloat(millionths/1e6, 'f', 2, 64)
}

// cost is the bill as an export says it, in one line; empty if there was no call.
func cost(x eventlog.Summary) string {
	parts := []string{callsOf(x.Usage)}
	for _, r := range figures(x.Usage, tokens.Prices{}) {
		parts = append(parts, strings.ToLower(r.Name)+" "+r.Tokens)
	}
	return strings.Join(parts, " · ")
}

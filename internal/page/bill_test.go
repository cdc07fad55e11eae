package page_test

import (
	"regexp"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/tokens"
)

// price is what a model of acme costs.
func price(model string) tokens.Prices {
	if model != "acme/large" {
		return tokens.Prices{}
	}
	return tokens.Prices{Input: 3, Output: 15, Cached: 0.3}
}

// The sheet behind the meter says what the calls took, what webchat added to them and what it kept
// out, as the summary of the session has it; in money where the model has prices.
func TestSheetOfCosts(t *testing.T) {
	usage := event.Usage{
		Calls:            10,
		InputTokens:      400_000,
		OutputTokens:     20_000,
		CacheReadTokens:  300_000,
		EstimatedTokens:  39_726,
		DefinitionTokens: 2_400,
		OwnTokens:        4_180,
		KeptTokens:       611_300,
	}
	less := func(change func(*event.Usage)) event.Usage {
		u := usage
		change(&u)
		return u
	}
	for _, c := range []struct {
		name, model string
		usage       event.Usage
		how         event.Outcome
		want        []string
		not         string
	}{
		{"priced", "acme/large", usage, event.Completed, []string{"10 model calls", "tokens per call",
			"Spent Input and output as charged; 39,726 estimated · ≈ $0.69 420,000 42,000",
			"of it from the cache Counted in full, priced as cached 300,000 30,000",
			"of it for webchat Definitions of its tools, the lines, and calls it caused 4,180 418",
			"Kept out What you saw, in each call until a compaction 611,300 61,130",
			"Net Kept out, less what webchat cost · ≈ $0.59 607,120 60,712"}, "was stopped"},
		{"without prices", "acme/free", usage, event.Completed,
			[]string{"Counted in full 300,000 30,000", "less what webchat cost 607,120 60,712"}, "$"},
		{"not earned back", "m", less(func(u *event.Usage) { u.KeptTokens = 180 }), event.Completed,
			[]string{"Not yet earned back One look at a file of 4,000 tokens does it 4,000 400"}, "Net"},
		{"stopped", "m", usage, event.Aborted, []string{"Call 10 was stopped at 14:02 estimated 39,726",
			"No call counts more than the model’s window of 128k."}, "cut off"},
		{"cut off", "m", usage, event.Interrupted,
			[]string{"Call 10 was cut off at 14:02 estimated 39,726"}, "stopped"},
		{"uncounted", "m", less(func(u *event.Usage) {
			u.DefinitionTokens, u.OwnTokens = 0, 0
		}), event.Completed, []string{"Kept out"}, "for webchat"},
		{"more for webchat than was spent, as earlier versions counted", "m", less(func(u *event.Usage) {
			u.OwnTokens = 420_001
		}), event.Completed, []string{"Kept out"}, "for webchat"},
		{"turns", "m", less(func(u *event.Usage) {
			u.Calls, u.Turns = 0, 10
		}), event.Completed, []string{"10 turns", "tokens per turn", "in each turn until"}, "per call"},
		{"unreported", "m", event.Usage{
			Calls:            2,
			InputTokens:      900,
			EstimatedTokens:  900,
			DefinitionTokens: 480,
			OwnTokens:        480,
		}, event.Completed,
			[]string{"Spent Estimated: the agent reported nothing 900 450"}, "charged"},
		{"nothing", "m", event.Usage{}, event.Completed, []string{"kept out Sent, no size reported yet"},
			"tokens"},
	} {
		p := pages(t, 3)
		pr := p.Projector("s1")
		l := newLog().add(event.SessionStart{SessionID: "s1", Model: c.model},
			event.UserMessage{MessageID: "m", Content: "hi"}, event.TurnStart{TurnID: "t", MessageID: "m"},
			event.TurnEnd{TurnID: "t", MessageID: "m", Outcome: c.how, Usage: c.usage})
		for _, e := range l.entries {
			pr.Feed(e)
		}
		sheet := strings.Join(strings.Fields(tag.ReplaceAllString(sheetOf.FindString(wholePage(t, p, pr)),
			" ")), " ")
		for _, words := range c.want {
			if !strings.Contains(sheet, words) {
				t.Errorf("%s: the sheet lacks %q: %s", c.name, words, sheet)
			}
		}
		if strings.Contains(sheet, c.not) {
			t.Errorf("%s: the sheet says %q: %s", c.name, c.not, sheet)
		}
	}
}

var sheetOf = regexp.MustCompile(`(?s)<section id="ledger">.*?</section>`)

// What is left of the user's plan stands in the ledger where the agent reports it:
// of several quotas the one that ends first.
func TestLedgerTellsWhatIsLeftOfThePlan(t *testing.T) {
	for snapshots, want := range map[string]string{
		"": "", `[1]`: "",
		`{"chat":{"isUnlimitedEntitlement":true,"entitlementRequests":-1,"remainingPercentage":100}}`:                                                                        "",
		`{"chat":{"entitlementRequests":9,"usedRequests":1,"remainingPercentage":88.9},"premium":{"entitlementRequests":3000,"usedRequests":1800,"remainingPercentage":40}}`: "1,200 of 3,000",
		`{"credits":{"entitlementRequests":0,"remainingPercentage":2.5}}`:                                                                                                    "2.5%",
	} {
		p := pages(t, 3)
		pr := p.Projector("s1")
		for _, e := range newLog().add(event.SessionStart{SessionID: "s1"},
			event.UserMessage{MessageID: "m", Content: "hi"}, event.TurnStart{TurnID: "t", MessageID: "m"},
			event.AssistantUsage{QuotaSnapshots: raw(snapshots)}).entries {
			pr.Feed(e)
		}
		_, row, shown := strings.Cut(wholePage(t, p, pr), "Left of your plan: ")
		if got, _, _ := strings.Cut(row, "<"); got != want || shown != (want != "") {
			t.Errorf("%s is shown as %q, want %q", snapshots, got, want)
		}
	}
}

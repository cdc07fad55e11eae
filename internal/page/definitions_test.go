package page_test

import (
	"strings"
	"testing"

	"webchat/internal/event"
)

// What describing the tools cost stands in the ledger, summed over turns, and
// only where a backend counts it.
func TestLedgerTellsWhatDefinitionsCost(t *testing.T) {
	for _, cost := range []int64{0, 458} {
		p := pages(t, 3)
		pr := p.Projector("s1")
		l := newLog().add(event.SessionStart{SessionID: "s1"})
		for _, m := range []string{"m1", "m2"} {
			l.add(event.UserMessage{MessageID: m, Content: "hi"}, event.TurnStart{TurnID: "t" + m, MessageID: m},
				event.TurnEnd{TurnID: "t" + m, MessageID: m, Outcome: event.Completed, Usage: event.Usage{Calls: 2, DefinitionTokens: cost}})
		}
		for _, e := range l.entries {
			e.Pos = 0
			pr.Feed(e)
		}
		html := wholePage(t, p, pr)
		if got := strings.Contains(html, "Describing the tools</dt><dd>916</dd>"); got != (cost > 0) {
			t.Errorf("at %d tokens a turn the ledger's row is there: %v", cost, got)
		}
	}
}

// What is left of the user's plan stands in the ledger where the agent reports it:
// of several quotas the one that ends first.
func TestLedgerTellsWhatIsLeftOfThePlan(t *testing.T) {
	for snapshots, want := range map[string]string{
		"": "", `[1]`: "", `{"chat":{"isUnlimitedEntitlement":true,"entitlementRequests":-1,"remainingPercentage":100}}`: "",
		`{"chat":{"entitlementRequests":9,"usedRequests":1,"remainingPercentage":88.9},"premium":{"entitlementRequests":3000,"usedRequests":1800,"remainingPercentage":40}}`: "1,200 of 3,000",
		`{"credits":{"entitlementRequests":0,"remainingPercentage":2.5}}`: "2.5%",
	} {
		p := pages(t, 3)
		pr := p.Projector("s1")
		for _, e := range newLog().add(event.SessionStart{SessionID: "s1"}, event.UserMessage{MessageID: "m", Content: "hi"}, event.TurnStart{TurnID: "t", MessageID: "m"},
			event.AssistantUsage{QuotaSnapshots: raw(snapshots)}).entries {
			pr.Feed(e)
		}
		_, row, shown := strings.Cut(wholePage(t, p, pr), "Left of your plan</dt><dd>")
		if got, _, _ := strings.Cut(row, "<"); got != want || shown != (want != "") {
			t.Errorf("%s is shown as %q, want %q", snapshots, got, want)
		}
	}
}

package page_test

import (
	"strings"
	"testing"

	"webchat/internal/event"
)

// price is what a model of acme costs.
func price(model string) (in, out float64) {
	if model != "acme/large" {
		return 0, 0
	}
	return 3, 15
}

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
		if owed := strings.Contains(html, "Not yet earned back</dt><dd>916</dd>"); owed != (cost > 0) || strings.Contains(html, "Kept out in all") {
			t.Errorf("at %d tokens a turn the ledger says that they are not earned back: %v", cost, owed)
		}
	}
}

// The ledger tells what all calls took and what was kept from the model, in tokens and,
// where the model has prices, in money.
func TestLedgerTellsWhatWasSpent(t *testing.T) {
	for model, want := range map[string][]string{
		"acme/large": {"at the prices of acme/large", "Kept out in all</dt><dd>99,000</dd>", "Read by the model</dt><dd>400,000</dd>", "of that from its cache</dt><dd>300,000</dd>",
			"Written by it</dt><dd>20,000</dd>", "Spent</dt><dd>≈ $1.50</dd>", "Kept out is worth</dt><dd>≈ $0.30</dd>"},
		"acme/free": {"Kept out in all</dt><dd>99,000</dd>", "Read by the model</dt><dd>400,000</dd>"},
	} {
		p := pages(t, 3)
		pr := p.Projector("s1")
		l := newLog().add(event.SessionStart{SessionID: "s1", Model: model}, event.UserMessage{MessageID: "m", Content: "hi"}, event.TurnStart{TurnID: "t", MessageID: "m"},
			event.ToolExecutionStart{ToolCallID: "c", ToolName: "render_file_contents", Arguments: raw(`{"path":"a.txt"}`), By: event.ByAgent},
			event.ToolExecutionComplete{ToolCallID: "c", Success: true, OutputID: "o", ToolTelemetry: raw(`{"outputId":"o","outputType":"file","path":"a.txt","tokensShown":100010,"tokensSent":10}`)},
			event.TurnEnd{TurnID: "t", MessageID: "m", Outcome: event.Completed, Usage: event.Usage{Calls: 2, InputTokens: 300_000, OutputTokens: 15_000, CacheReadTokens: 300_000, DefinitionTokens: 1000}},
			event.SessionShutdown{Usage: event.Usage{Calls: 1, InputTokens: 100_000, OutputTokens: 5_000}})
		for _, e := range l.entries {
			pr.Feed(e)
		}
		html := wholePage(t, p, pr)
		for _, row := range want {
			if !strings.Contains(html, row) {
				t.Errorf("%s: the ledger lacks %q", model, row)
			}
		}
		if got := strings.Contains(html, "≈ $"); got != (model == "acme/large") {
			t.Errorf("%s: money is told: %v", model, got)
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

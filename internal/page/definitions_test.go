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

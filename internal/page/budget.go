package page

import (
	"strconv"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// Budget reports a question about a session that is past its budget.
func (a *Ask) Budget() bool { return a.Kind == event.KindBudget }

// raised is another budget, as the API takes it, and in words.
type raised struct {
	event.Budget
	Words string
}

// Raised is the next budget that is enough: twice as much, or as much more.
func (a *Ask) Raised() raised {
	b := a.Reached.Limit
	if b == (event.Budget{}) || a.Reached.Of != "" || !b.Passed(a.Reached.Used) {
		return raised{}
	}
	for b.Passed(a.Reached.Used) {
		b.Tokens, b.Money = b.Tokens*2, b.Money*2
	}
	return raised{b, budgetWords(b)}
}

// budgetWords is a budget in words; empty if there is none.
func budgetWords(b event.Budget) string {
	switch {
	case b.Money > 0:
		return "$" + strconv.FormatFloat(b.Money, 'f', 2, 64)
	case b.Tokens > 0:
		return wording.Count(b.Tokens) + " tokens"
	}
	return ""
}

// Limit is the session's budget in words.
func (f *ledger) Limit() string {
	if own := f.sum.Open.Budget; own != nil {
		return budgetWords(*own)
	}
	return budgetWords(f.pages.Limit)
}

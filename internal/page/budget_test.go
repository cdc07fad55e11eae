package page_test

import (
	"testing"

	"webchat/internal/event"
)

// budgetStory has turns that wait past the budget of their session.
func budgetStory() []event.Data {
	asks := func(id string) event.PermissionRequested {
		return event.PermissionRequested{
			RequestID: id,
			ToolName:  "budget",
			Kind:      event.KindBudget,
			Action:    "go on past the budget of this session",
			Resource:  "230 of 100 tokens",
			Grants:    []event.Grant{},
		}
	}
	reached := event.BudgetReached{Limit: event.Budget{Tokens: 100}, Used: event.Budget{Tokens: 230}}
	return join(opening(), event.SessionBudgetChanged{Budget: event.Budget{Tokens: 100}}, reached,
		asks("b1"),
		event.PermissionCompleted{
			RequestID: "b1",
			Decision:  event.Allow,
			Scope:     event.Once,
			By:        event.DecidedByUser,
		},
		reached, asks("b2"),
		event.PermissionCompleted{RequestID: "b2", Decision: event.Deny, By: event.DecidedByUser})
}

// A question about a budget says how much was used, and offers the next budget that is enough.
func TestBudgetIsAsked(t *testing.T) {
	asked := upTo("budget", func(d event.Data) bool {
		_, is := d.(event.PermissionRequested)
		return is
	})
	d := after(t, "budget", asked)
	says(t, d, "asks", "Past the budget of this session", "230 of 100 tokens", "Go on once",
		"Up to 400 tokens", "Stop")
	d = after(t, "budget", len(budgetStory()))
	says(t, d, "p-b1", "Went on past the budget", "230 of 100 tokens")
	says(t, d, "p-b2", "Stopped at the budget")
}

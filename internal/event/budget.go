package event

// KindBudget is the kind of a [PermissionRequested] about a session that is past its budget: to
// allow it means that the turn goes on.
const KindBudget = "budget"

// Budget is what a session may take, in tokens of input and output or in dollars; zero: anything.
type Budget struct {
	Tokens int64   `json:"tokens,omitempty"`
	Money  float64 `json:"money,omitempty"`
}

// Passed reports whether what was used is more than b.
func (b Budget) Passed(used Budget) bool {
	return b.Tokens > 0 && used.Tokens > b.Tokens || b.Money > 0 && used.Money > b.Money
}

// BudgetOf says whose a budget is.
type BudgetOf string

// BudgetOfDay is what all sessions may take on a day; empty: it is the session's.
const BudgetOfDay BudgetOf = "day"

type (
	// SessionBudgetChanged carries the budget of the session from now on.
	SessionBudgetChanged struct {
		Budget Budget `json:"budget"`
		Extra  `json:"-"`
	}

	// BudgetReached says that more than a budget was used, so that the turn waits for the user, or was
	// stopped.
	BudgetReached struct {
		Of    BudgetOf `json:"of,omitempty"`
		Limit Budget   `json:"limit"`
		Used  Budget   `json:"used"` // in what the limit is in
		Extra `json:"-"`
	}
)

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

type (
	// SessionBudgetChanged carries the budget of the session from now on.
	SessionBudgetChanged struct {
		Budget Budget `json:"budget"`
		Extra  `json:"-"`
	}

	// BudgetReached says that the session had used more than its budget, so that its turn waits for
	// the user, or was stopped.
	BudgetReached struct {
		Limit Budget `json:"limit"`
		Used  Budget `json:"used"` // in what the limit is in
		Extra `json:"-"`
	}
)

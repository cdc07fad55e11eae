package event

type (
	// SessionTodosChanged carries the agent's whole plan: what it did, does and will do.
	SessionTodosChanged struct {
		Todos []Todo `json:"todos"`
		Extra `json:"-"`
	}

	// Todo is one entry of a plan.
	Todo struct {
		Text   string     `json:"text"`
		Status TodoStatus `json:"status"`
	}

	// SessionModeChanged carries the way the agent works from now on.
	SessionModeChanged struct {
		Mode string `json:"mode"`
		Name string `json:"name,omitempty"` // as people read it; empty: Mode
		// Unasked says that the agent acts in this mode without asking the user.
		Unasked bool `json:"unasked,omitempty"`
		Extra   `json:"-"`
	}
)

// TodoStatus is how far a [Todo] is.
type TodoStatus string

// The states of a todo.
const (
	TodoPending TodoStatus = "pending"
	TodoDoing   TodoStatus = "in_progress"
	TodoDone    TodoStatus = "completed"
)

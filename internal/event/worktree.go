package event

type (
	// SessionWorktree says that the session works in a git worktree of its own, and what its branch is
	// called, now that it has a prompt.
	SessionWorktree struct {
		Branch   string `json:"branch"`
		Checkout string `json:"checkout"`       // what it is a worktree of: an absolute path
		From     string `json:"from,omitempty"` // the branch that had
		Extra    `json:"-"`
	}

	// WorktreeBroughtBack says that what the session did in its worktree was brought back to the
	// checkout, or that the last time was taken back.
	WorktreeBroughtBack struct {
		Files    []string `json:"files"`              // of the repository
		Unfitted []string `json:"unfitted,omitempty"` // left out: the checkout has other changes there
		Commit   string   `json:"commit,omitempty"`   // that has them; none: they are not committed
		Undone   bool     `json:"undone,omitempty"`
		Extra    `json:"-"`
	}

	// WorktreeThrown says that the session's worktree was thrown away, or restored.
	WorktreeThrown struct {
		Restored bool `json:"restored,omitempty"`
		Extra    `json:"-"`
	}
)

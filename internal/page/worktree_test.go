package page_test

import (
	"testing"

	"webchat/internal/event"
)

// treeStory is a session in a worktree: what it did is brought back, taken back, and thrown away.
func treeStory() []event.Data {
	tree := event.SessionWorktree{
		Branch:   "webchat/session",
		Checkout: "/home/me/code/relay",
		From:     "main",
	}
	named := tree
	named.Branch = "webchat/pump-limit"
	return join(opening()[:1], tree, named, opening()[1:], closing(event.Completed),
		event.WorktreeBroughtBack{Files: []string{"a", "b"}, Unfitted: []string{"docs/<pump>.md"}},
		event.WorktreeBroughtBack{Files: []string{}, Undone: true},
		event.WorktreeBroughtBack{Files: []string{"a"}, Commit: "c0ffee"}, event.WorktreeThrown{},
		event.WorktreeThrown{Restored: true})
}

// The bar names the worktree, and rows say what was done with it; the last one can be undone.
func TestWorktree(t *testing.T) {
	d := after(t, "worktree", 9)
	says(t, d, "copy", "relay/pump-limit")
	says(t, d, "n-8", "Brought back 2 files to relay. docs/<pump>.md does not fit", "Undo")
	d = after(t, "worktree", len(treeStory()))
	says(t, d, "n-9", "Took back what was brought to relay")
	says(t, d, "n-10", "Brought back 1 file to relay as one commit on main")
	says(t, d, "n-11", "Thrown away")
	says(t, d, "n-12", "The worktree is back")
}

package page_test

import (
	"testing"

	"webchat/internal/event"
)

// madeLater is the question about something that was made.
func madeLater(request, call, path string) event.PermissionRequested {
	return event.PermissionRequested{
		RequestID:  request,
		ToolCallID: call,
		Kind:       event.KindLater,
		Action:     "keep what it made",
		Resource:   path,
		Digest:     "9f86",
		Grants:     []event.Grant{},
		Held:       []event.Held{{ID: "H" + request, Files: 1, StoodMs: 400}},
	}
}

// heldStory has questions that outlive their turn.
func heldStory() []event.Data {
	return join(opening(), starts("c1", "bash", `{"command":"make"}`), madeLater("h1", "c1", ".envrc"),
		madeLater("h2", "", "sub/\u202e.vscode"), closing(event.Completed),
		[]event.Data{event.PermissionCompleted{
			RequestID: "h1",
			Decision:  event.Allow,
			Scope:     event.Once,
			By:        event.DecidedByUser,
			Kept:      []string{".envrc.new"},
		},
			event.PermissionCompleted{RequestID: "h2", Decision: event.Deny, By: event.DecidedByUser},
			madeLater("h3", "", "<b>/.git/hooks"), madeLater("h4", "", ".zshrc")})
}

// The card of what is held has no clock; several are one list. Its row says what came of it, and
// undoes what the user decided.
func TestHeldRows(t *testing.T) {
	asked := func(id string) int {
		return upTo("held", func(d event.Data) bool {
			p, is := d.(event.PermissionRequested)
			return is && p.RequestID == id
		})
	}
	says(t, after(t, "held", asked("h1")), "q-h1", "The agent made .envrc", "held, not in the folder",
		"by direnv, not confined", ".envrc was in the folder for 0.4 s before it was held", "Look at it",
		"Keep it", "Delete it")
	d := after(t, "held", asked("h4"))
	says(t, d, "p-h1", "Kept as .envrc.new by you", "Undo")
	says(t, d, "p-h2", "Deleted by you", "Undo")
	says(t, d, "asks-groups", "The agent made 2 files that run later by themselves", "<b>/.git/hooks",
		"Look at them", "Keep 2", "Delete all")
}

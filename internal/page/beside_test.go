package page_test

import (
	"testing"

	"webchat/internal/event"
)

// besideStory has a question about a file that another session changes, and how it ends.
func besideStory() []event.Data {
	const file = workspace + "/pump.go"
	also := event.FileAlsoChanged{
		ToolCallID: "e1",
		File:       file,
		SessionID:  "s2",
		Title:      "Port the <loader>",
		TurnID:     "t2",
	}
	return join(opening(), starts("e1", "edit", `{"path":"pump.go"}`), also,
		event.PermissionRequested{
			RequestID:  "w1",
			ToolCallID: "e1",
			ToolName:   "edit",
			Kind:       "write",
			Action:     "edit a file",
			Resource:   "pump.go",
			Target:     file,
			Grants:     []event.Grant{},
		},
		event.PermissionCompleted{
			RequestID: "w1",
			Decision:  event.Allow,
			Scope:     event.Once,
			By:        event.DecidedByUser,
		}, closing(event.Completed))
}

// The row and the question about the write name both sessions.
func TestFileChangedAtOnce(t *testing.T) {
	const both = "“Flaky pump test” and “Port the <loader>” change pump.go at once"
	asked := upTo("beside", func(d event.Data) bool {
		_, is := d.(event.PermissionRequested)
		return is
	})
	says(t, after(t, "beside", asked), "asks", "edit a file", both)
	says(t, after(t, "beside", len(besideStory())), "n-6", both)
}

package session_test

import (
	"slices"
	"testing"

	"webchat/internal/event"
	"webchat/internal/session"
)

// uploaded has two uploads.
type uploaded struct{ session.Uploads }

func (uploaded) Get(_, id string) (string, []byte, error) {
	if id == "dot" {
		return "image/png", []byte("\x89PNG"), nil
	}
	return "text/plain", []byte("notes"), nil
}

// What was uploaded without a name has one for the agent, and keeps its own if it has one.
func TestUploadsHaveNames(t *testing.T) {
	r := session.Config{Workspace: t.TempDir(), Attachments: uploaded{}}
	got, err := r.Resolve(t.Context(), "s", []event.Attachment{{ID: "text"}, {ID: "dot"},
		{ID: "text", Name: "notes.md"}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range got {
		names = append(names, a.Name)
	}
	if want := []string{"attachment-1.txt", "attachment-2.png", "notes.md"}; !slices.Equal(names,
		want) {
		t.Errorf("they are called %q, want %q", names, want)
	}
}

package server

import (
	"encoding/json"
	"net/http"

	"github.com/go-chi/chi/v5"

	"webchat/internal/files"
	"webchat/internal/session"
)

// rewindRequest says before which prompt a session goes on, and with what.
type rewindRequest struct {
	MessageID string `json:"messageId"`
	// Files is true, false, or "only".
	Files json.RawMessage `json:"files,omitempty"`
	// Also are files, by their paths in the folder, that are brought back though somebody else changed
	// them, too.
	Also []string `json:"also,omitempty"`
}

// rewind has a session go on from before a prompt: its agent, its files, or both.
func rewind(r *http.Request, sess *session.Session, in rewindRequest) (files.Restored, error) {
	dry, err := dryOf(r)
	if err != nil {
		return files.Restored{}, err
	}
	with := string(in.Files)
	switch with {
	case "", "true", "false", `"only"`:
	default:
		return files.Restored{}, invalid("wrong_type", `The field "files" is true, false or "only".`)
	}
	return sess.Rewind(r.Context(), session.RewindOf{
		MessageID: in.MessageID,
		Files:     with == "true",
		FilesOnly: with == `"only"`,
		Also:      in.Also,
		Dry:       dry,
	})
}

// bringBack takes the last going back back.
func bringBack(r *http.Request, sess *session.Session, _ empty) (files.Restored, error) {
	dry, err := dryOf(r)
	if err != nil {
		return files.Restored{}, err
	}
	if dry {
		return sess.TryBringBack(r.Context())
	}
	return sess.BringBack(r.Context())
}

// undoTurn brings back what a turn changed, or what undoing it took away.
func undoTurn(again bool) func(*http.Request, *session.Session, empty) (files.Restored, error) {
	return func(r *http.Request, sess *session.Session, _ empty) (files.Restored, error) {
		dry, err := dryOf(r)
		if err != nil {
			return files.Restored{}, err
		}
		return sess.Rewind(r.Context(), session.RewindOf{
			TurnID: chi.URLParam(r, "turnId"),
			Again:  again,
			Dry:    dry,
		})
	}
}

func dryOf(r *http.Request) (bool, error) {
	switch r.URL.Query().Get("dry") {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	}
	return false, invalid("bad_query", "dry is true or false.")
}

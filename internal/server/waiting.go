package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

// waitingPatch is what changes of a prompt that waits: one of its fields is set.
type waitingPatch struct {
	Content *string `json:"content,omitempty"`
	Earlier bool    `json:"earlier,omitempty"` // it changes places with the one before it
}

// changeWaiting edits a prompt that waits, or has it sent earlier.
func (s *Server) changeWaiting(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	in, err := decode[waitingPatch](r)
	if err != nil {
		return err
	}
	id := chi.URLParam(r, "messageId")
	switch {
	case in.Earlier == (in.Content != nil):
		return invalid("invalid", "Give either the new content or earlier.")
	case in.Earlier:
		id, err = one.SendEarlier(r.Context(), id)
	default:
		id, err = one.EditWaiting(r.Context(), id, *in.Content)
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, messageReply{id})
}

// withdraw takes back a prompt that waits.
func (s *Server) withdraw(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	if err := one.Withdraw(r.Context(), chi.URLParam(r, "messageId")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

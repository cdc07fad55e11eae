package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"webchat/internal/eventlog"
)

// promptRef names a prompt of the session.
type promptRef struct {
	MessageID string `json:"messageId"`
}

// rewind has the agent forget a prompt and all that came after it.
func (s *Server) rewind(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	in, err := decode[promptRef](r)
	if err != nil {
		return err
	}
	if err := one.Rewind(r.Context(), in.MessageID); err != nil {
		return err
	}
	return reply(w, http.StatusOK, empty{})
}

// branch makes a session that begins with everything before a prompt.
func (s *Server) branch(w http.ResponseWriter, r *http.Request) error {
	in, err := decode[promptRef](r)
	if err != nil {
		return err
	}
	made, err := s.Sessions.Branch(r.Context(), eventlog.ID(chi.URLParam(r, "id")), in.MessageID)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/sessions/"+string(made.ID()))
	return reply(w, http.StatusCreated, shapeOf(made.Summary()))
}

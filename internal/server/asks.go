package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"webchat/internal/consent"
	"webchat/internal/event"
)

type decisionRequest struct {
	Decision event.Decision `json:"decision"`
	Grant    string         `json:"grant,omitempty"`
	Scope    event.Scope    `json:"scope,omitempty"`
	Reason   string         `json:"reason,omitempty"`
}

type answerRequest struct {
	Answer      string `json:"answer"`
	WasFreeform bool   `json:"wasFreeform,omitempty"`
}

func (s *Server) decide(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	in, err := decode[decisionRequest](r)
	switch {
	case err != nil:
		return err
	case in.Decision != event.Allow && in.Decision != event.Deny:
		return invalid("invalid", "The decision must be allow or deny.")
	case in.Scope != "" && in.Scope != event.Once && in.Scope != event.ForSession && in.Scope != event.ForWorkspace:
		return invalid("invalid", "The scope must be once, session or workspace.")
	}
	err = one.Decide(r.Context(), chi.URLParam(r, "requestId"), consent.Decision{Decision: in.Decision, Grant: in.Grant, Scope: in.Scope, Reason: in.Reason})
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, empty{})
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	in, err := decode[answerRequest](r)
	if err != nil {
		return err
	}
	err = one.Answer(r.Context(), chi.URLParam(r, "requestId"), consent.Answer{Text: in.Answer, WasFreeform: in.WasFreeform})
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, empty{})
}

package server

import (
	"bytes"
	"net/http"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/page"
	"webchat/internal/session"
)

// Consent is what the user's configuration says about what agents may do. The
// server only shows it.
type Consent struct {
	Mode    session.Mode
	Timeout time.Duration // how long a question waits
	Rules   []Rule        // in their order
	Hooks   []Hook
}

// Rule is a permission rule as clients see it.
type Rule struct {
	Tool     string         `json:"tool,omitempty"`
	Kind     agent.Kind     `json:"kind,omitempty"`
	Command  string         `json:"command,omitempty"`
	Path     string         `json:"path,omitempty"`
	Decision event.Decision `json:"decision"` // allow, ask or deny
}

// Hook is a hook as clients see it.
type Hook struct {
	Event      string `json:"event"`
	Matcher    string `json:"matcher,omitempty"`
	Command    string `json:"command"`
	Timeout    string `json:"timeout"`
	BestEffort bool   `json:"bestEffort"`
}

// grantShape is an act that was allowed for a session.
type grantShape struct {
	Tool     string     `json:"tool"`
	Kind     agent.Kind `json:"kind"`
	Resource string     `json:"resource"`
	Cwd      string     `json:"cwd,omitempty"`
}

type permissionList struct {
	Mode    session.Mode `json:"mode"`
	Timeout string       `json:"timeout"`
	Rules   []Rule       `json:"rules"`
	Granted []grantShape `json:"granted"` // for the session that was asked about
}

type hookList struct {
	Hooks []Hook `json:"hooks"`
}

func (s *Server) permissions(w http.ResponseWriter, r *http.Request) error {
	granted, err := s.granted(r)
	if err != nil {
		return err
	}
	out := permissionList{Mode: s.Consent.Mode, Timeout: s.Consent.Timeout.String(), Rules: append([]Rule{}, s.Consent.Rules...), Granted: []grantShape{}}
	for _, p := range granted {
		out.Granted = append(out.Granted, grantShape{p.ToolName, p.Kind, p.Resource, p.Cwd})
	}
	return reply(w, http.StatusOK, out)
}

func (s *Server) hooks(w http.ResponseWriter, _ *http.Request) error {
	return reply(w, http.StatusOK, hookList{append([]Hook{}, s.Consent.Hooks...)})
}

// granted is what was allowed for ?session=, if that is given.
func (s *Server) granted(r *http.Request) ([]agent.Permission, error) {
	id := r.URL.Query().Get("session")
	if id == "" {
		return nil, nil
	}
	one, err := s.Sessions.Get(r.Context(), session.ID(id))
	if err != nil {
		return nil, err
	}
	return one.Granted(), nil
}

// consentPage is the same for a person.
func (s *Server) consentPage(w http.ResponseWriter, r *http.Request) error {
	granted, err := s.granted(r)
	if err != nil {
		return err
	}
	v := page.Consent{Mode: string(s.Consent.Mode), Timeout: s.Consent.Timeout}
	for _, rule := range s.Consent.Rules {
		about := rule.Tool
		if about == "" {
			about = string(rule.Kind)
		}
		v.Rules = append(v.Rules, page.Term{Verdict: string(rule.Decision), About: about, Text: rule.Command + rule.Path})
	}
	for _, p := range granted {
		v.Granted = append(v.Granted, page.Term{Verdict: string(event.Allow), About: p.ToolName, Text: p.Resource})
	}
	for _, h := range s.Consent.Hooks {
		about := h.Event
		if h.Matcher != "" {
			about += " of " + h.Matcher
		}
		v.Hooks = append(v.Hooks, page.Term{Verdict: "run", About: about, Text: h.Command})
	}
	return writePage(w, http.StatusOK, func(b *bytes.Buffer) error { return s.Pages.pages.Consent(b, v) })
}

package server

import (
	"bytes"
	"net/http"
	"time"

	"webchat/internal/page"
	"webchat/internal/session"
)

// Sandbox says whether what agents run is confined.
type Sandbox struct {
	Confined bool   `json:"confined"`
	Lacks    string `json:"lacks,omitempty"`   // what is not held all the same
	Why      string `json:"why,omitempty"`     // why it is not
	Remedy   string `json:"remedy,omitempty"`  // what the user can do about that, as sentences
	Command  string `json:"command,omitempty"` // likewise, to be run in a terminal before webchat is started again
}

func (s *Server) sandboxOf(backend, workspace string) Sandbox {
	if s.SandboxOf == nil {
		return s.Sandbox
	}
	return s.SandboxOf(backend, workspace)
}

// stays is what a page says of it; one is nil as long as there is no session.
func (s *Server) stays(one *session.Session, backend, workspace string) *page.Stays {
	box := s.sandboxOf(backend, workspace)
	v := &page.Stays{Confined: box.Confined, Workspace: workspace, Lacks: box.Lacks, Why: box.Why, Remedy: box.Remedy, Command: box.Command}
	if one != nil && v.Confined {
		for _, o := range openedOf(one) {
			v.Opened = append(v.Opened, page.Opened{ID: o.ID, What: o.What, ReadOnly: o.ReadOnly, Scope: o.Scope, By: o.By, At: time.Time(o.Since)})
		}
	}
	return v
}

func (s *Server) sandboxPage(w http.ResponseWriter, r *http.Request) error {
	in, err := s.workspace(r)
	if err != nil {
		return err
	}
	return s.writeStays(w, r, nil, r.URL.Query().Get("backend"), in.Path)
}

func (s *Server) sessionSandbox(w http.ResponseWriter, r *http.Request, one *session.Session) error {
	sum := one.Summary()
	return s.writeStays(w, r, one, sum.Backend, sum.Workspace)
}

func (s *Server) writeStays(w http.ResponseWriter, r *http.Request, one *session.Session, backend, workspace string) error {
	v := s.stays(one, backend, workspace)
	if v.Confined && s.Reach != nil {
		facts, err := s.Reach(r.Context(), backend, workspace)
		if err != nil { // as no command starts then
			v.Why = err.Error()
		} else {
			v.Facts = &facts
		}
		for _, name := range facts.Configured {
			v.Opened = append(v.Opened, page.Opened{What: name})
		}
	}
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error { return s.Pages.pages.Stays(b, *v) })
}

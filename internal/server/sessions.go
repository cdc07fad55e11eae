package server

import (
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/page"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

// sessionShape is a session as the API shows it.
type sessionShape struct {
	ID        eventlog.ID     `json:"id"`
	Workspace string          `json:"workspace"` // absolute path
	Backend   string          `json:"backend"`
	Model     string          `json:"model"`
	Mode      string          `json:"mode,omitempty"`
	Effort    string          `json:"effort,omitempty"`
	Title     string          `json:"title"`
	CreatedAt event.Time      `json:"createdAt"`
	UpdatedAt event.Time      `json:"updatedAt"`
	Pinned    bool            `json:"pinned"`
	Status    event.Status    `json:"status"`
	Usage     event.Usage     `json:"usage"`
	Tokens    eventlog.Tokens `json:"tokens"`
	Damaged   int             `json:"damaged,omitempty"` // events of its log that cannot be read
}

func shapeOf(s eventlog.Summary) sessionShape {
	return sessionShape{s.ID, s.Workspace, s.Backend, s.Model, s.Open.Mode, s.Open.Effort, s.Title, event.Time(s.CreatedAt), event.Time(s.UpdatedAt), s.Pinned, s.Status, s.Usage, s.Tokens, s.Damaged}
}

type createRequest struct {
	Workspace string `json:"workspace,omitempty"` // the absolute path of an open one; empty: the first
	Backend   string `json:"backend,omitempty"`
	Model     string `json:"model,omitempty"`
	Mode      string `json:"mode,omitempty"`
	Title     string `json:"title,omitempty"`
	// Conversation is one of /api/conversations that the session goes on with.
	Conversation string `json:"conversation,omitempty"`
}

type patchRequest struct {
	Title  *string `json:"title,omitempty"`
	Model  *string `json:"model,omitempty"`
	Mode   *string `json:"mode,omitempty"`
	Effort *string `json:"effort,omitempty"`
	Pinned *bool   `json:"pinned,omitempty"`
}

// sessionList is the reply of listSessions.
type sessionList struct {
	Sessions []foundShape `json:"sessions"`
	Cursor   string       `json:"cursor"`
}

type foundShape struct {
	sessionShape
	Snippet string   `json:"snippet,omitempty"`
	Parts   []string `json:"parts,omitempty"` // the snippet: plain, matched, plain …
	Seq     int64    `json:"seq,omitempty"`   // of the event that matched
	URL     string   `json:"url,omitempty"`   // of the page, at that event
}

// session finds the session the path names.
func (s *Server) session(r *http.Request) (*session.Session, error) {
	return s.Sessions.Get(r.Context(), eventlog.ID(chi.URLParam(r, "id")))
}

func (s *Server) listSessions(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := number(q.Get("limit"), "limit", 50, 200)
	if err != nil {
		return err
	}
	filter, err := s.filter(r)
	if err != nil {
		return err
	}
	found, err := s.Sessions.List(r.Context(), sessions.Query{Text: q.Get("q"), Limit: limit, Cursor: q.Get("cursor"), Filter: filter})
	if err != nil {
		return err
	}
	list := sessionList{Sessions: make([]foundShape, 0, len(found.Sessions)), Cursor: found.Cursor}
	for _, f := range found.Sessions {
		list.Sessions = append(list.Sessions, foundOf(f))
	}
	return reply(w, http.StatusOK, list)
}

// foundOf adds where a hit can be seen.
func foundOf(f sessions.Found) foundShape {
	out := foundShape{sessionShape: shapeOf(f.Summary)}
	if h := f.Hit; h != nil {
		out.Snippet, out.Parts, out.Seq, out.URL = h.Snippet(), h.Parts, h.Seq, page.Place(string(f.ID), h.Seq, h.Data)
	}
	return out
}

func (s *Server) createSession(w http.ResponseWriter, r *http.Request) error {
	in, err := decode[createRequest](r)
	if err != nil {
		return err
	}
	one, err := s.Sessions.Create(r.Context(), sessions.Options{Workspace: in.Workspace, Backend: in.Backend, Model: in.Model, Mode: in.Mode, Title: in.Title, Conversation: in.Conversation})
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/sessions/"+string(one.ID()))
	return reply(w, http.StatusCreated, shapeOf(one.Summary()))
}

func (s *Server) showSession(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, shapeOf(one.Summary()))
}

func (s *Server) updateSession(w http.ResponseWriter, r *http.Request) error {
	in, err := decode[patchRequest](r)
	if err != nil {
		return err
	}
	sum, err := s.Sessions.Update(r.Context(), eventlog.ID(chi.URLParam(r, "id")), sessions.Patch{Title: in.Title, Model: in.Model, Mode: in.Mode, Effort: in.Effort, Pinned: in.Pinned})
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, shapeOf(sum))
}

func (s *Server) choices(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	c := one.Choices(r.Context())
	if c.Models == nil {
		c.Models = []agent.Model{}
	}
	if c.Modes == nil {
		c.Modes = []agent.Mode{}
	}
	if c.Efforts == nil {
		c.Efforts = []agent.Effort{}
	}
	if c.Can == nil {
		c.Can = []agent.Ability{}
	}
	if c.Commands == nil {
		c.Commands = []agent.Command{}
	}
	return reply(w, http.StatusOK, c)
}

func (s *Server) deleteSession(w http.ResponseWriter, r *http.Request) error {
	if err := s.Sessions.Delete(r.Context(), eventlog.ID(chi.URLParam(r, "id"))); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) restoreSession(w http.ResponseWriter, r *http.Request) error {
	sum, err := s.Sessions.Restore(r.Context(), eventlog.ID(chi.URLParam(r, "id")))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, shapeOf(sum))
}

// number reads a number of a query from 1 to most; nothing means def.
func number(text, name string, def, most int) (int, error) {
	if text == "" {
		return def, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, invalid("bad_query", "Give %s as a number from 1 to %d.", name, most)
	}
	return n, nil
}

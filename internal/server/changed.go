package server

import (
	"net/http"
	"path/filepath"

	"webchat/internal/event"
	"webchat/internal/files"
	"webchat/internal/session"
)

// ChangesOf is where the changes of a session are found.
func (s *Server) ChangesOf(one *session.Session) (files.ChangeSource, error) {
	workspace := one.Summary().Workspace
	room, err := s.Sessions.Room(workspace)
	source := files.ChangeSource{Log: one, Files: room.Files, Outputs: s.Outputs, Workspace: workspace}
	if room.Policy != nil {
		source.Closed = func(path string) bool { // showing it asks the user, and a diff of all files does not
			r := room.Policy.File(nil, filepath.Join(workspace, filepath.FromSlash(path)))
			return r.Sensitive || r.Decision == event.Deny
		}
	}
	return source, err
}

// sessionChanges says what a session changed: as a list, or as a diff.
func (s *Server) sessionChanges(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	source, err := s.ChangesOf(one)
	if err != nil {
		return err
	}
	format := r.URL.Query().Get("format")
	if format != "" && format != "json" && format != "diff" {
		return invalid("bad_query", "The format is json or diff.")
	}
	list, err := source.List(r.Context())
	if err != nil {
		return err
	}
	if format != "diff" {
		return reply(w, http.StatusOK, list)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err = w.Write(list.Diff())
	return err
}

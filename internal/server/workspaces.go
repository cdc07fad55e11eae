package server

import (
	"context"
	"net/http"
	"path/filepath"

	"github.com/go-chi/chi/v5"

	"webchat/internal/files"
	"webchat/internal/sessions"
	"webchat/internal/wording"
)

// workspaceShape is a workspace as the API shows it.
type workspaceShape struct {
	ID        string `json:"id"`
	Path      string `json:"path"`
	Name      string `json:"name"`
	Available bool   `json:"available"` // the folder is there now
}

func shapeOfWorkspace(w files.Workspace) workspaceShape {
	return workspaceShape{w.ID, w.Path, w.Name, w.Available()}
}

type openRequest struct {
	Path string `json:"path"`
}

func (s *Server) listWorkspaces(w http.ResponseWriter, _ *http.Request) error {
	list := []workspaceShape{}
	for _, one := range s.Sessions.Workspaces().All() {
		list = append(list, shapeOfWorkspace(one))
	}
	return reply(w, http.StatusOK, list)
}

// openWorkspace answers 200 for one that is open already.
func (s *Server) openWorkspace(w http.ResponseWriter, r *http.Request) error {
	in, err := decode[openRequest](r)
	if err != nil {
		return err
	}
	one, added, err := s.Sessions.Workspaces().Open(in.Path)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if added {
		status = http.StatusCreated
	}
	return reply(w, status, shapeOfWorkspace(one))
}

func (s *Server) closeWorkspace(w http.ResponseWriter, r *http.Request) error {
	if err := s.Sessions.CloseWorkspace(r.Context(), chi.URLParam(r, "id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// folderShape is a folder that could be opened.
type folderShape struct {
	Path    string        `json:"path"`
	Shown   string        `json:"shown"` // as people write it
	Open    bool          `json:"open"`
	Warning files.Warning `json:"warning,omitempty"` // root, home, inside or repository: why to think about it
	Text    string        `json:"text,omitempty"`    // the warning in words
	Known   bool          `json:"known"`             // it was open before
}

type folderList struct {
	Folders []folderShape `json:"folders"`
}

// completeFolders names folders that could be opened.
func (s *Server) completeFolders(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := number(q.Get("limit"), "limit", 20, 200)
	if err != nil {
		return err
	}
	list := folderList{Folders: []folderShape{}}
	for _, f := range s.Sessions.Workspaces().Complete(s.Home, q.Get("q"), limit) {
		list.Folders = append(list.Folders, folderShape{f.Path, wording.Tilde(f.Path, s.Home), f.Open, f.Warning, f.Warning.Text(), f.Known})
	}
	return reply(w, http.StatusOK, list)
}

// workspace finds the workspace that ?workspace= names, or the first.
func (s *Server) workspace(r *http.Request) (files.Workspace, error) {
	path := r.URL.Query().Get("workspace")
	if path != "" && !filepath.IsAbs(path) {
		return files.Workspace{}, invalid("bad_query", "Give workspace as an absolute path.")
	}
	return s.Sessions.Workspaces().Find(path)
}

// filter reads which sessions a list is about.
func (s *Server) filter(r *http.Request) (f sessions.Filter, err error) {
	q := r.URL.Query()
	if q.Get("workspace") != "" {
		w, err := s.workspace(r)
		if err != nil {
			return f, err
		}
		f.Workspaces = []string{w.Path}
	}
	if f.State = sessions.State(q.Get("state")); !knownState(f.State) {
		return f, errState
	}
	return f, nil
}

var errState = invalid("bad_query", "Give state as one of idle, running, waiting, active, resting, failed and pinned.")

// knownState reports whether sessions can be in a state; empty is any.
func knownState(s sessions.State) bool {
	switch s {
	case "", "idle", "running", "waiting", sessions.Active, sessions.Resting, sessions.Failed, sessions.Pinned:
		return true
	}
	return false
}

// completeFiles names the files of a workspace.
func (s *Server) completeFiles(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := number(q.Get("limit"), "limit", 20, 200)
	if err != nil {
		return err
	}
	in, err := s.workspace(r)
	if err != nil {
		return err
	}
	if err := files.CheckWorkspace(in.Path); err != nil {
		return err
	}
	names, err := s.filesOf(r.Context(), in.Path, q.Get("q"), limit)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, fileList{names})
}

type fileList struct {
	Files []string `json:"files"`
}

// filesOf completes a path in a workspace.
func (s *Server) filesOf(ctx context.Context, workspace, q string, limit int) ([]string, error) {
	room, err := s.Sessions.Room(workspace)
	if err != nil || room.Files == nil {
		return []string{}, err
	}
	return room.Files.Complete(ctx, q, limit)
}

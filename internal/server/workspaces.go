package server

import (
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

// workspaces is the folders that are open.
type workspaces struct {
	sessions *sessions.Manager
	home     string // where folders are completed; empty: nowhere
}

func (ws *workspaces) list(*http.Request, empty) ([]workspaceShape, error) {
	list := []workspaceShape{}
	for _, workspace := range ws.sessions.Workspaces().All() {
		list = append(list, shapeOfWorkspace(workspace))
	}
	return list, nil
}

// open answers 200 for one that is open already.
func (ws *workspaces) open(w http.ResponseWriter, r *http.Request) error {
	in, err := decode[openRequest](r)
	if err != nil {
		return err
	}
	workspace, added, err := ws.sessions.Workspaces().Open(in.Path)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if added {
		status = http.StatusCreated
	}
	return reply(w, status, shapeOfWorkspace(workspace))
}

func (ws *workspaces) close(r *http.Request, _ empty) (empty, error) {
	return empty{}, ws.sessions.CloseWorkspace(r.Context(), chi.URLParam(r, "id"))
}

// folderShape is a folder that could be opened.
type folderShape struct {
	Path  string `json:"path"`
	Shown string `json:"shown"` // as people write it
	Open  bool   `json:"open"`
	// root, home, inside or repository: why to think about it
	Warning files.Warning `json:"warning,omitempty"`
	Text    string        `json:"text,omitempty"` // the warning in words
	Known   bool          `json:"known"`          // it was open before
}

type folderList struct {
	Folders []folderShape `json:"folders"`
}

// folders names folders that could be opened.
func (ws *workspaces) folders(r *http.Request, _ empty) (folderList, error) {
	q, list := r.URL.Query(), folderList{Folders: []folderShape{}}
	limit, err := limitOf(q, 20, 200)
	if err != nil {
		return list, err
	}
	for _, f := range ws.sessions.Workspaces().Complete(ws.home, q.Get("q"), limit) {
		list.Folders = append(list.Folders, folderShape{f.Path, wording.Tilde(f.Path, ws.home), f.Open,
			f.Warning, f.Warning.Text(), f.Known})
	}
	return list, nil
}

// workspace finds the workspace that ?workspace= names, or the first.
func (x finder) workspace(r *http.Request) (files.Workspace, error) {
	path := r.URL.Query().Get("workspace")
	if path != "" && !filepath.IsAbs(path) {
		return files.Workspace{}, invalid("bad_query", "Give workspace as an absolute path.")
	}
	return x.sessions.Workspaces().Find(path)
}

// filter reads which sessions a list is about.
func (x finder) filter(r *http.Request) (f sessions.Filter, err error) {
	if r.URL.Query().Get("workspace") != "" {
		w, err := x.workspace(r)
		if err != nil {
			return f, err
		}
		f.Workspaces = []string{w.Path}
	}
	f.State, err = stateOf(r)
	return f, err
}

// stateOf reads in which state sessions are to be; empty is any.
func stateOf(r *http.Request) (sessions.State, error) {
	switch s := sessions.State(r.URL.Query().Get("state")); s {
	case "", "idle", "running", "waiting", sessions.Active, sessions.Resting, sessions.Failed,
		sessions.Pinned:
		return s, nil
	}
	return "", invalid("bad_query",
		"Give state as one of idle, running, waiting, active, resting, failed and pinned.")
}

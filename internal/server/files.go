package server

import (
	"context"
	"net/http"
)

// Files knows the names of the workspace's files.
type Files interface {
	// Complete returns up to limit paths that a person may mean by q, the
	// likeliest first: relative to the workspace, with slashes, never nil.
	Complete(ctx context.Context, q string, limit int) ([]string, error)
}

type fileList struct {
	Files []string `json:"files"`
}

func (s *Server) completeFiles(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := number(q.Get("limit"), "limit", 20, 200)
	if err != nil {
		return err
	}
	list := fileList{Files: []string{}}
	if s.Files != nil {
		if list.Files, err = s.Files.Complete(r.Context(), q.Get("q"), limit); err != nil {
			return err
		}
	}
	return reply(w, http.StatusOK, list)
}

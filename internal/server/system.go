package server

import (
	"io"
	"net/http"

	"webchat/internal/agent"
	"webchat/internal/guard"
)

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n") // a client that has gone needs no answer
	return nil
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.Metrics.ServeHTTP(w, r)
	return nil
}

// mcp answers by a stream more often than not, and has its own bound of requests.
func (s *Server) mcp(w http.ResponseWriter, r *http.Request) error {
	guard.Streaming(r)
	s.MCP.ServeHTTP(w, r)
	return nil
}

// backendShape is a backend as it is listed.
type backendShape struct {
	Name      string          `json:"name"`
	Available bool            `json:"available"`
	Version   string          `json:"version"`
	Reason    string          `json:"reason"`
	Intercept agent.Intercept `json:"intercept"`
}

func (s *Server) backends(w http.ResponseWriter, r *http.Request) error {
	list := []backendShape{}
	for _, b := range s.Sessions.Backends(r.Context()) {
		list = append(list, backendShape{b.Name, b.Available, b.Version, b.Reason, b.Intercept})
	}
	return reply(w, http.StatusOK, list)
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) error {
	list, err := s.Sessions.Models(r.Context(), r.URL.Query().Get("backend"))
	if err != nil {
		return err
	}
	if list == nil {
		list = []agent.Model{}
	}
	return reply(w, http.StatusOK, list)
}

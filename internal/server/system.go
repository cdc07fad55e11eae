package server

import (
	"fmt"
	"io"
	"net/http"

	"github.com/go-chi/chi/v5"

	"webchat/internal/agent"
	"webchat/internal/eventlog"
	"webchat/internal/guard"
	"webchat/internal/wording"
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
	Account   string          `json:"account,omitempty"` // who is signed in, once it was asked
	Lacks     []string        `json:"lacks,omitempty"`   // what a user should know before they choose it
}

func (s *Server) backends(w http.ResponseWriter, r *http.Request) error {
	list := []backendShape{}
	for _, b := range s.Sessions.Backends(r.Context()) {
		list = append(list, backendShape{b.Name, b.Available, b.Version, b.Reason, b.Intercept, b.Account, b.Lacks})
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

type conversationList struct {
	Conversations []agent.Conversation `json:"conversations"`
}

func (s *Server) conversations(w http.ResponseWriter, r *http.Request) error {
	list := conversationList{Conversations: []agent.Conversation{}}
	q := r.URL.Query()
	found, err := s.Sessions.Conversations(r.Context(), q.Get("backend"), q.Get("workspace"))
	if err != nil {
		return err
	}
	list.Conversations = append(list.Conversations, found...)
	return reply(w, http.StatusOK, list)
}

// MCPServer is a server of the Model Context Protocol that the user set up for agents.
type MCPServer struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Where   string   `json:"where"`
	State   string   `json:"state"` // ready, changed, sign-in or failed
	Tools   []string `json:"tools"`
	Failure string   `json:"failure,omitempty"`
}

type mcpServerList struct {
	Servers []MCPServer `json:"servers"`
}

func (s *Server) mcpServers(w http.ResponseWriter, r *http.Request) error {
	list := mcpServerList{Servers: []MCPServer{}}
	if s.MCPServers != nil {
		all, err := s.MCPServers(r.Context())
		if err != nil {
			return err
		}
		for _, one := range all { // its name is the user's, who allows it by that
			one.Where, one.Failure = wording.Shown(one.Where), wording.Shown(one.Failure)
			tools := []string{}
			for _, name := range one.Tools {
				tools = append(tools, wording.Shown(name))
			}
			one.Tools = tools
			list.Servers = append(list.Servers, one)
		}
	}
	return reply(w, http.StatusOK, list)
}

func (s *Server) allowMCP(w http.ResponseWriter, r *http.Request) error {
	name := chi.URLParam(r, "server")
	if s.AllowMCP == nil {
		return fmt.Errorf("%s: no such MCP server: %w", name, eventlog.ErrNotFound)
	}
	if err := s.AllowMCP(r.Context(), name); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

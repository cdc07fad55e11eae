package server

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strconv"

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

// readyz is for what sends requests here: it says whether a prompt would be taken now.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if s.Peers != nil { // whose address is another's finds out by this
		w.Header().Set(ReplicaHeader, strconv.FormatInt(s.Peers.Self().Number, 10))
	}
	why := s.Sessions.Unready()
	select {
	case <-s.Stopping:
		why = "stopping"
	default:
	}
	if why != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = io.WriteString(w, cmp.Or(why, "ready")+"\n") // a client that has gone needs no answer
	return nil
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.Metrics.ServeHTTP(w, r)
	return nil
}

// mcp answers by a stream more often than not.
func (s *Server) mcp(w http.ResponseWriter, r *http.Request) error {
	if err := guard.Streaming(r, 1); err != nil {
		return err
	}
	s.MCP.ServeHTTP(w, r)
	return nil
}

type systemShape struct {
	Version string  `json:"version"`
	Sandbox Sandbox `json:"sandbox"`
}

func (s *Server) system(*http.Request, empty) (systemShape, error) {
	return systemShape{s.Version, s.Sandboxes.Any}, nil
}

// backendShape is a backend as it is listed.
type backendShape struct {
	Name      string          `json:"name"`
	Available bool            `json:"available"`
	Version   string          `json:"version"`
	Reason    string          `json:"reason"`
	Intercept agent.Intercept `json:"intercept"`
	Account   string          `json:"account,omitempty"` // who is signed in, once it was asked
	// what a user should know before they choose it
	Lacks []string `json:"lacks,omitempty"`
}

func (s *Server) backends(r *http.Request, _ empty) ([]backendShape, error) {
	list := []backendShape{}
	for _, b := range s.Sessions.Backends(r.Context()) {
		list = append(list, backendShape{b.Name, b.Available, b.Version, b.Reason, b.Intercept, b.Account,
			b.Lacks})
	}
	return list, nil
}

func (s *Server) models(r *http.Request, _ empty) ([]agent.Model, error) {
	list, err := s.Sessions.Models(r.Context(), r.URL.Query().Get("backend"))
	return listed(list), err
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

func (s *Server) mcpServers(r *http.Request, _ empty) (mcpServerList, error) {
	list := mcpServerList{Servers: []MCPServer{}}
	if s.MCPServers == nil {
		return list, nil
	}
	all, err := s.MCPServers(r.Context())
	for _, one := range all { // its name is the user's, who allows it by that
		one.Where, one.Failure, one.Tools = wording.Shown(one.Where), wording.Shown(one.Failure),
			listed(one.Tools)
		for i, name := range one.Tools {
			one.Tools[i] = wording.Shown(name)
		}
		list.Servers = append(list.Servers, one)
	}
	return list, err
}

func (s *Server) allowMCP(r *http.Request, _ empty) (empty, error) {
	name := chi.URLParam(r, "server")
	if s.AllowMCP == nil {
		return empty{}, fmt.Errorf("%s: no such MCP server: %w", name, eventlog.ErrNotFound)
	}
	return empty{}, s.AllowMCP(r.Context(), name)
}

// signInRequest has the token of a link, with the public key of the browser if it has one; or the
// signature by which it gets another secret from a later process.
type signInRequest struct {
	Token     string `json:"token,omitempty"`
	Key       []byte `json:"key,omitempty"`
	Signature []byte `json:"signature,omitempty"`
}

type challengeReply struct {
	Challenge string `json:"challenge"`
}

type signInReply struct {
	Secret string `json:"secret"`
}

func (s *Server) signIn(w http.ResponseWriter, r *http.Request) error {
	in, err := decode[signInRequest](r)
	if err != nil {
		return err
	}
	var secret string
	if len(in.Signature) > 0 {
		secret, err = s.Guard.Renew(r, in.Signature)
	} else {
		secret, err = s.Guard.SignIn(w, r, in.Token, in.Key)
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, signInReply{secret})
}

func (s *Server) challenge(*http.Request, empty) (challengeReply, error) {
	return challengeReply{s.Guard.Challenge()}, nil
}

func (s *Server) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := s.Guard.SignOut(w, r); err != nil {
		return err
	}
	return reply(w, http.StatusOK, empty{})
}

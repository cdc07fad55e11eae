package mcp

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callHeader carries the id of a request to the call in it. What a client sends under this name is
// dropped.
const callHeader = "Webchat-Call"

// newID returns a name that cannot be guessed.
func newID() string { return rand.Text() }

// ServeHTTP answers a request that was let in: its credentials, Host and Origin are checked and its
// body is bounded.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, leave, err := s.enter(r.Context())
	if err != nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "webchat: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer leave()
	switch v, ok := s.cfg.Visitor(r); {
	case !ok:
		http.Error(w, "webchat: there is no such workspace; \"webchat mcp install\" prints the addresses there are", http.StatusNotFound)
		return
	case v.Hosted && s.hostOf(v.Key) == nil: // an agent that outlives its conversation, or what it left behind
		http.Error(w, "webchat: the conversation of this key is closed", http.StatusNotFound)
		return
	}
	p := s.peerOf(r)
	id := newID()
	s.mu.Lock()
	s.calls[id] = ctx
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.calls, id)
		s.mu.Unlock()
	}()
	r = r.Clone(ctx)
	r.Header.Set(callHeader, id)
	session := r.Header.Get("Mcp-Session-Id")
	switch {
	case r.Method == http.MethodPost && r.Header.Get("Mcp-Protocol-Version") >= newest:
		s.stateless.ServeHTTP(w, r)
	case session != "" && !strings.HasSuffix(session, p.tag): // somebody else's
		http.Error(w, "session not found", http.StatusNotFound)
	default:
		if r.Method == http.MethodDelete {
			p.stop(session)
		}
		if r.Method == http.MethodPost && session == "" {
			p.thin()
		}
		s.stateful.ServeHTTP(w, r)
	}
}

// requestOf returns the context of the HTTP request that carries a call; nil over a connection.
func (s *Server) requestOf(req *mcp.CallToolRequest) context.Context {
	extra := req.GetExtra()
	if extra == nil || extra.Header == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[extra.Header.Get(callHeader)]
}

package mcp

import (
	"context"
	"net/http"
)

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
	v, ok := s.cfg.Visitor(r)
	session := r.Header.Get("Mcp-Session-Id")
	switch {
	case !ok:
		http.Error(w,
			"webchat: there is no such workspace; \"webchat mcp install\" prints the addresses there are",
			http.StatusNotFound)
		return
	case v.Hosted && s.hostOf(v.Key) == nil:
		// an agent that outlives its conversation, or what it started
		http.Error(w, "webchat: the conversation of this key is closed", http.StatusNotFound)
		return
	}
	r = r.WithContext(context.WithValue(ctx, visitorKey{}, v))
	switch {
	case r.Method == http.MethodPost && r.Header.Get("Mcp-Protocol-Version") >= newest:
		s.stateless.ServeHTTP(w, r)
		return
	case session == "" && r.Method == http.MethodPost:
		s.thin(v)
	case session != "" && !s.owns(v, session):
		http.Error(w, "session not found", http.StatusNotFound)
		return
	case r.Method == http.MethodDelete:
		s.stopCalls(session)
	}
	s.stateful.ServeHTTP(w, r)
}

func (s *Server) owns(v Visitor, session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner, known := s.owners[session]
	return known && owner == v
}

// mostSessions is how many sessions of the protocol a visitor has: a client that comes back to one
// that was closed for others begins again.
const mostSessions = 256

// thin closes the oldest sessions of a visitor in which no call runs, before another begins.
func (s *Server) thin(v Visitor) {
	own := s.protocolSessions(func(of Visitor) bool { return of == v })
	surplus := len(own) + 1 - mostSessions
	for _, client := range own {
		if surplus > 0 && len(s.calls(func(c *running) bool { return c.protocol == client.ID() })) == 0 {
			_ = client.Close() // it says how its connection ended
			surplus--
		}
	}
}

// stopCalls ends the calls of a session of the protocol, which its client closes.
func (s *Server) stopCalls(session string) {
	for _, c := range s.calls(func(c *running) bool { return c.protocol == session }) {
		c.stop(nil)
	}
}

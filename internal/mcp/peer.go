package mcp

import (
	"context"
	"maps"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/contain"
)

// manyPeers is from how many on those without a session of the protocol are forgotten.
const manyPeers = 64

// peer is what one visitor is served by.
type peer struct {
	visitor Visitor
	server  *mcp.Server
	tag     string // ends the names of its sessions of the protocol
	lasting bool   // its client stays the same, however silent it is

	mu      sync.Mutex                               // guards what follows
	running map[string]map[string]context.CancelFunc // calls by session of the protocol and call
	places  map[string]*place                        // where they are made, by call
}

// peerOf returns the peer of a request.
func (s *Server) peerOf(r *http.Request) *peer {
	v, _ := s.cfg.Visitor(r)
	s.mu.Lock()
	p := s.byPeer[v]
	s.mu.Unlock()
	if p != nil {
		return p
	}
	return s.newPeer(v)
}

// newPeer makes the server of a visitor, unless somebody else did meanwhile.
func (s *Server) newPeer(v Visitor) *peer {
	p := &peer{visitor: v, tag: "." + newID(), running: map[string]map[string]context.CancelFunc{}, places: map[string]*place{}}
	p.server = mcp.NewServer(&mcp.Implementation{Name: "webchat", Title: "webchat", Version: s.cfg.Version}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		GetSessionID: func() string { return newID() + p.tag },
	})
	for _, t := range s.cfg.Tools {
		p.add(t, s.handler(p, t))
	}
	hosted := s.hostOf(v.Key) != nil
	if hosted {
		p.server.AddReceivingMiddleware(s.noteLists(v.Key))
	}
	for _, t := range readTools() {
		switch {
		case hosted && s.cfg.HostsRead: // the session has such tools of its own
			p.add(t, s.handler(p, t))
		case v.Reads && !hosted:
			p.add(t, s.reading(p, t.Name))
		}
	}
	if s.cfg.Content != nil && !hosted {
		s.addFrame(p)
	}
	p.server.AddReceivingMiddleware(s.contained) // last: it is around the others
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.byPeer[v]; other != nil {
		return other
	}
	if len(s.byPeer) >= manyPeers {
		s.dropIdleLocked()
	}
	s.byPeer[v] = p
	return p
}

// contained keeps a panic in what handles a client's request in that request.
func (s *Server) contained(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		return contain.Call(s.cfg.Logger, "a request of an MCP client", func() (mcp.Result, error) { return next(ctx, method, req) })
	}
}

func (p *peer) add(t Tool, h mcp.ToolHandler) {
	if described, err := toolOf(t); err == nil { // NewServer refused others
		p.server.AddTool(described, h)
	}
}

// dropIdleLocked forgets the peers that nothing refers to.
func (s *Server) dropIdleLocked() {
	for v, p := range s.byPeer {
		idle := true
		for range p.server.Sessions() {
			idle = false
			break
		}
		if idle && !p.lasting {
			delete(s.byPeer, v)
		}
	}
}

// forget drops what is kept of a visitor that has gone.
func (s *Server) forget(v Visitor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byPeer, v)
	for k := range s.guests {
		if k.visitor == v {
			delete(s.guests, k)
		}
	}
}

// begin notes a running call, so that it can be stopped with its session of the protocol, until end
// is called.
func (p *peer) begin(session, call string, cancel context.CancelFunc) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[session] == nil {
		p.running[session] = map[string]context.CancelFunc{}
	}
	p.running[session][call] = cancel
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if delete(p.running[session], call); len(p.running[session]) == 0 {
			delete(p.running, session)
		}
	}
}

// note notes where a call is made, until end is called.
func (p *peer) note(call string, where *place) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.places[call] = where
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.places, call)
	}
}

// noted returns where the running calls are made, by their ids.
func (p *peer) noted() map[string]*place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.places)
}

// mostSessions is how many sessions of the protocol a peer has: a client that comes back to one
// that was closed for others begins again.
const mostSessions = 256

// thin closes the oldest sessions in which no call runs, before another begins.
func (p *peer) thin() {
	var old []*mcp.ServerSession
	n := 0
	for one := range p.server.Sessions() {
		n++
		p.mu.Lock()
		if p.running[one.ID()] == nil {
			old = append(old, one)
		}
		p.mu.Unlock()
	}
	for _, one := range old[:min(len(old), max(0, n+1-mostSessions))] {
		_ = one.Close() // it says how its connection ended
	}
}

// stop ends the calls of a session of the protocol: its client says that it leaves.
func (p *peer) stop(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, cancel := range p.running[session] {
		cancel()
	}
}

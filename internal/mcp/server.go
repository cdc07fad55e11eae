package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
)

// newest is the first version of the protocol without sessions of its own.
const newest = "2026-07-28"

const (
	// silence is how long a session waits for the next call of its client.
	silence = 30 * time.Minute
	// protocolSilence is how long a session of the protocol is kept: a client that comes back later
	// has to begin again, which not all can.
	protocolSilence = 24 * time.Hour
	// mostRequests is how many requests may be open at the same time.
	mostRequests = 256
)

// ErrGone is wrapped by [Sessions].Wake for a session that does not exist any more.
var ErrGone = errors.New("the session is gone")

// Sessions is where calls are made and shown. Its methods may be called concurrently.
type Sessions interface {
	// Begin creates the session of a client and returns its id.
	Begin(ctx context.Context, v Visit) (sessionID string, err error)
	// Wake opens the conversation of a session with its agent, which is of [Server.Backend], if it
	// is not open. The error wraps [ErrGone] for a session that was deleted.
	Wake(ctx context.Context, sessionID string) error
	// Stage returns how far a running call is.
	Stage(ctx context.Context, sessionID, toolCallID string) Stage
}

// Visit is who a session is created for.
type Visit struct {
	Client    string // the name the client gives itself, made fit to be shown
	Workspace Workspace
}

// Workspace is a folder that tools work in.
type Workspace struct {
	ID   string // names it in addresses
	Name string // as people read it
}

// Stage is how far a running call is.
type Stage struct {
	Asked bool  // the user is asked about it
	Bytes int64 // of output so far
}

// Visitor is where a request comes from.
type Visitor struct {
	Workspace Workspace
	// Key tells apart those who share a workspace: it names the credentials of the request, and is
	// none.
	Key string
	// Hosted says that the key is one for [Server.Host]: without a host it opens nothing.
	Hosted bool
	// Reads says that the visitor is offered the tools that read what was released.
	Reads bool
}

// Tool is a tool as clients are told of it.
type Tool struct {
	agent.ToolSpec
	Title string
	// ReadOnly says that the tool changes nothing; OpenWorld that it may reach beyond the machine.
	ReadOnly, OpenWorld bool
}

// ServerConfig is what a Server works with. Sessions, Tools and Visitor are needed.
type ServerConfig struct {
	Sessions Sessions
	Tools    []Tool
	// Visitor says who sends a request that was let in; false: there is no such workspace.
	Visitor func(r *http.Request) (Visitor, bool)
	// Base returns the address that those of pages and outputs begin with, without a secret; empty
	// while there is none. nil: there never is one.
	Base func() string
	// Ends reports whether what is at that address ends with its client. nil: it stays.
	Ends func() bool
	// Watched reports whether a page is open, which shows what the user is asked. nil: one is.
	Watched func() bool
	// Content returns what an output holds that was shown in a session, for clients that draw
	// frames; nil: no frame is offered.
	Content func(ctx context.Context, sessionID, outputID string) (agent.Attachment, error)
	// HostsRead says that the calls of a [Server.Host] may be of the tools that read what was
	// released, too.
	HostsRead bool
	Version   string
	Logger    *slog.Logger     // nil: nothing is logged
	Now       func() time.Time // nil: time.Now
}

// Server lends tools to clients.
type Server struct {
	cfg                 ServerConfig
	stateful, stateless http.Handler
	ctx                 context.Context // ends when the Server closes
	cancel              context.CancelFunc

	mu       sync.Mutex // guards what follows
	closed   bool
	requests int
	entered  sync.WaitGroup // requests and connections; Add under mu while not closed
	byPeer   map[Visitor]*peer
	guests   map[guestKey]*guest
	conns    map[string]*conn           // open conversations by session
	hosts    map[string]Call            // who makes the calls with a key
	listed   map[string]bool            // keys of hosts whose client asked for the tools
	calls    map[string]context.Context // of HTTP requests, by the id in callHeader
}

// NewServer returns a Server. It starts nothing.
func NewServer(c ServerConfig) (*Server, error) {
	if c.Sessions == nil || len(c.Tools) == 0 || c.Visitor == nil {
		return nil, errors.New("mcp: sessions, tools and visitor are needed")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Base == nil {
		c.Base = func() string { return "" }
	}
	if c.Ends == nil {
		c.Ends = func() bool { return false }
	}
	if c.Watched == nil {
		c.Watched = func() bool { return true }
	}
	c.Version = cmp.Or(c.Version, "unknown")
	s := &Server{cfg: c, byPeer: map[Visitor]*peer{}, guests: map[guestKey]*guest{}, conns: map[string]*conn{}, hosts: map[string]Call{}, listed: map[string]bool{}, calls: map[string]context.Context{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for _, t := range c.Tools {
		if _, err := toolOf(t); err != nil {
			return nil, fmt.Errorf("mcp: tool %s: %w", t.Name, err)
		}
	}
	// Host and Origin are checked before a request gets here, and the body is bounded.
	of := func(r *http.Request) *mcp.Server { return s.peerOf(r).server }
	s.stateful = mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{SessionTimeout: protocolSilence, DisableLocalhostProtection: true})
	s.stateless = mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true})
	return s, nil
}

// Call makes a call; what becomes of it is a Result, and the error that it could not be made.
type Call func(ctx context.Context, c agent.ToolCall) (agent.Result, error)

// Host has the calls with a key made by call, and not in a session of their client's, until end is
// called: the agents of sessions reach their tools so.
func (s *Server) Host(key string, call Call) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[key] = call
	return func() {
		s.mu.Lock()
		delete(s.hosts, key)
		delete(s.listed, key)
		var gone []*peer
		for v, p := range s.byPeer {
			if v.Key == key {
				gone = append(gone, p)
				delete(s.byPeer, v)
			}
		}
		s.mu.Unlock()
		for _, p := range gone { // agents that end do not say that they leave
			for session := range p.server.Sessions() {
				_ = session.Close() // it says how its connection ended
			}
		}
	}
}

// Listed reports whether a client with the key of a host has asked which tools there are.
func (s *Server) Listed(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed[key]
}

// noteLists notes that.
func (s *Server) noteLists(key string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				s.mu.Lock()
				if s.hosts[key] != nil {
					s.listed[key] = true
				}
				s.mu.Unlock()
			}
			return next(ctx, method, req)
		}
	}
}

func (s *Server) hostOf(key string) Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[key]
}

var errClosed = errors.New("the server ends")

// enter counts a request or a connection until leave is called. Its context ends with the Server,
// too.
func (s *Server) enter(ctx context.Context) (_ context.Context, leave func(), _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, errClosed
	case s.requests >= mostRequests:
		return nil, nil, fmt.Errorf("%d requests are open; try again when some have ended", mostRequests)
	}
	s.requests++
	s.entered.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
		s.mu.Lock()
		s.requests--
		s.mu.Unlock()
		s.entered.Done()
	}, nil
}

// Close ends all calls and connections and returns when they have ended.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	peers := make([]*peer, 0, len(s.byPeer))
	for _, p := range s.byPeer {
		peers = append(peers, p)
	}
	s.mu.Unlock()
	s.cancel()
	for _, p := range peers {
		for session := range p.server.Sessions() {
			_ = session.Close() // it says how its connection ended
		}
	}
	s.entered.Wait()
}

package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/event"
)

// newest is the first version of the protocol without sessions of its own.
const newest = "2026-07-28"

const (
	// silence is how long a session waits for the next call of its client.
	silence = 30 * time.Minute
	// protocolSilence is how long a session of the protocol is kept: a client that comes back later
	// has to begin again, which not all can.
	protocolSilence = 24 * time.Hour
)

// ErrGone is wrapped by [Sessions].Wake for a session that was deleted.
var ErrGone = errors.New("the session is gone")

// Sessions is where calls are made and shown. Its methods may be called concurrently.
type Sessions interface {
	// Begin creates the session of a client, by the name it gives itself, made fit to be shown, and
	// by what its first call is about (a path or a command; empty: it has none), and returns its id.
	Begin(ctx context.Context, client, about string, w Workspace) (sessionID string, err error)
	// Wake opens the conversation of a session with its agent, which is of [Server.Backend], if it
	// is not open. The error wraps [ErrGone] for a session that was deleted.
	Wake(ctx context.Context, sessionID string) error
	// Printed returns how many bytes of output a running call has so far.
	Printed(ctx context.Context, sessionID, toolCallID string) int64
	// Questions calls asked for each question to the user about a call that begins later, in a
	// goroutine of its own, until end is called, which waits for those. The context of one ends when
	// the question is answered or withdrawn.
	Questions(ctx context.Context, sessionID, toolCallID string,
		asked func(context.Context, event.PermissionRequested)) (end func(), err error)
	// Decide answers a question, once, as its user did; an error if it was answered before.
	Decide(ctx context.Context, sessionID, requestID string, d event.Decision) error
}

// Workspace is a folder that tools work in.
type Workspace struct {
	ID   string // names it in addresses
	Name string // as people read it
}

// Visitor is where a request comes from.
type Visitor struct {
	Workspace Workspace
	// Key distinguishes those who share a workspace: it names the credentials of the request, and
	// is none.
	Key string
	// Hosted says that the key is one for [Server.Host]: without a host it opens nothing.
	Hosted bool
	// Reads says that the visitor is offered the tools that read what was released.
	Reads bool

	connection bool // its client stays the same, however silent it is
}

type visitorKey struct{}

// visitorOf returns whose a session of the protocol is, by the context in which it began.
func visitorOf(ctx context.Context) Visitor { v, _ := ctx.Value(visitorKey{}).(Visitor); return v }

// Tool is a tool as clients see it.
type Tool struct {
	agent.ToolSpec
	Title string
	// ReadOnly says that the tool changes nothing; OpenWorld that it may reach beyond the machine.
	ReadOnly, OpenWorld bool
}

// ServerConfig is what a Server works with. Tools and Visitor are needed.
type ServerConfig struct {
	Sessions Sessions // nil: all visitors are hosted
	Tools    []Tool
	// Visitor returns who sends a request that was let in; false if there is no such workspace.
	Visitor func(r *http.Request) (Visitor, bool)
	// Base returns the address that those of pages and outputs begin with, without a secret, and
	// whether what is there ends with its client; empty while there is none. nil: there never is.
	Base func() (url string, ends bool)
	// Link returns an address that signs a browser in and goes to a session. Clients over a
	// connection get it in progress messages, which reach no model. nil: there is none.
	Link func(sessionID string) string
	// Watched reports whether a page is open, which shows what the user is asked. nil: one is.
	Watched func() bool
	// Content returns what an output holds that was shown in a session, for clients that draw
	// frames; nil if no frame is offered.
	Content func(ctx context.Context, sessionID, outputID string) (agent.Attachment, error)
	Version string
	Logger  *slog.Logger     // nil: nothing is logged
	Now     func() time.Time // nil: time.Now
}

// Server lends tools to clients.
type Server struct {
	cfg                 ServerConfig
	reading, plain      *mcp.Server // for clients with and without a workspace
	stateful, stateless http.Handler
	ctx                 context.Context // ends when the Server closes
	cancel              context.CancelFunc

	mu      sync.Mutex // guards what follows
	closed  bool
	entered sync.WaitGroup     // the same; Add under mu while not closed
	owners  map[string]Visitor // whose the sessions of the protocol are, by their ids
	running map[*running]bool
	guests  map[guestKey]*guest
	conns   map[string]*conn // open conversations by session
	hosts   map[string]*host // who makes the calls with a key
}

// NewServer returns a Server. It starts nothing.
func NewServer(c ServerConfig) (*Server, error) {
	if len(c.Tools) == 0 || c.Visitor == nil {
		return nil, errors.New("mcp: tools and visitor are needed")
	}
	c.Version, c.Logger = cmp.Or(c.Version, "unknown"), cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Base == nil {
		c.Base = func() (string, bool) { return "", false }
	}
	if c.Watched == nil {
		c.Watched = func() bool { return true }
	}
	s := &Server{
		cfg:     c,
		owners:  map[string]Visitor{},
		running: map[*running]bool{},
		guests:  map[guestKey]*guest{},
		conns:   map[string]*conn{},
		hosts:   map[string]*host{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.reading, s.plain = s.newServer(), s.newServer()
	for _, t := range c.Tools {
		described, err := toolOf(t)
		if err != nil {
			return nil, fmt.Errorf("mcp: tool %s: %w", t.Name, err)
		}
		s.reading.AddTool(described, s.handler(t))
		s.plain.AddTool(described, s.handler(t))
	}
	for _, t := range readTools() {
		described, err := toolOf(t)
		if err != nil {
			return nil, err
		}
		s.reading.AddTool(described, s.reader(t.Name))
	}
	if c.Content != nil {
		s.addFrame(s.reading)
		s.addFrame(s.plain)
	}
	for _, server := range []*mcp.Server{s.reading, s.plain} {
		server.AddReceivingMiddleware(s.receive) // last: it is around the others
	}
	// Host and Origin are checked before a request gets here, and the body is bounded.
	s.stateful = mcp.NewStreamableHTTPHandler(s.serverOf,
		&mcp.StreamableHTTPOptions{SessionTimeout: protocolSilence, DisableLocalhostProtection: true})
	s.stateless = mcp.NewStreamableHTTPHandler(s.serverOf,
		&mcp.StreamableHTTPOptions{
			Stateless:                    true,
			PropagateRequestCancellation: true,
			DisableLocalhostProtection:   true,
		})
	return s, nil
}

func (s *Server) newServer() *mcp.Server {
	return mcp.NewServer(&mcp.Implementation{
		Name:    "webchat",
		Title:   "webchat",
		Version: s.cfg.Version,
	},
		&mcp.ServerOptions{
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
			GetSessionID: newID,
		})
}

// serversLocked are those of clients and of agents.
func (s *Server) serversLocked() []*mcp.Server {
	all := []*mcp.Server{s.reading, s.plain}
	for _, h := range s.hosts {
		all = append(all, h.server)
	}
	return all
}

// serverOf returns the tools that a visitor is offered.
func (s *Server) serverOf(r *http.Request) *mcp.Server {
	v := visitorOf(r.Context())
	if h := s.hostOf(v.Key); h != nil {
		return h.server
	}
	if v.Reads {
		return s.reading
	}
	return s.plain
}

// receive notes whose a session of the protocol is and which hosts' clients know the tools, and
// keeps a panic in what handles a request in that request.
func (s *Server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		v := visitorOf(ctx)
		s.mu.Lock()
		if id := req.GetSession().ID(); method == "initialize" && id != "" {
			s.owners[id] = v
		}
		if h := s.hosts[v.Key]; h != nil && method == "tools/list" {
			h.listed = true
		}
		s.mu.Unlock()
		return contain.Call(s.cfg.Logger, "a request of an MCP client", func() (mcp.Result, error) {
			return next(ctx, method, req)
		})
	}
}

// host makes the calls with a key.
type host struct {
	server *mcp.Server // has its tools
	call   Call
	listed bool // its client asked for the tools; guarded by the Server's mu
}

// Call makes a call; what becomes of it is a Result, and the error that it could not be made.
type Call func(ctx context.Context, c agent.ToolCall) (agent.Result, error)

// Host has the calls of these tools with a key made by call, and not in a session of their
// client's, until end is called: the agents of sessions reach their tools so.
func (s *Server) Host(key string, tools []agent.ToolSpec, call Call) (end func()) {
	h := &host{call: call, server: s.newServer()}
	for _, spec := range tools {
		if spec.Server != "" && spec.Needed != nil && !spec.Needed() {
			continue // the user switched it off
		}
		t := described(s.cfg.Tools, spec)
		if words, err := toolOf(t); err == nil { // its maker sees to that
			h.server.AddTool(words, s.handler(t))
		}
	}
	h.server.AddReceivingMiddleware(s.receive)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[key] = h
	return func() {
		open := s.protocolSessions(func(v Visitor) bool { return v.Key == key })
		s.mu.Lock()
		if s.hosts[key] == h {
			delete(s.hosts, key)
		}
		s.mu.Unlock()
		for _, client := range open {
			_ = client.Close() // agents end without closing theirs; the error says how its connection ended
		}
	}
}

// described is a session's tool in the words for programs.
func described(lent []Tool, spec agent.ToolSpec) Tool {
	i := slices.IndexFunc(lent, func(t Tool) bool { return t.Name == spec.Name })
	if i >= 0 {
		return lent[i]
	}
	return Tool{ToolSpec: spec, ReadOnly: spec.Reads, OpenWorld: spec.Server != ""}
}

// Listed reports whether a client with the key of a host has asked which tools there are.
func (s *Server) Listed(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[key] != nil && s.hosts[key].listed
}

func (s *Server) hostOf(key string) *host {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[key]
}

// protocolSessions returns the open sessions of the protocol of some visitors, the oldest first,
// and forgets whose those were that have ended.
func (s *Server) protocolSessions(of func(Visitor) bool) (found []*mcp.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := map[string]Visitor{}
	for _, server := range s.serversLocked() {
		for client := range server.Sessions() {
			if v, known := s.owners[client.ID()]; known {
				if open[client.ID()] = v; of(v) {
					found = append(found, client)
				}
			}
		}
	}
	s.owners = open
	return found
}

// newID returns a name that cannot be guessed.
func newID() string { return rand.Text() }

// enter counts a request or a connection until leave is called. Its context ends with the Server,
// too.
func (s *Server) enter(ctx context.Context) (_ context.Context, leave func(), _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, errors.New("the server ends")
	}
	s.entered.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
		s.entered.Done()
	}, nil
}

// Close ends all calls and connections and returns when they have ended.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	all := s.serversLocked()
	s.mu.Unlock()
	s.cancel()
	for _, server := range all {
		for client := range server.Sessions() {
			_ = client.Close() // it says how its connection ended
		}
	}
	s.entered.Wait()
}

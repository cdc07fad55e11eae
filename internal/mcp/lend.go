package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/sessions"
)

// LenderConfig is what a [Lender] works with. Of ServerConfig it takes HostsRead, Watched, Version
// and Logger.
type LenderConfig struct {
	ServerConfig
	Guard   *guard.Guard
	Folders *files.Workspaces
	// Outputs has what the outputs of sessions hold.
	Outputs interface {
		Read(ctx context.Context, id eventlog.ID, outputID, lines, lifted string) (agent.Attachment,
			error)
	}
}

// Lender lends the tools of a server's sessions, wired in three steps: sessions need its backend,
// and it needs the sessions and the server's address.
type Lender struct {
	*Server
	Sessions *sessions.Manager // set before the first request
	base     atomic.Pointer[Address]
	folders  *files.Workspaces
	keys     *guard.Guard
}

// Address is what the server's addresses begin with.
type Address struct {
	URL  string // as browsers and clients reach it
	Own  string // as the agents of its sessions do
	Ends bool   // the server ends with its client
}

// NewLender makes the MCP server for workspaces.
func NewLender(c LenderConfig) (*Lender, error) {
	l := &Lender{keys: c.Guard, folders: c.Folders}
	l.base.Store(&Address{})
	c.Sessions, c.Tools, c.Visitor = l, lentTools(), l.visitor
	c.Base = func() (string, bool) { base := l.base.Load(); return base.URL, base.Ends }
	c.Link = func(sessionID string) string {
		return c.Guard.LinkTo(l.base.Load().URL, "/sessions/"+url.PathEscape(sessionID))
	}
	c.Content = func(ctx context.Context, sessionID, outputID string) (agent.Attachment, error) {
		return c.Outputs.Read(ctx, eventlog.ID(sessionID), outputID, "", "")
	}
	var err error
	l.Server, err = NewServer(c.ServerConfig)
	return l, err
}

// visitor returns who sends a request, by the workspace in its address and its key.
func (l *Lender) visitor(r *http.Request) (Visitor, bool) {
	id := r.PathValue("workspaceId")
	w, ok := l.folders.ByID(id)
	if id == "" {
		var err error
		w, err = l.folders.Find("")
		ok = err == nil
	}
	key := l.keys.KeyName(r)
	return Visitor{
		Workspace: Workspace{ID: w.ID, Name: w.Name},
		Key:       key,
		Hosted:    strings.HasPrefix(key, hostedKey),
		Reads:     id != "",
	}, ok
}

// Listens says where the server is reached.
func (l *Lender) Listens(at Address) { l.base.Store(&at) }

// In serves clients over connections that come from a folder, which it opens; see
// [daemon.ControlConfig].
func (l *Lender) In(folder string) (func(context.Context, io.ReadWriteCloser) error, error) {
	w, _, err := l.folders.Open(folder)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, conn io.ReadWriteCloser) error {
		return l.ServeConn(ctx, conn, Workspace{ID: w.ID, Name: w.Name})
	}, nil
}

// Begin implements [Sessions].
func (l *Lender) Begin(ctx context.Context, client, about string, in Workspace) (string, error) {
	w, ok := l.folders.ByID(in.ID)
	if !ok {
		return "", fmt.Errorf("the folder %s was closed: open it in webchat again", in.Name)
	}
	title := client + " in " + in.Name
	if about != "" {
		title = client + ": " + about
	}
	s, err := l.Sessions.Create(ctx, sessions.Options{
		Workspace: w.Path,
		Backend:   BackendName,
		Title:     title,
	})
	if err != nil {
		return "", err
	}
	return string(s.ID()), nil
}

// Wake implements [Sessions].
func (l *Lender) Wake(ctx context.Context, id string) error {
	s, err := l.Sessions.Get(ctx, eventlog.ID(id))
	if err == nil {
		err = s.Wake(ctx)
	}
	if errors.Is(err, eventlog.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}

// Printed implements [Sessions].
func (l *Lender) Printed(ctx context.Context, id, toolCallID string) (bytes int64) {
	s, err := l.Sessions.Get(ctx, eventlog.ID(id))
	if err != nil {
		return 0
	}
	now, err := s.Join(ctx)
	if err != nil {
		return 0
	}
	for _, e := range now.Progress {
		if d, ok := e.Event.Data.(event.ToolExecutionProgress); ok && d.ToolCallID == toolCallID {
			bytes = d.Bytes
		}
	}
	return bytes
}

// Decide implements [Sessions].
func (l *Lender) Decide(ctx context.Context, id, requestID string, d event.Decision) error {
	s, err := l.Sessions.Get(ctx, eventlog.ID(id))
	if err != nil {
		return err
	}
	return s.Decide(ctx, requestID, consent.Decision{Decision: d})
}

// Questions implements [Sessions].
func (l *Lender) Questions(ctx context.Context, id, toolCallID string,
	asked func(context.Context, event.PermissionRequested)) (func(), error) {
	s, err := l.Sessions.Get(ctx, eventlog.ID(id))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	events := s.Subscribe()
	var running sync.WaitGroup
	running.Go(func() {
		defer cancel()
		put := map[string]context.CancelFunc{} // what ends the context of a question, by its id
		for {
			entries, err := events.Next(ctx)
			if err != nil {
				return
			}
			if !slices.ContainsFunc(entries, aboutPermission) {
				continue
			}
			// One that a rule or a grant answered is logged as well, and was never open.
			now, err := s.Join(ctx)
			if err != nil {
				return
			}
			open := map[string]bool{}
			for _, e := range now.Requests {
				q, ok := e.Event.Data.(event.PermissionRequested)
				if !ok || q.ToolCallID != toolCallID {
					continue
				}
				open[q.RequestID] = true
				if put[q.RequestID] == nil {
					question, end := context.WithCancel(ctx)
					put[q.RequestID] = end
					running.Go(func() { asked(question, q) })
				}
			}
			for request, end := range put {
				if !open[request] {
					end()
				}
			}
		}
	})
	return func() { cancel(); running.Wait(); events.Close() }, nil
}

func aboutPermission(e event.Entry) bool {
	switch e.Event.Data.(type) {
	case event.PermissionRequested, event.PermissionCompleted:
		return true
	}
	return false
}

// hostedKey begins the names of keys that [Lender.ToAgent] gives: what the guard says of all keys,
// and what distinguishes these from those of clients.
const hostedKey = "key s-"

// SessionOf returns whose agent has a key, by what [guard.Guard.KeyName] calls it; empty for a
// client's.
func (l *Lender) SessionOf(key string) eventlog.ID {
	session, hosted := strings.CutPrefix(key, hostedKey)
	if !hosted {
		return ""
	}
	return eventlog.ID(session)
}

// ToAgent lends a session's tools to its agent, by a key of its own; it is an [agent.Lender].
func (l *Lender) ToAgent(sessionID string, tools []agent.ToolSpec,
	call func(context.Context, agent.ToolCall) (agent.Result, error)) (agent.Lent, func(), error) {
	base := l.base.Load().Own
	key, err := l.keys.MCPKey("s-" + sessionID)
	if err != nil || base == "" {
		return agent.Lent{}, nil, errors.Join(err, fmt.Errorf("the server does not listen yet"))
	}
	lent, end := l.toHost(base+"/mcp", hostedKey+sessionID, key, tools, call)
	return lent, end, nil
}

// toHost has the calls with a key, of that name, made by call.
func (s *Server) toHost(url, name, key string, tools []agent.ToolSpec,
	call Call) (agent.Lent, func()) {
	return agent.Lent{URL: url, Header: "Authorization", Value: "Bearer " + key, Listed: func() bool {
		return s.Listed(name)
	}}, s.Host(name, tools, call)
}

// OwnLender lends the display tools to agents for a command that runs no server of webchat: on
// loopback, with a key for each conversation.
type OwnLender struct {
	*Server
	http   *http.Server
	served chan error
	url    string
}

// LendHere begins to lend on loopback.
func LendHere(ctx context.Context, version string) (*OwnLender, error) {
	s, err := NewServer(ServerConfig{
		Tools:   lentTools(),
		Version: version,
		Visitor: func(r *http.Request) (Visitor, bool) {
			return Visitor{Key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), Hosted: true},
				true
		},
	})
	if err != nil {
		return nil, err
	}
	at, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &OwnLender{Server: s, served: make(chan error, 1), url: "http://" + at.Addr().String() +
		"/mcp",
		http: &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: s}}
	go func() { l.served <- l.http.Serve(at) }()
	return l, nil
}

// Close ends what was lent.
func (l *OwnLender) Close() error {
	l.Server.Close()
	err := l.http.Close()
	if e := <-l.served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// ToAgent is an [agent.Lender].
func (l *OwnLender) ToAgent(_ string, tools []agent.ToolSpec,
	call func(context.Context, agent.ToolCall) (agent.Result, error)) (agent.Lent, func(), error) {
	key := rand.Text()
	lent, end := l.toHost(l.url, key, key, tools, call)
	return lent, end, nil
}

package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/sessions"
)

// LenderConfig is what a [Lender] works with. Guard, Folders and Outputs are needed.
type LenderConfig struct {
	Guard   *guard.Guard
	Folders *files.Workspaces
	Reads   bool // hosts may read what the user released to them
	Outputs shownOutputs
	Watched func() bool // as [ServerConfig] has it
	Version string
	Logger  *slog.Logger
}

// shownOutputs returns what the outputs of sessions hold.
type shownOutputs interface {
	Read(ctx context.Context, id eventlog.ID, outputID, lines string) (agent.Attachment, error)
}

// Lender lends the tools of a server's sessions, wired in three steps: sessions need its backend,
// and it needs the sessions and the server's address.
type Lender struct {
	*Server
	Sessions *sessions.Manager        // set before anybody is let in
	base     atomic.Pointer[lentBase] // nil: the server does not listen yet
	folders  *files.Workspaces
	keys     *guard.Guard
}

// lentBase is what the server's addresses begin with.
type lentBase struct {
	url  string
	ends bool // with its client
}

// NewLender makes the MCP server for workspaces.
func NewLender(c LenderConfig) (*Lender, error) {
	l := &Lender{keys: c.Guard, folders: c.Folders}
	var err error
	l.Server, err = NewServer(ServerConfig{Sessions: l, Tools: lentTools(), Base: l.address, Ends: l.ends, Watched: c.Watched, HostsRead: c.Reads, Version: c.Version, Logger: c.Logger,
		Content: func(ctx context.Context, sessionID, outputID string) (agent.Attachment, error) {
			return c.Outputs.Read(ctx, eventlog.ID(sessionID), outputID, "")
		},
		Visitor: func(r *http.Request) (Visitor, bool) {
			id := r.PathValue("workspaceId")
			w, ok := c.Folders.ByID(id)
			if id == "" {
				var err error
				w, err = c.Folders.Find("")
				ok = err == nil
			}
			key := c.Guard.KeyName(r)
			return Visitor{Workspace: Workspace{ID: w.ID, Name: w.Name}, Key: key, Hosted: strings.HasPrefix(key, hostedKey), Reads: id != ""}, ok
		}})
	return l, err
}

// Listens says under which address the server listens, and whether it ends with its client.
func (l *Lender) Listens(url string, ends bool) { l.base.Store(&lentBase{url, ends}) }

func (l *Lender) address() string {
	if base := l.base.Load(); base != nil {
		return base.url
	}
	return ""
}

func (l *Lender) ends() bool {
	base := l.base.Load()
	return base != nil && base.ends
}

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
func (l *Lender) Begin(ctx context.Context, v Visit) (string, error) {
	w, ok := l.folders.ByID(v.Workspace.ID)
	if !ok {
		return "", fmt.Errorf("the folder %s was closed: open it in webchat again", v.Workspace.Name)
	}
	s, err := l.Sessions.Create(ctx, sessions.Options{Workspace: w.Path, Backend: BackendName, Title: v.Client + " in " + v.Workspace.Name})
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

// Stage implements [Sessions].
func (l *Lender) Stage(ctx context.Context, id, toolCallID string) (stage Stage) {
	s, err := l.Sessions.Get(ctx, eventlog.ID(id))
	if err != nil {
		return stage
	}
	now, err := s.Join(ctx)
	if err != nil {
		return stage
	}
	for _, e := range now.Requests {
		d, ok := e.Event.Data.(event.PermissionRequested)
		stage.Asked = stage.Asked || ok && d.ToolCallID == toolCallID
	}
	for _, e := range now.Progress {
		if d, ok := e.Event.Data.(event.ToolExecutionProgress); ok && d.ToolCallID == toolCallID {
			stage.Bytes = d.Bytes
		}
	}
	return stage
}

// hostedKey begins the names of keys that [Lender.ToAgent] gives: what the guard says of all keys,
// and what tells these from those of clients.
const hostedKey = "key s-"

// ToAgent lends a session's tools to its agent, by a key of its own; it is an [agent.Lender].
func (l *Lender) ToAgent(sessionID string, call func(context.Context, agent.ToolCall) (agent.Result, error)) (agent.Lent, func(), error) {
	base := l.address()
	key, err := l.keys.MCPKey("s-" + sessionID)
	if err != nil || base == "" {
		return agent.Lent{}, nil, errors.Join(err, fmt.Errorf("the server does not listen yet"))
	}
	return agent.Lent{URL: base + "/mcp", Header: "Authorization", Value: "Bearer " + key, Listed: func() bool { return l.Listed(hostedKey + sessionID) }}, l.Host(hostedKey+sessionID, call), nil
}

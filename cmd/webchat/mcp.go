package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"

	"webchat/internal/agent"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/guard"
	"webchat/internal/mcpserver"
	"webchat/internal/server"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/workspaces"
)

// lender is what lends the display tools to MCP clients, wired in two steps: sessions
// need its backend, and it needs the sessions and the server's address.
type lender struct {
	*mcpserver.Server
	manager *sessions.Manager
	base    atomic.Pointer[string] // of the server's addresses; nil: it does not listen yet
	folders *workspaces.List
	keys    *guard.Guard
}

// newLender makes the MCP server for workspaces.
func newLender(g *guard.Guard, folders *workspaces.List, reads bool, log *slog.Logger) (*lender, error) {
	l := &lender{keys: g, folders: folders}
	var err error
	l.Server, err = mcpserver.New(mcpserver.Config{Sessions: l, Tools: lent(), Base: l.address, HostsRead: reads, Version: version(), Logger: log,
		Visitor: func(r *http.Request) (mcpserver.Visitor, bool) {
			id := r.PathValue("workspaceId")
			w, ok := folders.ByID(id)
			if id == "" {
				var err error
				w, err = folders.Find("")
				ok = err == nil
			}
			return mcpserver.Visitor{Workspace: mcpserver.Workspace{ID: w.ID, Name: w.Name}, Key: g.KeyName(r), Reads: id != ""}, ok
		}})
	return l, err
}

func (l *lender) address() string {
	if base := l.base.Load(); base != nil {
		return *base
	}
	return ""
}

// lendIn serves clients over connections that come from a folder, which it opens; see
// [daemon.ControlConfig].
func (l *lender) lendIn(folder string) (func(context.Context, io.ReadWriteCloser) error, error) {
	w, _, err := l.folders.Open(folder)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, conn io.ReadWriteCloser) error {
		return l.ServeConn(ctx, conn, mcpserver.Workspace{ID: w.ID, Name: w.Name})
	}, nil
}

// Begin implements [mcpserver.Sessions].
func (l *lender) Begin(ctx context.Context, v mcpserver.Visit) (string, error) {
	w, ok := l.folders.ByID(v.Workspace.ID)
	if !ok {
		return "", fmt.Errorf("the folder %s was closed: open it in webchat again", v.Workspace.Name)
	}
	s, err := l.manager.Create(ctx, sessions.Options{Workspace: w.Path, Backend: mcpserver.BackendName, Title: v.Client + " in " + v.Workspace.Name})
	if err != nil {
		return "", err
	}
	return string(s.ID()), nil
}

// Wake implements [mcpserver.Sessions].
func (l *lender) Wake(ctx context.Context, id string) error {
	s, err := l.manager.Get(ctx, session.ID(id))
	if err == nil {
		err = s.Wake(ctx)
	}
	if errors.Is(err, eventlog.ErrNotFound) {
		return fmt.Errorf("%w: %w", mcpserver.ErrGone, err)
	}
	return err
}

// Stage implements [mcpserver.Sessions].
func (l *lender) Stage(ctx context.Context, id, toolCallID string) (stage mcpserver.Stage) {
	s, err := l.manager.Get(ctx, session.ID(id))
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

// lent are the display tools in the words that users of other programs say.
func lent() (tools []mcpserver.Tool) {
	words := map[string]mcpserver.Tool{
		displaytools.RenderFile: {Title: "Show a file", ReadOnly: true, ToolSpec: agent.ToolSpec{
			Description: "Show a file of the workspace to the user in their browser: use it when they say show, open, view, cat or display a file. You get a confirmation, not the content."}},
		displaytools.RunCommand: {Title: "Run a command", OpenWorld: true, ToolSpec: agent.ToolSpec{
			Description: "Run a shell command in the workspace and show its output to the user, live in their browser: for run, test, build, log, diff. You get the exit code, not the output."}},
		displaytools.DisplayImage: {Title: "Show a picture", ReadOnly: true, ToolSpec: agent.ToolSpec{
			Description: "Show an image, picture or screenshot file of the workspace to the user in their browser. You get a confirmation, not the image."}},
	}
	for _, spec := range displaytools.Specs() {
		t := words[spec.Name]
		t.Name, t.Parameters = spec.Name, spec.Parameters
		tools = append(tools, t)
	}
	return tools
}

// listServers says what was found of the user's MCP servers.
func (o *options) listServers(c *config) func(context.Context) ([]server.MCPServer, error) {
	return func(ctx context.Context) ([]server.MCPServer, error) {
		all, err := o.mcpServers(c).Status(ctx)
		out := make([]server.MCPServer, 0, len(all))
		for _, s := range all {
			out = append(out, server.MCPServer{Name: s.Name, Type: s.Type, Where: s.Where, State: string(s.State), Tools: s.Tools, Failure: s.Failure})
		}
		return out, err
	}
}

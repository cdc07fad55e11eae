package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// The names under which a successful result says where its output is.
const (
	metaOutput = "webchat/outputId"
	metaURL    = "webchat/outputUrl"
)

// handler serves the calls of one tool for a peer.
func (s *Server) handler(p *peer, t Tool) mcp.ToolHandler {
	known := properties(t)
	return s.bounded(p, func(ctx context.Context, req *mcp.CallToolRequest, id string) *mcp.CallToolResult {
		return s.call(ctx, p, req, agent.ToolCall{ID: id, Name: t.Name, Arguments: keep(req.Params.Arguments, known)}, !t.ReadOnly)
	})
}

// bounded gives each call an id, and ends it with the Server and with the session of the protocol
// it belongs to.
func (s *Server) bounded(p *peer, f func(ctx context.Context, req *mcp.CallToolRequest, id string) *mcp.CallToolResult) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		id := newID()
		defer p.begin(req.Session.ID(), id, cancel)()
		return f(ctx, req, id), nil
	}
}

// call makes a call for a client; acts says that it changes something. Whatever becomes of it is a
// result.
func (s *Server) call(ctx context.Context, p *peer, req *mcp.CallToolRequest, c agent.ToolCall, acts bool) *mcp.CallToolResult {
	name := clientName(req.ClientInfo())
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	where := &place{stop: stop, acts: acts}
	defer p.note(c.ID, where)()
	defer s.signs(ctx, req, c.ID, where)()
	if call := s.hostOf(p.visitor.Key); call != nil {
		res, err := call(ctx, c)
		if err != nil {
			return failure("The call could not be made: " + err.Error() + ".")
		}
		return s.result(nil, false, res) // it is shown where the agent is asked
	} else if p.visitor.Hosted {
		return failure("The conversation is closed, so nothing was done.")
	}
	var res agent.Result
	g, err := s.lend(ctx, p, name, func(in *conn) (err error) {
		where.set(in.id)
		defer s.watch(ctx, req, in.host, name, c.Name)()
		res, err = in.host.CallTool(ctx, c)
		return err
	})
	switch {
	case errors.Is(context.Cause(ctx), errUnseen):
		return failure(s.unseen())
	case ctx.Err() != nil:
		return failure("It was stopped.")
	case errors.Is(err, errGuests):
		return failure(wording.Sentence(err.Error()))
	case err != nil:
		s.cfg.Logger.Error("a call of an MCP client failed", "tool", c.Name, "error", err)
		return failure("webchat could not make the call: " + err.Error() + ".")
	}
	if base := s.cfg.Base(); res.Type != agent.Success && where.asked.Load() && base != "" && req.Params.GetProgressToken() == nil {
		res.TextForModel = wording.Ended(res.TextForModel) + " The user was asked at " + base + "."
	}
	r := s.result(g, keepsMeta(req.ClientInfo()), res)
	if address, ok := r.Meta[metaURL].(string); ok && readsAudience(req.ClientInfo()) {
		r.Content = append(r.Content, &mcp.TextContent{Text: "[Open in webchat](" + address + ")", Annotations: &mcp.Annotations{Audience: []mcp.Role{"user"}}})
	}
	return r
}

// result is what a client gets: one line for its model, and beside it, if meta, what is for the
// user alone. A guest is told once where its user sees it.
func (s *Server) result(g *guest, meta bool, res agent.Result) *mcp.CallToolResult {
	text := res.TextForModel
	if res.Type != agent.Success {
		if text == "" {
			text = "The tool failed."
		}
		return failure(text)
	}
	if text == "" {
		text = "Done."
	}
	r := &mcp.CallToolResult{}
	if res.Telemetry != nil && res.Telemetry.OutputID != "" {
		base := s.cfg.Base()
		if meta {
			r.Meta = mcp.Meta{metaOutput: res.Telemetry.OutputID}
		}
		if meta && base != "" && !s.cfg.Ends() {
			r.Meta[metaURL] = base + "/api/outputs/" + res.Telemetry.OutputID
		}
		if g != nil && base != "" {
			text += s.whereOnce(g, base, len(text))
		}
	}
	r.Content = []mcp.Content{&mcp.TextContent{Text: text}}
	return r
}

// failure is a result without anything that is for the user alone.
func failure(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// mostFirst is how many characters a first confirmation has at most.
const mostFirst = 250

// whereOnce says to a client, once, where its user sees what it shows.
func (s *Server) whereOnce(g *guest, base string, before int) string {
	text := ". The user sees it at " + base
	if s.cfg.Ends() {
		text += " until this program ends"
	}
	if before+len(text) > mostFirst || !g.first() {
		return ""
	}
	return text
}

// watch has the session say so when the connection of a call breaks while it runs: the answer will
// not arrive. The returned function ends that.
func (s *Server) watch(ctx context.Context, req *mcp.CallToolRequest, host agent.Host, client, tool string) (end func()) {
	request := s.requestOf(req)
	if request == nil {
		return func() {}
	}
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-over:
			return
		case <-request.Done():
		}
		if ctx.Err() != nil || s.ctx.Err() != nil { // it is stopped
			return
		}
		err := host.Report(ctx, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindInterrupted,
			Message: fmt.Sprintf("%s no longer waits for %s. Stop it, or refuse it, if you do not want it any more.", client, tool)})
		if err != nil {
			s.cfg.Logger.Warn("it was not said that a client no longer waits", "error", err)
		}
	})
	return func() { close(over); wg.Wait() }
}

// lend calls use with a client's conversation, that of a new session if the user deleted it, within
// a turn of its own.
func (s *Server) lend(ctx context.Context, p *peer, client string, use func(*conn) error) (*guest, error) {
	for again := false; ; again = true {
		g, err := s.guestOf(p, client)
		if err != nil {
			return nil, err
		}
		c, err := s.open(ctx, g, Visit{Client: client, Workspace: p.visitor.Workspace})
		if err == nil {
			c.introduce(client, p.visitor.Reads)
			err = c.use(ctx, client+" called a tool.", func() error { return use(c) })
		}
		s.touch(g)
		if again || !errors.Is(err, ErrGone) {
			return g, err
		}
		s.drop(g)
	}
}

// open returns the open conversation of a guest's session, which is created with its first call.
func (s *Server) open(ctx context.Context, g *guest, v Visit) (c *conn, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.id == "" {
		if g.id, err = s.cfg.Sessions.Begin(ctx, v); err != nil {
			return nil, err
		}
	}
	if err := s.cfg.Sessions.Wake(ctx, g.id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c = s.conns[g.id]; c == nil {
		return nil, fmt.Errorf("session %s has no conversation: %w", g.id, ErrGone)
	}
	return c, nil
}

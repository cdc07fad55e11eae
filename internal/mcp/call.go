package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/wording"
)

// The names under which a successful result says where its output is.
const (
	metaOutput = "webchat/outputId"
	metaURL    = "webchat/outputUrl"
)

// running is a call of a client's that runs.
type running struct {
	id       string
	visitor  Visitor
	protocol string                  // its session of the protocol
	stop     context.CancelCauseFunc // ends it
	acts     bool                    // it changes something

	session atomic.Pointer[string] // where it is made; nil: not known yet, or a host makes it
	asking  atomic.Pointer[asking] // what its user is asked; nil: nothing
	// its user was asked where a page shows it, and the client takes no progress that says so
	unread atomic.Bool

	signing sync.Mutex // guards signed, and is held while a sign is sent
	signed  int        // how many signs its client got
}

// calls returns the running calls that match.
func (s *Server) calls(match func(*running) bool) (found []*running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.running {
		if match(c) {
			found = append(found, c)
		}
	}
	return found
}

// handler serves the calls of a tool of the sessions.
func (s *Server) handler(t Tool) mcp.ToolHandler {
	known := properties(t)
	return s.bounded(!t.ReadOnly, func(ctx context.Context, req *mcp.CallToolRequest,
		c *running) *mcp.CallToolResult {
		return s.call(ctx, req, c, agent.ToolCall{
			ID:   c.id,
			Name: t.Name,
			Arguments: keep(req.Params.Arguments, func(name string) bool {
				_, ok := known[name]
				return ok || t.Server != "" && name != geminiWaits
			}),
		})
	})
}

// geminiWaits is what Gemini CLI 0.61.0 adds to the arguments of every tool.
const geminiWaits = "wait_for_previous"

// bounded notes a call while it runs, has its client hear that it does, and ends it with the
// Server.
func (s *Server) bounded(acts bool,
	f func(context.Context, *mcp.CallToolRequest, *running) *mcp.CallToolResult) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		defer context.AfterFunc(s.ctx, func() { stop(nil) })()
		c := &running{
			id:       newID(),
			visitor:  visitorOf(ctx),
			protocol: req.Session.ID(),
			stop:     stop,
			acts:     acts,
		}
		s.mu.Lock()
		s.running[c] = true
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.running, c)
		}()
		defer s.signs(ctx, req, c)()
		return f(ctx, req, c), nil
	}
}

// call makes a call for a client. Whatever becomes of it is a result.
func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest, c *running,
	call agent.ToolCall) *mcp.CallToolResult {
	if h := s.hostOf(c.visitor.Key); h != nil {
		res, err := h.call(ctx, call)
		if err != nil {
			return failure("The call could not be made: " + err.Error() + ".")
		}
		return s.result(nil, false, res) // it is shown where the agent is asked
	} else if c.visitor.Hosted {
		return failure("The conversation is closed, so nothing was done.")
	}
	var res agent.Result
	g, err := s.lend(ctx, c.visitor, clientName(req.ClientInfo()), aboutOf(call.Arguments),
		func(in *conn) (err error) {
			c.session.Store(&in.id)
			end, err := s.asks(ctx, req, c, in.id)
			if err != nil {
				return err
			}
			defer end()
			res, err = in.host.CallTool(ctx, call)
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
		s.cfg.Logger.Error("a call of an MCP client failed", "tool", call.Name, "error", err)
		return failure("webchat could not make the call: " + err.Error() + ".")
	}
	if base, _ := s.cfg.Base(); res.Type != agent.Success && base != "" && c.unread.Load() {
		res.TextForModel = wording.Ended(res.TextForModel) + " The user was asked at " + base + "."
	}
	return s.result(g, keepsMeta(req.ClientInfo()), res)
}

// mostFirst is how many characters a first confirmation has at most.
const mostFirst = 250

// result is what a client gets: one line for its model, and beside it, if meta, what is for the
// user alone. The first line for a guest says where its user sees the output.
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
		base, ends := s.cfg.Base()
		if meta {
			r.Meta = mcp.Meta{metaOutput: res.Telemetry.OutputID}
		}
		if meta && base != "" && !ends {
			r.Meta[metaURL] = base + "/api/outputs/" + res.Telemetry.OutputID
		}
		where := ". The user sees it at " + base
		if ends {
			where += " until this program ends"
		}
		if g != nil && base != "" && len(text)+len(where) <= mostFirst && g.first() {
			text += where
		}
	}
	r.Content = []mcp.Content{&mcp.TextContent{Text: text}}
	for _, p := range res.Binary { // what the tool of another server has for the model
		if data, err := base64.StdEncoding.DecodeString(p.Data); err == nil {
			r.Content = append(r.Content, &mcp.ImageContent{Data: data, MIMEType: p.MimeType})
		}
	}
	return r
}

// failure is a result without anything that is for the user alone.
func failure(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

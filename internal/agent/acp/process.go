package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/jsonrpc"
	"webchat/internal/proc"
	"webchat/internal/wording"
)

const (
	// startPatience is how long an agent may take to be ready: some unpack themselves.
	startPatience = 90 * time.Second
	// stopPatience is how long an agent may take to end by itself, and to stop a turn.
	stopPatience = 700 * time.Millisecond
)

// codeLogin is the error of an agent that is not signed in.
const codeLogin = -32000

// process is a running agent.
type process struct {
	rpc    *jsonrpc.Program
	id     string // of its conversation
	caps   initialized
	effort string // the one it begins with
}

// start starts the agent and opens a conversation, the one of that id if it is not
// empty.
func (c *conn) start(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	cfg := c.b.cfg
	if err := cfg.refuseRisky(c.o.Workspace); err != nil {
		return err
	}
	p := &process{}
	ready := make(chan struct{}) // what it says is handled once p is complete
	rpc, err := jsonrpc.Start(proc.Command{Args: cfg.command(c.o.SessionID), Dir: c.o.Workspace, Env: cfg.Env, Grace: time.Second}, jsonrpc.Config{Framing: jsonrpc.Lines,
		Notify: func(method string, params json.RawMessage) { <-ready; c.notified(p, method, params) }, Request: c.asked, Logger: cfg.Logger})
	if errors.Is(err, proc.ErrNotFound) {
		return fmt.Errorf("%w: %s is not installed; %s is not on PATH", agent.ErrUnavailable, cfg.Title, cfg.Command[0])
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", cfg.Title, err)
	}
	p.rpc = rpc
	close(ready)
	c.mu.Lock()
	c.process = p
	c.starting = true
	c.mu.Unlock()
	c.uses.Add(1)
	go rpc.Contained(func() { c.dropDead(p) })()
	if err := c.handshake(ctx, p, id); err != nil {
		var theirs *jsonrpc.Error
		switch {
		case errors.As(err, &theirs) && theirs.Code == codeLogin:
			return c.b.signIn()
		case errors.Is(err, contain.ErrPanic):
			return agent.Broken(cfg.Title)
		case errors.Is(err, jsonrpc.ErrClosed):
			c.drop(p) // then it has said all
			return fmt.Errorf("%w: %s ended while it started%s", agent.ErrUnavailable, cfg.Title, p.rpc.Said())
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("%w: %s did not get ready within %v%s", agent.ErrUnavailable, cfg.Title, startPatience, p.rpc.Said())
		}
		return fmt.Errorf("open a conversation with %s: %w", cfg.Title, err)
	}
	c.mu.Lock()
	c.starting = false
	now := c.b.cfg.choices(c.offers)
	c.mu.Unlock()
	c.b.remember(c.o.SessionID, p.id)
	c.b.keep(func(k *kept) {
		k.Version, k.Deletes, k.Choices = wording.Cut(wording.Line(p.caps.AgentInfo.Version), mostName), p.caps.AgentCapabilities.SessionCapabilities.Delete != nil, now
	})
	return nil
}

// greet begins the protocol.
func (p *process) greet(ctx context.Context, cfg Config) error {
	none := object{"fs": object{"readTextFile": false, "writeTextFile": false}, "terminal": false}
	if err := p.rpc.Call(ctx, "initialize", object{"protocolVersion": 1, "clientCapabilities": none,
		"clientInfo": object{"name": "webchat", "title": "webchat", "version": "1"}}, &p.caps); err != nil {
		return err
	}
	if v := p.caps.ProtocolVersion; v > 1 {
		return fmt.Errorf("%w: %s speaks version %d of the Agent Client Protocol, and webchat version 1; install another version of it", agent.ErrUnavailable, cfg.Title, v)
	}
	return nil
}

func (c *conn) handshake(ctx context.Context, p *process, id string) error {
	if err := p.greet(ctx, c.b.cfg); err != nil {
		return err
	}
	tools, err := c.lend()
	if err != nil {
		return err
	}
	ask := object{"cwd": c.o.Workspace, "mcpServers": append([]any{tools}, c.servers(ctx, p)...)}
	if c.b.cfg.Meta != nil {
		ask["_meta"] = c.b.cfg.Meta
	}
	method := "session/new"
	if id != "" {
		ask["sessionId"], method = id, "session/load"
		if p.caps.AgentCapabilities.SessionCapabilities.Resume != nil {
			method = "session/resume" // which replays nothing
		} else if !p.caps.AgentCapabilities.LoadSession {
			return agent.ErrUnsupported
		}
	}
	var got opened
	err = p.rpc.Call(ctx, method, ask, &got)
	var theirs *jsonrpc.Error
	if login := c.b.cfg.Login; login != "" && errors.As(err, &theirs) && theirs.Code == codeLogin {
		if err = p.rpc.Call(ctx, "authenticate", object{"methodId": login}, nil); err == nil {
			err = p.rpc.Call(ctx, method, ask, &got)
		}
	}
	if err != nil {
		return err
	}
	if got.SessionID == "" && id == "" {
		return fmt.Errorf("%w: it gave no id to the conversation, so it cannot be told from others", agent.ErrUnavailable)
	}
	c.mu.Lock()
	if p.id = got.SessionID; p.id == "" {
		p.id = id
	}
	c.offers.options, c.offers.modes, c.offers.models = got.ConfigOptions, got.Modes, got.Models
	if e, ok := c.offers.effort(); ok {
		p.effort = e.current()
	}
	c.mu.Unlock()
	return c.configure(ctx, p)
}

// lend makes the session's tools reachable for the agent, once.
func (c *conn) lend() (object, error) {
	if c.unlend == nil {
		s, end, err := c.b.cfg.Lend(c.o.SessionID, c.callTool)
		if err != nil {
			return nil, err
		}
		c.tools, c.unlend = s, end
	}
	return object{"type": "http", "name": c.b.cfg.server(c.o.SessionID), "url": c.tools.URL, "headers": []any{object{"name": c.tools.Header, "value": c.tools.Value}}}, nil
}

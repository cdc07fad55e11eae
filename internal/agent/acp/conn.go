package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
	"webchat/internal/policy"
	"webchat/internal/wording"
)

// startPatience is how long an agent may take to be ready: some unpack themselves.
const startPatience = 90 * time.Second

// codeLogin is the error of an agent that is not signed in.
const codeLogin = -32000

// conn is one conversation.
type conn struct {
	*convo.Conversation
	b         *Backend
	workspace workspace
	choices   *choices

	mu   sync.Mutex // guards what follows
	id   string     // the agent's own of the conversation
	caps initialized

	// What follows belongs to the loop; all but noticed to the running turn.
	noticed    convo.Once // notices that were reported
	calls      convo.Calls[*call]
	textErrors *textErrors
	acts       acts
	lent       *lent
	answer     answered
	steps      steps

	shell shell // of the process; belongs to the loop
}

// Ready implements [convo.Agent].
func (c *conn) Ready(ctx context.Context) error {
	return c.Running(ctx, func(ctx context.Context) error {
		id := c.b.recollect(c.Options.SessionID)
		err := c.start(ctx, id)
		if id == "" || !forgot(ctx, err) {
			return err
		}
		c.Drop(c.Program())
		if err = c.start(ctx, ""); err == nil {
			c.Report(event.SessionError{ErrorType: event.ErrorForgotten, Kind: event.KindInterrupted,
				Message: c.Title +
					" does not remember this conversation and starts a new one. You can send it the " +
					"conversation with your next prompt."})
		}
		return err
	})
}

// forgot reports whether an agent that was to go on with a conversation failed since it cannot, and
// not for another reason.
func forgot(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, agent.ErrUnavailable)
}

// Send implements [convo.Agent].
func (c *conn) Send(t *convo.Turn, p agent.Prompt) error {
	rpc := t.Program()
	if rpc == nil {
		return c.Died("")
	}
	ask := object{"sessionId": c.id, "prompt": c.blocks(p)}
	c.Do(func() {
		c.calls, c.acts, c.steps = convo.Calls[*call]{}, acts{at: c.workspace, allowed: map[string]int{}},
			steps{}
		c.lent.came, c.answer = nil, answered{}
		c.textErrors.renew()
	})
	t.Spawn(func() {
		var answer json.RawMessage
		err := rpc.Call(context.Background(), "session/prompt", ask, &answer)
		if errors.Is(err, jsonrpc.ErrClosed) {
			return // the end of the program ends the turn
		}
		c.Post(func() {
			_ = decode(answer, &c.answer) // there is none, or as much of it as has its type
			if err != nil {
				t.End(c.failed(err))
				return
			}
			c.missTools()
			t.End(c.textErrors.left())
		})
	})
	return nil
}

// blocks is a prompt as the agent takes it.
func (c *conn) blocks(p agent.Prompt) []any {
	var more []any
	text := convo.Text(p, func(a agent.Attachment) bool {
		switch {
		case a.Path != "":
			more = append(more, object{"type": "resource_link", "uri": "file://" + a.Path, "name": a.Name})
		case convo.Picture(a) && c.caps.AgentCapabilities.PromptCapabilities.Image:
			more = append(more, object{"type": "image", "mimeType": a.MimeType,
				"data": base64.StdEncoding.EncodeToString(a.Data)})
		default:
			return false
		}
		return true
	})
	return append([]any{object{"type": "text", "text": text}}, more...)
}

// failed is an error of the agent as people read it.
func (c *conn) failed(err error) error {
	theirs, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case !ok:
		return err
	case theirs.Code == codeLogin || theirs.Code == 401:
		return c.b.signIn()
	}
	return fmt.Errorf("%s failed: %s", c.Title, sentence(theirs.Message))
}

// missTools warns the user, once, when the agent answered and never asked which tools the session
// has: it does not reach them, which agents do not report.
func (c *conn) missTools() {
	const tools = "webchat's tools" // no server is called so
	lent, err := c.Lend(nil, nil)
	if err != nil || lent.Listed == nil || lent.Listed() || !c.noticed.First(tools) {
		return
	}
	c.Warn(event.KindProvider,
		"%s did not reach webchat's tools, so it cannot show you anything here. If a proxy is set "+
			"(HTTP_PROXY), set NO_PROXY=localhost,127.0.0.1, too.", c.Title)
}

// Abort implements [convo.Agent].
func (c *conn) Abort(t *convo.Turn) {
	c.Stop(t, func(ctx context.Context, p *jsonrpc.Program) {
		_ = p.Notify(ctx, "session/cancel", object{"sessionId": c.id}) // else it is ended
	})
}

// End implements [convo.Agent].
func (c *conn) End() {}

// start starts the agent and opens a conversation, the one of that id if it is not empty.
func (c *conn) start(ctx context.Context, id string) error {
	cfg := c.b.cfg
	if err := convo.RefuseRisky(cfg.Title, c.Options.Workspace, cfg.UserHome, cfg.Risky); err != nil {
		return err
	}
	if _, err := c.Lend(cfg.Lend, c.callTool); err != nil {
		return err
	}
	command, err := c.command(ctx)
	if err != nil {
		return err
	}
	c.named("")
	c.Do(func() {
		if c.shell = (shell{}); !cfg.Untried { // of an agent that was never tried nothing is known
			c.shell.begin = policy.Resolve(c.Options.Workspace)
		}
	})
	err = c.Launch(ctx, convo.Launch{
		Command:  command,
		RPC:      jsonrpc.Config{Notify: c.notified, Request: c.asked},
		Patience: startPatience, Missing: cfg.missing(),
		Ready: func(ctx context.Context, p *jsonrpc.Program) error { return c.handshake(ctx, p, id) },
	})
	if theirs, ok := errors.AsType[*jsonrpc.Error](err); ok && theirs.Code == codeLogin {
		return c.b.signIn()
	}
	switch {
	case errors.Is(err, agent.ErrUnavailable), errors.Is(err, agent.ErrDied):
		return err
	case err != nil:
		return fmt.Errorf("open a conversation with %s: %w", cfg.Title, err)
	}
	now := c.Choices()
	c.b.remember(c.Options.SessionID, c.id, c.Options.Workspace)
	c.b.keep(func(k *kept) {
		k.Version, k.Choices = wording.Cut(wording.Line(c.caps.AgentInfo.Version), mostName), now
		k.Deletes = c.caps.AgentCapabilities.SessionCapabilities.Delete != nil
	})
	return nil
}

// named notes the agent's own name of the conversation; empty: there is none yet.
func (c *conn) named(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id = id
}

// set has the agent change something of the conversation.
func (c *conn) set(ctx context.Context, method string, ask object, answer any) error {
	p := c.Program()
	if p == nil {
		return agent.ErrUnsupported
	}
	c.mu.Lock()
	ask["sessionId"] = c.id
	c.mu.Unlock()
	return p.Call(ctx, method, ask, answer)
}

// greet begins the protocol.
func (c Config) greet(ctx context.Context, p *jsonrpc.Program) (caps initialized, err error) {
	none := object{"fs": object{"readTextFile": false, "writeTextFile": false}, "terminal": false}
	err = p.Call(ctx, "initialize", object{"protocolVersion": 1, "clientCapabilities": none,
		"clientInfo": object{"name": "webchat", "title": "webchat", "version": "1"}}, &caps)
	if v := caps.ProtocolVersion; err == nil && v > 1 {
		err = fmt.Errorf(
			"%w: %s speaks version %d of the Agent Client Protocol, and webchat version 1; install "+
				"another version of it", agent.ErrUnavailable, c.Title, v)
	}
	return caps, err
}

func (c *conn) handshake(ctx context.Context, p *jsonrpc.Program, id string) (err error) {
	if c.caps, err = c.b.cfg.greet(ctx, p); err != nil {
		return err
	}
	lent, err := c.Lend(nil, nil)
	if err != nil {
		return err
	}
	servers := []any{object{"type": "http", "name": c.b.cfg.server(c.Options.SessionID),
		"url": lent.URL, "headers": []any{object{"name": lent.Header, "value": lent.Value}}}}
	ask := object{"cwd": c.Options.Workspace, "mcpServers": servers}
	if c.b.cfg.Meta != nil {
		ask["_meta"] = c.b.cfg.Meta(c.b.cfg.Unasked)
	}
	method := "session/new"
	if id != "" {
		ask["sessionId"], method = id, "session/load"
		if c.caps.AgentCapabilities.SessionCapabilities.Resume != nil {
			method = "session/resume" // which replays nothing
		} else if !c.caps.AgentCapabilities.LoadSession {
			return agent.ErrUnsupported
		}
	}
	var got opened
	err = p.Call(ctx, method, ask, &got)
	theirs, _ := errors.AsType[*jsonrpc.Error](err)
	if login := c.b.cfg.Login; login != "" && theirs != nil && theirs.Code == codeLogin {
		if err = p.Call(ctx, "authenticate", object{"methodId": login}, nil); err == nil {
			err = p.Call(ctx, method, ask, &got)
		}
	}
	switch {
	case err != nil:
		return err
	case got.SessionID == "" && id == "":
		return fmt.Errorf("%w: it gave no id to the conversation, so it cannot be told from others",
			agent.ErrUnavailable)
	case got.SessionID == "":
		got.SessionID = id
	}
	c.named(got.SessionID)
	c.choices.open(got)
	return c.choices.configure(ctx)
}

// callTool makes a call of one of the session's tools for the agent.
func (c *conn) callTool(ctx context.Context, call agent.ToolCall) (agent.Result, error) {
	c.Do(func() { c.lent.came = append(c.lent.came, call) })
	return c.CallTool(ctx, call)
}

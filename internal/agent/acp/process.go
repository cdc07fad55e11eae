package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/jsonrpc"
	"webchat/internal/proc"
)

const (
	// startPatience is how long an agent may take to be ready: some unpack themselves.
	startPatience = 90 * time.Second
	// stopPatience is how long an agent may take to end by itself, and to stop a turn.
	stopPatience = 700 * time.Millisecond
)

// process is a running agent.
type process struct {
	child  *proc.Child
	rpc    *jsonrpc.Conn
	id     string // of its conversation
	caps   initialized
	offers []configOption
	stderr tail
	once   sync.Once // of stop
	err    error     // of stop; to be read after it
}

// pipes are the standard input and output of a child as one stream.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

func (p pipes) Close() error { return errors.Join(p.WriteCloser.Close(), p.ReadCloser.Close()) }

// start starts the agent and opens a conversation, the one of that id if it is not
// empty.
func (c *conn) start(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	cfg := c.b.cfg
	child, err := proc.Start(proc.Command{Args: cfg.Command, Dir: c.o.Workspace, Env: cfg.Env, Pipes: true, Grace: time.Second})
	if errors.Is(err, proc.ErrNotFound) {
		return fmt.Errorf("%w: %s is not installed; %s is not on PATH", agent.ErrUnavailable, cfg.Title, cfg.Command[0])
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", cfg.Title, err)
	}
	p := &process{child: child}
	c.readers.Go(func() { _, _ = io.Copy(&p.stderr, child.Stderr()) }) // ends with the child
	p.rpc = jsonrpc.New(pipes{child.Stdout(), child.Stdin()}, jsonrpc.Config{Framing: jsonrpc.Lines,
		Notify: func(method string, params json.RawMessage) { c.notified(p, method, params) }, Request: c.asked})
	c.mu.Lock()
	c.process = p
	c.loading = id != ""
	c.mu.Unlock()
	if err := c.handshake(ctx, p, id); err != nil {
		var theirs *jsonrpc.Error
		switch {
		case errors.As(err, &theirs) && theirs.Code == -32000:
			return fmt.Errorf("%w: %s is not signed in; sign in with its own command, then try again", agent.ErrUnavailable, cfg.Title)
		case errors.Is(err, jsonrpc.ErrClosed):
			return fmt.Errorf("%w: %s ended while it started%s", agent.ErrUnavailable, cfg.Title, p.stderr.said())
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("%w: %s did not get ready within %v%s", agent.ErrUnavailable, cfg.Title, startPatience, p.stderr.said())
		}
		return fmt.Errorf("open a conversation with %s: %w", cfg.Title, err)
	}
	c.mu.Lock()
	c.loading = false
	c.mu.Unlock()
	c.b.remember(c.o.SessionID, p.id)
	return nil
}

func (c *conn) handshake(ctx context.Context, p *process, id string) error {
	none := object{"fs": object{"readTextFile": false, "writeTextFile": false}, "terminal": false}
	if err := p.rpc.Call(ctx, "initialize", object{"protocolVersion": 1, "clientCapabilities": none,
		"clientInfo": object{"name": "webchat", "title": "webchat", "version": "1"}}, &p.caps); err != nil {
		return err
	}
	if c.b.cfg.Login != "" {
		if err := p.rpc.Call(ctx, "authenticate", object{"methodId": c.b.cfg.Login}, nil); err != nil {
			return err
		}
	}
	tools, err := c.lend()
	if err != nil {
		return err
	}
	ask := object{"cwd": c.o.Workspace, "mcpServers": []any{tools}}
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
	if err := p.rpc.Call(ctx, method, ask, &got); err != nil {
		return err
	}
	p.offers = got.ConfigOptions
	if p.id = got.SessionID; p.id == "" {
		p.id = id
	}
	return c.configure(ctx, p, got)
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
	return object{"type": "http", "name": "webchat", "url": c.tools.URL, "headers": []any{object{"name": c.tools.Header, "value": c.tools.Value}}}, nil
}

// configure chooses the mode and the model. An agent that has no such choice keeps
// its own.
func (c *conn) configure(ctx context.Context, p *process, got opened) error {
	if want := c.b.cfg.Mode; want != "" {
		fits := func(id string) bool {
			return id == want || strings.HasSuffix(id, "#"+want) || strings.HasSuffix(id, "/"+want)
		}
		chosen := false
		for _, o := range got.ConfigOptions {
			for _, v := range o.Options {
				if o.Category == "mode" && !chosen && fits(v.Value) {
					chosen = true
					if err := p.rpc.Call(ctx, "session/set_config_option", object{"sessionId": p.id, "configId": o.ID, "value": v.Value}, nil); err != nil {
						return fmt.Errorf("choose the mode %s: %w", want, err)
					}
				}
			}
		}
		if m := got.Modes; m != nil && !chosen {
			if i := slices.IndexFunc(m.AvailableModes, func(m struct{ ID string }) bool { return fits(m.ID) }); i >= 0 {
				if err := p.rpc.Call(ctx, "session/set_mode", object{"sessionId": p.id, "modeId": m.AvailableModes[i].ID}, nil); err != nil {
					return fmt.Errorf("choose the mode %s: %w", want, err)
				}
			}
		}
	}
	if c.o.Model != "" {
		return c.chooseModel(ctx, p, c.o.Model)
	}
	return nil
}

func (c *conn) chooseModel(ctx context.Context, p *process, model string) error {
	for _, o := range p.offers {
		if o.Category == "model" || o.ID == "model" {
			return p.rpc.Call(ctx, "session/set_config_option", object{"sessionId": p.id, "configId": o.ID, "value": model}, nil)
		}
	}
	err := p.rpc.Call(ctx, "session/set_model", object{"sessionId": p.id, "modelId": model}, nil)
	var theirs *jsonrpc.Error
	if errors.As(err, &theirs) && theirs.Code == jsonrpc.CodeMethodNotFound {
		return agent.ErrUnsupported
	}
	return err
}

// stop ends the process with everything it started and waits until nothing is left.
func (p *process) stop() error {
	p.once.Do(func() { p.err = p.stopOnce() })
	return p.err
}

func (p *process) stopOnce() error {
	_ = p.child.Stdin().Close() // upon which most end by themselves
	timer := time.NewTimer(stopPatience)
	defer timer.Stop()
	select {
	case <-p.rpc.Done():
	case <-timer.C:
	}
	_, err := p.child.Stop(context.Background())
	return errors.Join(err, p.rpc.Close())
}

// tail keeps the end of what a program wrote to standard error.
type tail struct {
	mu   sync.Mutex // guards last
	last []byte
}

const mostTail = 2 << 10

// Write implements [io.Writer].
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	t.last = append(t.last[:0:0], t.last[max(0, len(t.last)-mostTail):]...)
	return len(b), nil
}

// said is the last line, for a sentence about the end.
func (t *tail) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.last), []byte{'\n'})
	last := strings.ToValidUTF8(strings.TrimSpace(string(lines[len(lines)-1])), "")
	if last == "" {
		return ""
	}
	if len(last) > 200 {
		last = strings.ToValidUTF8(last[:200], "") + "…"
	}
	return ": " + last
}

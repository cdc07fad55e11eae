package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	effort string // the one it begins with
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
	c.starting = true
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
	c.starting = false
	now := c.b.cfg.choices(c.offers)
	c.mu.Unlock()
	c.b.remember(c.o.SessionID, p.id)
	c.b.keep(func(k *kept) {
		k.Version, k.Deletes, k.Choices = p.caps.AgentInfo.Version, p.caps.AgentCapabilities.SessionCapabilities.Delete != nil, now
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
	if cfg.Login != "" {
		return p.rpc.Call(ctx, "authenticate", object{"methodId": cfg.Login}, nil)
	}
	return nil
}

// deleteTheirs has the agent delete a conversation.
func (b *Backend) deleteTheirs(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	child, err := proc.Start(proc.Command{Args: b.cfg.Command, Env: b.cfg.Env, Pipes: true, Grace: time.Second})
	if err != nil {
		return err
	}
	var reader sync.WaitGroup
	p := &process{child: child, rpc: jsonrpc.New(pipes{child.Stdout(), child.Stdin()}, jsonrpc.Config{Framing: jsonrpc.Lines})}
	reader.Go(func() { _, _ = io.Copy(&p.stderr, child.Stderr()) }) // ends with the child
	if err = p.greet(ctx, b.cfg); err == nil {
		err = p.rpc.Call(ctx, "session/delete", object{"sessionId": id}, nil)
	}
	err = errors.Join(err, p.stop())
	reader.Wait()
	return err
}

func (c *conn) handshake(ctx context.Context, p *process, id string) error {
	if err := p.greet(ctx, c.b.cfg); err != nil {
		return err
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
	return object{"type": "http", "name": "webchat", "url": c.tools.URL, "headers": []any{object{"name": c.tools.Header, "value": c.tools.Value}}}, nil
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

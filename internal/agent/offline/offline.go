// Package offline is the backend that is always there: it needs no network, no key and no model. It
// understands a small language (show a file, show a picture, run a command, run the tests, stream
// some words, ask a question), does what was asked through the session's tools, and says so in
// words that it streams like every other backend. It is the default of a machine without an agent,
// the demonstration, and the agent of the end-to-end tests.
//
// Guarantees: the same prompt in the same workspace gives the same events, ids included (they
// derive from the prompt's message id). It acts only through [agent.Host].CallTool, so every act of
// it is asked for, hooked and logged. It knows of a tool's work only the tool's result for the
// model. It says that no model is connected and never pretends to be one, so it reports no usage.
//
// Concurrency: a [Backend] has no state. A Prompt works on the caller's goroutine and ends at once
// when its context does; "run COMMAND in the background" leaves one goroutine for the task, which
// ends with its command or with the conversation.
//
//	b := offline.New(offline.Config{Path: path})
//	conn, err := b.Open(ctx, agent.Options{Workspace: dir, Tools: specs}, host)
//	err = conn.Prompt(ctx, agent.Prompt{MessageID: id, Content: "show me go.mod"})
package offline

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"webchat/internal/agent"
)

// Name is the backend's.
const Name = "offline"

// Config is what the backend depends on.
type Config struct {
	// Path lists the folders commands are found in, as the variable PATH does: that of the
	// environment the session's commands get.
	Path string
}

// Backend implements [agent.Backend].
type Backend struct{ path string }

// New returns the backend.
func New(c Config) *Backend { return &Backend{path: c.Path} }

func (*Backend) Name() string { return Name }

// Info implements [agent.Backend]. The backend is always available, and able to resume because it
// keeps nothing between prompts.
func (*Backend) Info(context.Context) agent.Info {
	return agent.Info{
		Available: true,
		Counting:  agent.CountsNothing,
		Intercept: agent.InterceptRewrite,
		CanResume: true,
	}
}

// Models implements [agent.Backend]: there are none.
func (*Backend) Models(context.Context) ([]agent.Model, error) { return nil, nil }

// Open implements [agent.Backend]. A model that is asked for is not used; the helpful answer says
// so.
func (b *Backend) Open(ctx context.Context, o agent.Options, host agent.Host) (agent.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w, err := openTree(o.Workspace, b.path)
	if err != nil {
		return nil, err
	}
	w.close()
	c := &conn{
		backend: b,
		host:    host,
		options: o,
		offered: map[string]bool{},
		tasks:   map[string]context.CancelFunc{},
	}
	c.life, c.end = context.WithCancelCause(context.Background())
	for _, t := range o.Tools {
		c.offered[t.Name] = t.Name != "view"
	}
	return c, nil
}

var errClosed = errors.New("the conversation is closed")

// conn implements [agent.Conn].
type conn struct {
	backend *Backend
	host    agent.Host
	options agent.Options
	offered map[string]bool // tools by name, not written after Open

	life context.Context // ends with Close
	end  context.CancelCauseFunc

	mu     sync.Mutex // guards closed, tasks and the start of prompts
	closed bool
	tasks  map[string]context.CancelFunc // ends them
	turns  sync.WaitGroup                // and tasks
}

func (c *conn) Prompt(ctx context.Context, p agent.Prompt) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return errClosed
	}
	c.turns.Add(1)
	c.mu.Unlock()
	defer c.turns.Done()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.life, func() { cancel(errClosed) })()

	err := c.answer(ctx, p)
	if ctx.Err() == nil {
		return err
	}
	if context.Cause(ctx) == errClosed {
		return errClosed
	}
	return ctx.Err()
}

// Steer implements [agent.Conn]: a turn is over before it could be steered.
func (c *conn) Steer(context.Context, agent.Prompt) error { return agent.ErrUnsupported }

func (c *conn) SetModel(context.Context, string) error {
	return fmt.Errorf("%w, which has no models", agent.ErrUnsupported)
}

// Rewind implements [agent.Rewinder]: there is nothing to forget.
func (*conn) Rewind(ctx context.Context, _ string) error { return ctx.Err() }

// SetTitle implements [agent.Conn]; there is no other place to keep it.
func (c *conn) SetTitle(context.Context, string) error { return nil }

func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end(nil)
	c.turns.Wait()
	return nil
}

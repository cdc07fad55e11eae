package mcp

import (
	"context"
	"errors"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/released"
)

// BackendName is what clients' sessions have in the place of an agent's name.
const BackendName = "mcp"

// backend is the kind of agent of clients' sessions: it runs elsewhere, hears nothing from here and
// begins each turn by itself.
type backend struct{ s *Server }

// Backend returns the agent of clients' sessions.
func (s *Server) Backend() agent.Backend { return backend{s} }

// errElsewhere says what to do instead of a prompt.
var errElsewhere = errors.New("the agent of this session runs in another program: write your prompt there")

// Name implements [agent.Backend].
func (backend) Name() string { return BackendName }

// Info implements [agent.Backend]. Of such an agent only the calls of the session's own tools are
// seen, and hooks reach all of those.
func (backend) Info(context.Context) agent.Info {
	return agent.Info{Reason: "Such a session begins when a program that speaks MCP shows something; \"webchat mcp install\" connects one",
		Intercept: agent.InterceptRewrite, CanResume: true}
}

// Models implements [agent.Backend]: there is no choice.
func (backend) Models(context.Context) ([]agent.Model, error) { return nil, nil }

// Open implements [agent.Backend].
func (b backend) Open(_ context.Context, o agent.Options, host agent.Host) (agent.Conn, error) {
	c := &conn{s: b.s, id: o.SessionID, host: host}
	c.ctx, c.cancel = context.WithCancel(b.s.ctx)
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	b.s.conns[o.SessionID] = c
	return c, nil
}

// conn is the conversation of a session: calls of its client.
type conn struct {
	s      *Server
	id     string
	host   agent.Host
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // turns and uses; Add under mu while not closed

	mu       sync.Mutex // guards what follows
	closed   bool
	client   string // who it is, as people read it
	reads    bool   // whether it is offered what was released
	released released.Shelf
	turn     *shared // the one that calls join; nil: the next call begins one
}

// shared is a turn that lasts as long as a call of it runs.
type shared struct {
	users int           // guarded by the conn's mu
	leave func()        // ends the wait for a turn that is not needed any more
	begun chan struct{} // closed when the turn runs
	idle  chan struct{} // closed when the last user left
	over  chan struct{} // closed when the turn is over
	err   error         // of a turn that was never begun; to be read after over
}

// introduce says who calls.
func (c *conn) introduce(client string, reads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.client, c.reads = client, reads
}

// use calls f within a turn that is the client's own. It returns [ErrGone] if the conversation was
// closed.
func (c *conn) use(ctx context.Context, cause string, f func() error) error {
	t := c.join(cause)
	if t == nil {
		return ErrGone
	}
	defer c.leave(t)
	select {
	case <-t.begun:
		return f()
	case <-t.over:
		return t.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join counts a user of the client's turn, which it begins if there is none; nil if the
// conversation is closed.
func (c *conn) join(cause string) *shared {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.wg.Add(1)
	if c.turn == nil {
		ctx, cancel := context.WithCancel(c.ctx)
		t := &shared{leave: cancel, begun: make(chan struct{}), idle: make(chan struct{}), over: make(chan struct{})}
		c.turn = t
		c.wg.Go(func() { c.run(ctx, t, cause) })
	}
	c.turn.users++
	return c.turn
}

func (c *conn) leave(t *shared) {
	defer c.wg.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.users--; t.users > 0 {
		return
	}
	close(t.idle)
	t.leave()
	if c.turn == t {
		c.turn = nil
	}
}

// run is a turn, from its first call until no call of it runs any more.
func (c *conn) run(wait context.Context, t *shared, cause string) {
	defer close(t.over)
	t.err = c.host.RunTurn(wait, cause, func(ctx context.Context) error {
		close(t.begun)
		select {
		case <-t.idle:
		case <-ctx.Done(): // it was stopped: calls from now on begin another
			c.mu.Lock()
			if c.turn == t {
				c.turn = nil
			}
			c.mu.Unlock()
			<-t.idle
		}
		return ctx.Err()
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turn == t {
		c.turn = nil
	}
}

// Steer implements [agent.Conn].
func (c *conn) Steer(context.Context, agent.Prompt) error { return agent.ErrUnsupported }

// SetModel implements [agent.Conn].
func (c *conn) SetModel(context.Context, string) error { return agent.ErrUnsupported }

// SetTitle implements [agent.Conn].
func (c *conn) SetTitle(context.Context, string) error { return agent.ErrUnsupported }

// Close implements [agent.Conn].
func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.s.mu.Lock()
	if c.s.conns[c.id] == c {
		delete(c.s.conns, c.id)
	}
	c.s.mu.Unlock()
	c.wg.Wait()
	return nil
}

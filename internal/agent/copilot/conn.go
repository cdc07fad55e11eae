package copilot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/contain"
	"webchat/internal/event"
)

var errClosed = errors.New("the conversation is closed")

// conn implements [agent.Conn]. What its loop owns is touched by functions that
// were posted to it and by nothing else.
type conn struct {
	b    *Backend
	host agent.Host
	o    agent.Options
	id   string // the session's name in the CLI
	cost int64  // tokens of our definitions in one model call

	life context.Context // ends when nothing may be reported any more
	end  context.CancelFunc
	done chan struct{}   // closed when the loop has ended
	quit context.Context // ends with Close: turns are to end
	stop context.CancelFunc

	mu      sync.Mutex   // guards what follows
	p       *cli.Process // changes between turns only
	model   string       // what was asked for last, with the mode and the effort
	mode    string       // empty: this version has none
	effort  string       // empty: the model's own
	posted  []func()
	wake    chan struct{} // has room for one
	offered []string
	// excluded are tools that were offered and may not be.
	excluded   []string
	skipping   bool   // instruction files of the workspace are not loaded
	skipped    string // why, as it was said; empty: the user wants it, or they are
	freshShell bool   // each command of the CLI's shell begins in the workspace
	closed     bool
	turns      sync.WaitGroup // Prompts and steers; Add under mu while not closed
	closing    sync.Once
	breaking   sync.Once
	broken     atomic.Bool // what handled its events panicked

	loop loopState
}

// loopState is owned by the loop.
type loopState struct {
	turn   *turn
	dead   error
	agents map[string]string // helper agents -> the call (ours) that started them
	failed map[string]bool   // MCP servers whose failure was told
	retool bool              // the tools changed while no turn ran
	early  []rewrite         // of calls that have not started

	tasks     map[string]*background // by the CLI's ids
	helpers   map[string]*turn       // what helpers in the background do, by their ids
	began     map[string]bool        // our ids of helpers' tasks
	shells    []*shell
	detached  cli.Detached
	looking   bool // at the tasks
	lookAgain bool
	listing   bool // the todos
	listAgain bool
}

func newConn(b *Backend, p *cli.Process, o agent.Options, host agent.Host) *conn {
	c := &conn{b: b, p: p, model: o.Model, effort: o.Effort, host: host, o: o, id: nativeID(o.SessionID), done: make(chan struct{}), wake: make(chan struct{}, 1)}
	c.loop = loopState{agents: map[string]string{}, failed: map[string]bool{},
		tasks: map[string]*background{}, helpers: map[string]*turn{}, began: map[string]bool{}}
	c.life, c.end = context.WithCancel(context.Background())
	c.quit, c.stop = context.WithCancel(context.Background())
	c.cost = b.definitions(o.Tools)
	go c.contained(c.run)()
	return c
}

// definitions is what the tools and the guide add to each call of a model.
func (b *Backend) definitions(tools []agent.ToolSpec) (n int64) {
	if b.cfg.Count == nil {
		return 0
	}
	n = int64(b.cfg.Count(guide))
	for _, t := range tools {
		n += int64(b.cfg.Count(t.Name + "\n" + t.Description + "\n" + string(t.Parameters)))
	}
	return n
}

// run is the loop: it does what was posted, in order. The queue has no bound:
// what the CLI says of one session must not hold up the others.
func (c *conn) run() {
	defer close(c.done)
	for {
		c.mu.Lock()
		todo := c.posted
		c.posted = nil
		c.mu.Unlock()
		for _, f := range todo {
			if c.life.Err() == nil {
				c.contained(f)()
			}
		}
		if len(todo) > 0 {
			continue
		}
		select {
		case <-c.wake:
		case <-c.life.Done():
			return
		}
	}
}

// contained returns f for the loop, or for a goroutine that handles what the CLI said: a
// panic in it ends this conversation, and leaves the CLI to the others.
func (c *conn) contained(f func()) func() {
	return contain.Fence{Log: c.b.cfg.Logger, What: "a conversation with " + cli.Title, Break: c.broke}.Contained(f)
}

// broke ends the conversation after a panic: its turn returns, and the CLI stops what it does
// in it.
func (c *conn) broke(error) {
	c.breaking.Do(func() {
		c.broken.Store(true)
		c.post(func() { c.lose(agent.Broken(cli.Title)) })
		if !c.enter() {
			return // it is closed, which stops it
		}
		go c.contained(func() {
			defer c.turns.Done()
			ctx, cancel := context.WithTimeout(c.quit, abortPatience)
			defer cancel()
			_ = c.ask(ctx, "session.abort", c.named(nil), nil) // one that does not stop is destroyed by Close
			c.cancelTasks()
		})()
	})
}

// post has the loop do f. After Close it does not.
func (c *conn) post(f func()) {
	c.mu.Lock()
	c.posted = append(c.posted, f)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// enter counts a turn or something that joins one.
func (c *conn) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.turns.Add(1)
	return true
}

// named returns parameters with the session's name.
func (c *conn) named(more map[string]any) map[string]any {
	p := map[string]any{"sessionId": c.id}
	for k, v := range more {
		p[k] = v
	}
	return p
}

func (c *conn) process() *cli.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p
}

// ask asks the CLI; see [cli.Process.Call].
func (c *conn) ask(ctx context.Context, method string, params, result any) error {
	return c.process().Call(ctx, method, params, result)
}

// report tells the session. That it does not listen any more is its affair.
func (c *conn) report(d event.Data) {
	if err := c.host.Report(c.life, d); err != nil {
		c.b.cfg.Logger.Debug("copilot: a report was not taken", "type", event.TypeOf(d), "error", err)
	}
}

// SetModel implements [agent.Conn].
func (c *conn) SetModel(ctx context.Context, model string) error {
	if err := c.b.check(model); err != nil {
		return err
	}
	if !c.enter() {
		return errClosed
	}
	defer c.turns.Done()
	c.mu.Lock()
	effort := c.effort
	c.mu.Unlock()
	return c.switchTo(ctx, model, effort, effort)
}

// SetTitle implements [agent.Conn].
func (c *conn) SetTitle(ctx context.Context, title string) error {
	if !c.enter() {
		return errClosed
	}
	defer c.turns.Done()
	if err := c.ask(ctx, "session.name.set", c.named(map[string]any{"name": title}), nil); err != nil {
		return fmt.Errorf("tell the title: %w", err)
	}
	return nil
}

// Died implements [cli.Session].
func (c *conn) Died(death error) {
	c.post(func() {
		defer c.lose(cli.Lost(death))
		c.endTasks()
	})
}

// lose ends the turn of a conversation that takes no more prompts.
func (c *conn) lose(why error) {
	c.loop.dead = why
	if t := c.loop.turn; t != nil && t.pending {
		c.forgo(t)
	} else if t != nil {
		c.finish(t, why)
	}
}

// Close implements [agent.Conn].
func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.closing.Do(func() {
		c.stop()
		c.turns.Wait()
		c.cancelTasks()
		c.end()
		<-c.done
		c.destroy()
		c.loop.detached.Remove() // the loop has ended
		p := c.process()
		p.Remove(c.id)
		c.b.cli.Release(p)
	})
	return nil
}

// destroyPatience is how long the CLI may take to let go of a session: more than a
// second while it works on others.
const destroyPatience = 5 * time.Second

// destroy has the CLI let go of the session; what it kept on disk stays. One that
// takes long over it may work on other conversations: only a CLI that answers nothing
// at all is of no use to those either.
func (c *conn) destroy() {
	ctx, cancel := context.WithTimeout(context.Background(), destroyPatience)
	defer cancel()
	if c.ask(ctx, "session.destroy", c.named(nil), nil) == nil || ctx.Err() == nil {
		return
	}
	ctx, cancel = context.WithTimeout(context.Background(), destroyPatience)
	defer cancel()
	if c.ask(ctx, "ping", struct{}{}, nil) != nil && ctx.Err() != nil {
		c.b.cfg.Logger.Warn("copilot: the CLI answers nothing any more and is restarted")
		c.process().Quit()
	}
}

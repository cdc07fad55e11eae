package convo

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
)

// Config is what a Conversation works with. Title, Host and Agent are needed.
type Config struct {
	Title   string // of the agent, as people call it
	Options agent.Options
	Host    agent.Host
	Agent   Agent
	// Silence is how long an agent may show no sign of life before the user is warned, Stall how
	// long before its turn is ended; 0 means for ever.
	Silence, Stall time.Duration
	// Broke stops what the agent does in a conversation that a panic ended. It runs in a goroutine
	// that Close waits for. nil: the conversation's own program is ended.
	Broke  func()
	Logger *slog.Logger // nil: nothing is logged
}

// Agent is what a backend does in its conversation.
type Agent interface {
	// Ready has the agent's process running, before each turn.
	Ready(ctx context.Context) error
	// Send gives the agent the prompt of t and returns when it was taken. The end of the turn is
	// reported by [Turn.End]; an error is one, too.
	Send(t *Turn, p agent.Prompt) error
	// Abort stops t and returns when it has ended; see [Conversation.Stop].
	Abort(t *Turn)
	// Finish reports, on the loop, what t left open.
	Finish(t *Turn)
	// End releases what the backend keeps for the conversation, after its last turn.
	End()
}

// Settler is an Agent that has more to ask of its program after each turn.
type Settler interface{ Settle(t *Turn) }

// Conversation is one conversation. Its methods may be called concurrently.
type Conversation struct {
	Config
	*loop
	end  context.CancelFunc // of the loop's life, with the last report that is taken
	quit context.Context    // ends with Close
	stop context.CancelFunc

	uses    sync.WaitGroup // goroutines beside the turns; Add under mu while not closed
	entered sync.WaitGroup // calls of the session; Add under mu while not closed
	closing sync.Once
	unlend  func() // ends what Lend began; touched while the program starts and by Close
	lent    agent.Lent

	mu       sync.Mutex // guards what follows
	closed   bool
	broken   bool
	turn     *Turn
	program  *jsonrpc.Program // nil: it ended, or there is none
	starting bool             // the program is not ready
}

// New returns a Conversation, which has to be closed.
func New(c Config) *Conversation {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	v := &Conversation{Config: c}
	life, end := context.WithCancel(context.Background())
	v.loop, v.end = newLoop(life, v.Contained), end
	v.quit, v.stop = context.WithCancel(context.Background())
	go v.Contained(v.run)()
	return v
}

// Report reports an event to the session, which may refuse it.
func (c *Conversation) Report(d event.Data) {
	if err := c.Host.Report(c.life, d); err != nil {
		c.Logger.Debug("a report was refused", "agent", c.Title, "type", event.TypeOf(d), "error", err)
	}
}

// Warn reports something that a person should know and that ends nothing.
func (c *Conversation) Warn(kind event.ErrorKind, format string, args ...any) {
	c.Report(event.SessionError{
		ErrorType: event.ErrorWarning,
		Kind:      kind,
		Message:   fmt.Sprintf(format, args...),
	})
}

// Contained returns f for what handles the agent's words: a panic in it ends the conversation.
func (c *Conversation) Contained(f func()) func() {
	return contain.Fence{
		Log:   c.Logger,
		What:  "a conversation with " + c.Title,
		Break: c.broke,
	}.Contained(f)
}

// broke ends the conversation after a panic: its turn returns, and the agent is stopped.
func (c *Conversation) broke(error) {
	c.mu.Lock()
	again := c.broken
	c.broken = true
	t := c.turn
	c.mu.Unlock()
	if again {
		return
	}
	if t != nil {
		c.Post(func() { t.End(agent.Broken(c.Title)) })
	}
	c.Spawn(func() {
		if c.Broke != nil {
			c.Broke()
			return
		}
		c.drop(c.Program(), 0)
	})
}

// Broken reports whether a panic ended the conversation.
func (c *Conversation) Broken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// Spawn runs f, contained, in a goroutine that Close waits for. After Close it does not.
func (c *Conversation) Spawn(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.uses.Go(c.Contained(f))
	}
}

// Quit returns a context that ends when Close is called.
func (c *Conversation) Quit() context.Context { return c.quit }

// Life returns a context that ends with the conversation, when nothing of it is left.
func (c *Conversation) Life() context.Context { return c.life }

// ErrClosed is returned by calls of a conversation that is closed.
var ErrClosed = fmt.Errorf("%w: the conversation is closed", agent.ErrDied)

// Enter counts a call of the session that Close waits for, until exit is called. The error is
// [ErrClosed].
func (c *Conversation) Enter() (exit func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	c.entered.Add(1)
	return c.entered.Done, nil
}

// Close implements [agent.Conn].
func (c *Conversation) Close() error {
	c.closing.Do(func() {
		c.mu.Lock()
		c.closed = true
		t := c.turn
		c.mu.Unlock()
		c.stop()
		if t != nil {
			t.cancel(ErrClosed)
		}
		for range 2 { // a prompt may have been starting another one
			c.Drop(c.Program())
			c.entered.Wait()
		}
		c.Agent.End()
		if c.unlend != nil {
			c.unlend()
		}
		c.uses.Wait()
		c.end()
		<-c.done
	})
	return nil
}

// Steer implements [agent.Conn] for agents that cannot.
func (c *Conversation) Steer(context.Context, agent.Prompt) error { return agent.ErrUnsupported }

// SetTitle implements [agent.Conn] for agents that keep none.
func (c *Conversation) SetTitle(context.Context, string) error { return agent.ErrUnsupported }

// Lend makes the session's tools reachable for the agent, once: call is [Conversation.CallTool] or
// calls it.
func (c *Conversation) Lend(lend agent.Lender,
	call func(context.Context, agent.ToolCall) (agent.Result, error)) (agent.Lent, error) {
	if c.unlend == nil {
		lent, end, err := lend(c.Options.SessionID, c.Options.Tools, call)
		if err != nil {
			return agent.Lent{}, err
		}
		c.lent, c.unlend = lent, end
	}
	return c.lent, nil
}

// CallTool makes a call of one of the session's tools for the agent.
func (c *Conversation) CallTool(ctx context.Context, call agent.ToolCall) (agent.Result, error) {
	t, ctx, done := c.Join(ctx)
	if t == nil {
		return agent.Failure(event.KindAborted, "No turn runs, so nothing was done."), nil
	}
	defer done()
	return c.Host.CallTool(ctx, call)
}

// Died is the end of a turn with its agent's process, as people read it; last is what that wrote
// last, if anything.
func (c *Conversation) Died(last string) error {
	return fmt.Errorf("%w: %s%s", agent.ErrDied, c.Title, last)
}

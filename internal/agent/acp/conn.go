package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
)

// conn is one conversation.
type conn struct {
	b       *Backend
	o       agent.Options
	host    agent.Host
	uses    sync.WaitGroup // calls of tools and questions; Add under mu while not closed
	prompts sync.WaitGroup // Add under mu while not closed
	once    sync.Once      // of end

	tools  agent.Lent // where the session's tools are; with unlend
	unlend func()

	mu       sync.Mutex // guards what follows
	process  *process   // nil: it ended
	closed   bool
	starting bool // what the agent replays is dropped
	turn     *turn
	offers   offers
	want     wanted
	choosing int // choices of the user's that are on their way

	alike atomic.Bool // a server of the user's has a name that begins like ours

	told    sync.Mutex       // guards what follows, and what is said of the turn; held while that is reported
	calls   map[string]*call // of the turn, by the agent's ids
	noticed map[string]bool  // notices that were told
}

// wanted is what the user chose; empty: nothing.
type wanted struct{ model, mode, effort string }

// turn is a running prompt.
type turn struct {
	ctx     context.Context
	tell    context.Context // what happens while it stops belongs to it still
	cancel  context.CancelFunc
	saying  saying           // guarded by conn.told
	failure string           // an error that came as text, if nothing followed; guarded by conn.told
	over    bool             // no further events are reported for it; guarded by conn.told
	busy    int              // questions and calls of our tools that run; guarded by conn.mu
	came    []agent.ToolCall // calls of our tools whose end is not reported yet; guarded by conn.mu
	tools   sync.WaitGroup   // calls of our tools; Add under conn.mu while ctx lasts
	sign    chan struct{}    // has room for one: a sign of life
	refused map[string]bool  // acts that were asked of webchat; guarded by conn.told
	allowed map[string]int   // edits that were, by absolute path; guarded by conn.told
}

// Prompt implements [agent.Conn].
func (c *conn) Prompt(ctx context.Context, p agent.Prompt) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fmt.Errorf("%w: the conversation is closed", agent.ErrDied)
	}
	c.prompts.Add(1)
	c.mu.Unlock()
	defer c.prompts.Done()
	running, err := c.running(ctx)
	if err != nil {
		return err
	}
	t := &turn{sign: make(chan struct{}, 1), refused: map[string]bool{}, allowed: map[string]int{}}
	t.ctx, t.cancel = context.WithCancel(ctx)
	t.tell = context.WithoutCancel(ctx)
	defer t.cancel()
	c.told.Lock()
	clear(c.calls)
	c.told.Unlock()
	c.mu.Lock()
	c.turn = t
	c.mu.Unlock()
	watched := make(chan struct{})
	go running.rpc.Contained(func() { defer close(watched); c.watch(t) })()
	var answer json.RawMessage
	err = c.call(ctx, running, object{"sessionId": running.id, "prompt": c.blocks(running, p)}, &answer)
	var got answered
	_ = decode(answer, &got) // there is none, or as much of it as has its type
	c.mu.Lock()
	t.cancel() // from here on no call of a tool begins
	c.mu.Unlock()
	<-watched
	t.tools.Wait()
	if err == nil {
		c.missTools(t)
	}
	failure := c.finish(t, got)
	c.mu.Lock()
	c.turn = nil
	c.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, contain.ErrPanic):
		c.drop(running)
		return agent.Broken(c.b.cfg.Title)
	case errors.Is(err, jsonrpc.ErrClosed):
		c.drop(running)
		return fmt.Errorf("%w: %s%s", agent.ErrDied, c.b.cfg.Title, running.rpc.Said())
	case err != nil:
		return c.failed(err)
	case failure != "":
		return fmt.Errorf("%s failed: %s", c.b.cfg.Title, failure)
	}
	return nil
}

// missTools tells the user, once, when the agent answered and never asked which tools the
// session has: it does not reach them, which agents say nothing of.
func (c *conn) missTools(t *turn) {
	const tools = "webchat's tools" // no server is called so
	if c.tools.Listed == nil || c.tools.Listed() {
		return
	}
	c.told.Lock()
	known := c.noticed[tools]
	c.noticed[tools] = true
	c.told.Unlock()
	if !known {
		c.report(t.tell, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindProvider,
			Message: c.b.cfg.Title + " did not reach webchat's tools, so it cannot show you anything here. If a proxy is set (HTTP_PROXY), set NO_PROXY=localhost,127.0.0.1, too."})
	}
}

// failed is an error of the agent as people read it.
func (c *conn) failed(err error) error {
	var theirs *jsonrpc.Error
	if !errors.As(err, &theirs) {
		return err
	}
	if theirs.Code == codeLogin || theirs.Code == 401 {
		return c.b.signIn()
	}
	return fmt.Errorf("%s failed: %s", c.b.cfg.Title, said(theirs.Message))
}

// running returns the agent's process, started again if it ended.
func (c *conn) running(ctx context.Context) (*process, error) {
	c.mu.Lock()
	p, closed := c.process, c.closed
	c.mu.Unlock()
	switch {
	case closed:
		return nil, fmt.Errorf("%w: the conversation is closed", agent.ErrDied)
	case p != nil:
		return p, nil
	}
	id := c.b.recollect(c.o.SessionID)
	err := c.start(ctx, id)
	if id != "" && forgot(ctx, err) {
		c.dropCurrent()
		if err = c.start(ctx, ""); err == nil {
			c.report(context.WithoutCancel(ctx), event.SessionError{ErrorType: event.ErrorForgotten, Kind: event.KindInterrupted,
				Message: c.b.cfg.Title + " does not remember what was said before here: it begins anew. All of it can be given to it with your next prompt."})
		}
	}
	if err != nil {
		c.dropCurrent()
		return nil, fmt.Errorf("%w: %w", agent.ErrDied, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process, nil
}

// forgot reports whether an agent that was to go on with a conversation failed since it
// cannot, and not for another reason.
func forgot(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, agent.ErrUnavailable)
}

// dropCurrent leaves the process that was started last.
func (c *conn) dropCurrent() {
	c.mu.Lock()
	p := c.process
	c.mu.Unlock()
	c.drop(p)
}

// drop leaves a process that ended, or does not react.
func (c *conn) drop(p *process) {
	c.mu.Lock()
	if c.process == p {
		c.process = nil
	}
	c.mu.Unlock()
	if p == nil {
		return
	}
	if err := p.rpc.Stop(stopPatience); err != nil {
		c.b.cfg.Logger.Warn("an agent did not end cleanly", "agent", c.b.cfg.Name, "error", err)
	}
}

// dropDead drops an agent that ended by itself while no turn ran, so that it is started
// again for the next prompt instead of failing it.
func (c *conn) dropDead(p *process) {
	defer c.uses.Done()
	<-p.rpc.Done()
	c.mu.Lock()
	alone := c.process == p && c.turn == nil && !c.starting && !c.closed
	c.mu.Unlock()
	if alone {
		c.drop(p)
		c.b.cfg.Logger.Info("an agent ended by itself; it is started again for the next prompt", "agent", c.b.cfg.Name, "said", p.rpc.Said())
	}
}

// call sends a prompt and waits for its end. When ctx ends it tells the agent, and
// ends it if that does not help.
func (c *conn) call(ctx context.Context, p *process, params object, got *json.RawMessage) error {
	done := make(chan error, 1)
	alive, over := context.WithCancel(context.WithoutCancel(ctx))
	defer over()
	go p.rpc.Contained(func() { done <- p.rpc.Call(alive, "session/prompt", params, got) })()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	soon, cancel := context.WithTimeout(alive, stopPatience)
	defer cancel()
	_ = p.rpc.Notify(soon, "session/cancel", object{"sessionId": p.id}) // else it is ended below
	select {
	case err := <-done:
		return err
	case <-soon.Done():
	}
	c.drop(p)
	over()
	return <-done
}

// blocks is a prompt as the agent takes it.
func (c *conn) blocks(p *process, from agent.Prompt) []any {
	text := from.Content
	takes := p.caps.AgentCapabilities.PromptCapabilities
	var more []any
	for _, a := range from.Attachments {
		switch {
		case a.Path != "":
			more = append(more, object{"type": "resource_link", "uri": "file://" + a.Path, "name": a.Name})
		case strings.HasPrefix(a.MimeType, "image/") && takes.Image:
			more = append(more, object{"type": "image", "mimeType": a.MimeType, "data": base64.StdEncoding.EncodeToString(a.Data)})
		case strings.HasPrefix(a.MimeType, "image/"):
			text += fmt.Sprintf("\n\n(The user attached the picture %s, which you cannot see.)", a.Name)
		default:
			text += fmt.Sprintf("\n\nThe user attached %s:\n%s", a.Name, strings.ToValidUTF8(string(a.Data), "\uFFFD"))
		}
	}
	return append([]any{object{"type": "text", "text": text}}, more...)
}

// watch tells the user when the agent shows no sign of life.
func (c *conn) watch(t *turn) {
	timer := time.NewTimer(c.b.cfg.Silence)
	defer timer.Stop()
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-t.sign:
			timer.Reset(c.b.cfg.Silence)
		case <-timer.C:
			c.mu.Lock()
			busy := t.busy
			c.mu.Unlock()
			if busy > 0 {
				timer.Reset(c.b.cfg.Silence)
				continue
			}
			c.report(t.tell, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindTimeout,
				Message: fmt.Sprintf("%s has shown no sign of life for %v. Stop it, or wait.", c.b.cfg.Title, c.b.cfg.Silence)})
			select { // it is said once
			case <-t.ctx.Done():
				return
			case <-t.sign:
			}
			timer.Reset(c.b.cfg.Silence)
		}
	}
}

// Steer implements [agent.Conn].
func (c *conn) Steer(context.Context, agent.Prompt) error { return agent.ErrUnsupported }

// SetTitle implements [agent.Conn].
func (c *conn) SetTitle(context.Context, string) error { return agent.ErrUnsupported }

// Close implements [agent.Conn].
func (c *conn) Close() error {
	c.end()
	return nil
}

// end ends the conversation and waits until nothing of it is left.
func (c *conn) end() { c.once.Do(c.endOnce) }

func (c *conn) endOnce() {
	c.mu.Lock()
	t := c.turn
	c.closed = true
	c.mu.Unlock()
	if t != nil {
		t.cancel()
	}
	for range 2 { // a prompt may have been starting another one
		c.dropCurrent()
		c.prompts.Wait()
	}
	if c.unlend != nil {
		c.unlend()
		c.unlend = nil
	}
	c.uses.Wait()
}

// report tells the session what happened. It refuses what comes after the turn.
func (c *conn) report(ctx context.Context, d event.Data) {
	if err := c.host.Report(ctx, d); err != nil {
		c.b.cfg.Logger.Debug("a report was refused", "agent", c.b.cfg.Name, "type", event.TypeOf(d), "error", err)
	}
}

package convo

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
)

// StopPatience is how long an agent may take to end by itself, and to stop a turn.
const StopPatience = 700 * time.Millisecond

// Launch is how the program of one conversation is started.
type Launch struct {
	Command proc.Command
	// RPC is how it is spoken with; what Notify gets is handled on the loop.
	RPC      jsonrpc.Config
	Patience time.Duration // for it to get ready
	Missing  string        // what to say of a program that is not there
	// Ready returns when the program has begun, or went on with, its conversation.
	Ready func(ctx context.Context, p *jsonrpc.Program) error
}

// Launch starts the program and waits until it is ready. A program that fails stays until it is
// dropped.
func (c *Conversation) Launch(ctx context.Context, l Launch) error {
	ctx, cancel := context.WithTimeout(ctx, l.Patience)
	defer cancel()
	p, err := c.startProgram(l)
	if err != nil {
		return err
	}
	err = l.Ready(ctx, p)
	switch {
	case err == nil:
		c.mu.Lock()
		c.starting = false
		c.mu.Unlock()
		return nil
	case c.Broken():
		return agent.Broken(c.Title)
	case errors.Is(err, jsonrpc.ErrClosed):
		c.Drop(p) // then all it wrote was read
		return fmt.Errorf("%w: %s ended while it started%s", agent.ErrUnavailable, c.Title, p.Said())
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %s did not get ready within %v%s", agent.ErrUnavailable, c.Title,
			l.Patience, p.Said())
	}
	return err
}

func (c *Conversation) startProgram(l Launch) (*jsonrpc.Program, error) {
	var p *jsonrpc.Program
	started := make(chan struct{}) // what it reports is handled once it is known
	notify, request := l.RPC.Notify, l.RPC.Request
	if request != nil {
		l.RPC.Request = func(ctx context.Context, method string, params json.RawMessage) (answer any,
			err error) {
			err = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "internal error"}
			c.Contained(func() { answer, err = request(ctx, method, params) })()
			return answer, err
		}
	}
	l.RPC.Notify = func(method string, params json.RawMessage) {
		<-started
		c.Do(func() {
			if c.Program() == p {
				notify(method, params)
			}
		})
	}
	l.RPC.Framing, l.RPC.Logger, l.Command.Grace = jsonrpc.Lines, c.Logger, time.Second
	p, err := jsonrpc.Start(l.Command, l.RPC)
	defer close(started)
	switch {
	case errors.Is(err, proc.ErrNotFound):
		return nil, fmt.Errorf("%w: %s", agent.ErrUnavailable, l.Missing)
	case err != nil:
		return nil, fmt.Errorf("start %s: %w", c.Title, err)
	}
	c.mu.Lock()
	c.program, c.starting = p, true
	c.uses.Go(c.Contained(func() { c.watchProgram(p) })) // it is a call of the session that starts it
	c.mu.Unlock()
	return p, nil
}

// watchProgram ends the turn of a program that ended by itself. One that did between turns is
// started again for the next prompt.
func (c *Conversation) watchProgram(p *jsonrpc.Program) {
	if <-p.Done(); errors.Is(p.Err(), contain.ErrPanic) {
		c.broke(p.Err())
	}
	c.mu.Lock()
	alone := c.program == p && c.turn == nil && !c.starting && !c.closed
	c.mu.Unlock()
	c.Drop(p)
	if alone {
		c.Logger.Info("an agent ended by itself; it is started again for the next prompt", "agent",
			c.Title, "said", p.Said())
	}
	if t := c.Turn(); t != nil && t.program == p && t.Ctx.Err() == nil {
		c.Do(func() { t.End(c.Died(p.Said())) })
	}
}

// Starting reports whether the program is not ready yet.
func (c *Conversation) Starting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.starting
}

// Program returns the conversation's program; nil if it ended, or there is none.
func (c *Conversation) Program() *jsonrpc.Program {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.program
}

// Running has the program running: it calls start if it has ended. The error wraps [agent.ErrDied].
func (c *Conversation) Running(ctx context.Context, start func(context.Context) error) error {
	c.mu.Lock()
	p, closed := c.program, c.closed
	c.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case p != nil:
		select {
		case <-p.Done():
			c.Drop(p)
		default:
			return nil
		}
	}
	if err := start(ctx); err != nil {
		c.Drop(c.Program())
		return fmt.Errorf("%w: %w", agent.ErrDied, err)
	}
	return nil
}

// Drop ends the program if it is p, and waits until nothing of p is left.
func (c *Conversation) Drop(p *jsonrpc.Program) { c.drop(p, StopPatience) }

func (c *Conversation) drop(p *jsonrpc.Program, patience time.Duration) {
	if p == nil {
		return
	}
	c.mu.Lock()
	if c.program == p {
		c.program = nil
	}
	c.mu.Unlock()
	if err := p.Stop(patience); err != nil {
		c.Logger.Warn("an agent did not end cleanly", "agent", c.Title, "error", err)
	}
}

// Stop has ask stop t, and ends the program if t has not ended soon after.
func (c *Conversation) Stop(t *Turn, ask func(ctx context.Context, p *jsonrpc.Program)) {
	if p := t.program; p != nil {
		soon, cancel := context.WithTimeout(context.Background(), StopPatience)
		defer cancel()
		t.Spawn(func() { ask(soon, p) })
		select {
		case <-t.Done:
		case <-p.Done():
		case <-soon.Done():
			c.Drop(p)
		}
	}
	c.Do(func() { t.End(nil) })
}

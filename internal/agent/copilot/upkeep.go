package copilot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
)

// abilities are what a user may have the CLI do with a conversation, or see of it.
var abilities = []agent.Ability{agent.CanCompact, agent.CanClear, agent.CanContext,
	agent.CanInstructions, agent.CanHelpers, agent.CanSkills}

// running runs f with a process that runs, during which Close waits.
func (c *conn) running(ctx context.Context, f func() error) error {
	return c.During(func() error {
		if err := c.Ready(ctx); err != nil {
			return err
		}
		return f()
	})
}

func (c *conn) Compact(ctx context.Context, focus string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.Quit(), func() { cancel(convo.ErrClosed) })()
	return c.running(ctx, func() error { return c.compact(ctx, focus) })
}

func (c *conn) compact(ctx context.Context, focus string) error {
	ended := make(chan error, 1)
	go c.Contained(func() {
		ended <- c.ask(context.WithoutCancel(ctx), "session.history.compact",
			map[string]any{"customInstructions": focus, "trigger": "manual"}, nil)
	})()
	select {
	case err := <-ended:
		c.Do(func() {}) // its events were reported
		switch {
		case err == nil:
			return nil
		case strings.Contains(err.Error(), "Nothing to compact"):
			return errors.New(
				"there is nothing to sum up yet: nothing was said that a summary could replace")
		}
		return fmt.Errorf("sum up the conversation: %w", c.b.cli.Explain(err))
	case <-ctx.Done():
	}
	limited, stop := context.WithTimeout(context.Background(), abortPatience)
	defer stop()
	for {
		_ = c.ask(limited, "session.history.abortManualCompaction", nil, nil) // it may not have begun
		select {
		case <-ended:
			return context.Cause(ctx)
		case <-limited.Done():
			c.process().Quit() // which ends the call
			<-ended
			return fmt.Errorf("%w: %w", context.Cause(ctx),
				cli.Died("GitHub Copilot CLI did not stop when it was asked to"))
		case <-time.After(settlePatience):
		}
	}
}

// Clear implements [agent.Clearer]. session.history.clearContext works within a call of a tool
// only, so the CLI's session is deleted and made anew.
func (c *conn) Clear(ctx context.Context) error {
	return c.running(ctx, func() error {
		p := c.process()
		c.destroy()
		p.Remove(c.id)
		err := c.b.Forget(ctx, c.Options.SessionID)
		if err == nil {
			err = c.open(ctx, p, false)
		}
		if err != nil {
			return fmt.Errorf("begin anew: %w", cli.Died(err.Error())) // this conversation is of no more use
		}
		return nil
	})
}

// Rewind implements [agent.Rewinder]. session.history.truncate takes the id of a user.message
// event, and removes it with all events after it (1.0.102).
func (c *conn) Rewind(ctx context.Context, promptID string) error {
	err := c.running(ctx, func() error {
		return c.ask(ctx, "session.history.truncate", map[string]any{"eventId": promptID}, nil)
	})
	if err != nil && strings.Contains(err.Error(), "not found") {
		return fmt.Errorf("GitHub Copilot CLI no longer knows this prompt: %w", agent.ErrUnsupported)
	}
	return c.b.cli.Explain(err)
}

var (
	_ agent.Compacter = (*conn)(nil)
	_ agent.Clearer   = (*conn)(nil)
	_ agent.Describer = (*conn)(nil)
	_ agent.Rewinder  = (*conn)(nil)
)

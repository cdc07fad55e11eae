package copilot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/cli"
)

// abilities are what a user may have the CLI do with a conversation, or see of it.
var abilities = append([]agent.Ability{agent.CanCompact, agent.CanClear}, insideParts()...)

// Compact implements [agent.Compacter].
func (c *conn) Compact(ctx context.Context, focus string) error {
	if !c.enter() {
		return errClosed
	}
	defer c.turns.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.quit, func() { cancel(errClosed) })()
	if err := c.revive(ctx); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go c.contained(func() {
		ended <- c.ask(context.WithoutCancel(ctx), "session.history.compact", c.named(map[string]any{"customInstructions": focus, "trigger": "manual"}), nil)
	})()
	select {
	case err := <-ended:
		return c.compacted(err)
	case <-ctx.Done():
	}
	limited, stop := context.WithTimeout(context.Background(), abortPatience)
	defer stop()
	for {
		_ = c.ask(limited, "session.history.abortManualCompaction", c.named(nil), nil) // it may not have begun
		settle := time.NewTimer(settlePatience)
		select {
		case <-ended:
			settle.Stop()
			return context.Cause(ctx)
		case <-limited.Done():
			settle.Stop()
			c.process().Quit() // which ends the call
			<-ended
			return fmt.Errorf("%w: %w", context.Cause(ctx), cli.Died("GitHub Copilot CLI did not stop when it was asked to"))
		case <-settle.C:
		}
	}
}

// compacted puts the end of a compaction into words, once its events were reported.
func (c *conn) compacted(err error) error {
	reported := make(chan struct{})
	c.post(func() { close(reported) })
	<-reported // the loop ends behind us
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "Nothing to compact"):
		return errors.New("there is nothing to sum up yet: nothing was said that a summary could replace")
	}
	return fmt.Errorf("sum up the conversation: %w", c.b.cli.Explain(err))
}

// Clear implements [agent.Clearer]. session.history.clearContext works within a call of a
// tool only, so the CLI's session is deleted and made anew.
func (c *conn) Clear(ctx context.Context) error {
	if !c.enter() {
		return errClosed
	}
	defer c.turns.Done()
	if err := c.revive(ctx); err != nil {
		return err
	}
	p := c.process()
	c.destroy()
	p.Remove(c.id)
	err := c.b.Forget(ctx, c.o.SessionID)
	if err == nil {
		err = c.open(ctx, p, false)
	}
	if err != nil {
		return fmt.Errorf("begin anew: %w", cli.Died(err.Error())) // this conversation is of no more use
	}
	return nil
}

// Describe implements [agent.Describer].
func (c *conn) Describe(ctx context.Context) (agent.Inside, error) {
	if !c.enter() {
		return agent.Inside{}, errClosed
	}
	defer c.turns.Done()
	if err := c.revive(ctx); err != nil {
		return agent.Inside{}, err
	}
	all, err := describeInside(ctx, c.about, c.b.cfg.Count)
	if err != nil {
		return all, c.b.cli.Explain(err)
	}
	if all.Context != nil {
		all.Context.Model = ourModel(all.Context.Model)
	}
	return all, nil
}

// about is an [askSession].
func (c *conn) about(ctx context.Context, method string, more map[string]any, result any) error {
	return c.ask(ctx, method, c.named(more), result)
}

var (
	_ agent.Compacter = (*conn)(nil)
	_ agent.Clearer   = (*conn)(nil)
	_ agent.Describer = (*conn)(nil)
)

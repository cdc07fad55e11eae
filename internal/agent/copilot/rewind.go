package copilot

import (
	"context"
	"fmt"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/cli"
)

// Rewind implements [agent.Rewinder]. session.history.truncate takes the id of a
// user.message event, and removes it with all events after it (1.0.102).
func (c *conn) Rewind(ctx context.Context, promptID string) error {
	if !c.enter() {
		return errClosed
	}
	defer c.turns.Done()
	if err := c.revive(ctx); err != nil {
		return err
	}
	err := c.ask(ctx, "session.history.truncate", c.named(map[string]any{"eventId": promptID}), nil)
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "not found"):
		return fmt.Errorf("GitHub Copilot CLI does not know this prompt any more: %w", agent.ErrUnsupported)
	}
	return c.b.cli.Explain(err)
}

// onUserMessage notes that the CLI began with a prompt, and how it calls that.
func (c *conn) onUserMessage(e cli.Event) {
	d, ok := decode[struct{ MessageID string }](c, e)
	if !ok {
		return
	}
	t := c.loop.turn
	if t.steps == 0 && !t.heard { // else it joins the turn
		t.native = e.ID
	}
	t.heardOf(d.MessageID)
}

var _ agent.Rewinder = (*conn)(nil)

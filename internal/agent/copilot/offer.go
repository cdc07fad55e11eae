package copilot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"webchat/internal/agent"
)

// ToolNames implements [agent.ToolNamer].
func (*Backend) ToolNames() []string { return slices.Clone(knownTools) }

// errExposed says that the offered tools are not what they have to be.
var errExposed = errors.New("the session was not started, because")

// inspect reads back which tools are offered, and excludes those that are not
// allowed. The CLI ignores a wrong list in silence, so the list of what it offers is
// the only sign.
func (c *conn) inspect(ctx context.Context) error {
	excess, err := c.look(ctx)
	if err != nil {
		return err
	}
	if len(excess) > 0 {
		c.mu.Lock()
		c.excluded = append(c.excluded, excess...) // it stays so, also in another process
		excluded := slices.Clone(c.excluded)
		c.mu.Unlock()
		c.b.cfg.Logger.Warn("copilot: tools of the CLI are left out", "tools", excess)
		if err := c.ask(ctx, "session.options.update", c.named(map[string]any{"excludedTools": excluded}), nil); err != nil {
			return c.b.cli.Explain(err)
		}
		if excess, err = c.look(ctx); err != nil {
			return err
		}
	}
	if len(excess) > 0 {
		why := "which could act without asking you"
		if excess[0] == hiddenTool {
			why = "which would send files to the model"
		}
		return c.exposed("offers the tool %q, %s, and does not leave it out", excess[0], why)
	}
	for _, t := range c.o.Tools {
		if !slices.Contains(c.tools(), t.Name) {
			return c.exposed("does not offer the display tool %s", t.Name)
		}
	}
	return nil
}

func (c *conn) exposed(format string, args ...any) error {
	return fmt.Errorf("%w: %w GitHub Copilot CLI %s; please report the CLI's version %s", agent.ErrUnavailable, errExposed,
		fmt.Sprintf(format, args...), c.process().Version())
}

// look reads which tools are offered and returns those that may not be.
func (c *conn) look(ctx context.Context) (excess []string, err error) {
	var list struct{ Tools []offeredTool }
	err = readySession(ctx, c.about)
	if err == nil {
		err = c.about(ctx, "session.tools.getCurrentMetadata", nil, &list)
	}
	if err != nil {
		return nil, c.b.cli.Explain(err)
	}
	var names []string
	fresh := false
	for _, t := range list.Tools {
		names = append(names, t.Name)
		_, configured := c.b.cfg.MCPServers[t.MCPServerName]
		switch {
		case t.ReachesOut():
			excess = append(excess, t.Name)
		case configured, t.MCPServerName == "" && (slices.Contains(knownTools, t.Name) || c.owns(t.Name)):
		default:
			excess = append(excess, t.Name)
		}
		fresh = fresh || t.FreshShell()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offered, c.freshShell = names, fresh
	return excess, nil
}

// tools are the names of what is offered, as it was seen last.
func (c *conn) tools() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.offered)
}

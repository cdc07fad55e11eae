package acp

import (
	"context"
	"fmt"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/policy"
	"webchat/internal/proc"
)

// command is how the agent is started in the workspace. Its instruction files are judged before:
// one that leads to a secret or outside would be sent with the first prompt.
func (c *conn) command(ctx context.Context) (proc.Command, error) {
	cfg := c.b.cfg
	found := policy.FindInstructions(c.Options.Workspace,
		policy.Loads{Above: true, Outside: true, Home: cfg.UserHome})
	added := cfg.Instructed
	switch skips := cfg.skips(); {
	case found.Wrong != "" && !skips:
		return proc.Command{},
			fmt.Errorf(
				"%w: %s loads the instruction files of a folder, and %s; change that, or choose another agent",
				agent.ErrUnavailable, cfg.Title, found.Wrong)
	case found.Wrong != "":
		c.Post(func() {
			c.Warn(event.KindProvider,
				"No instruction file of this folder was loaded: %s. Change that, or start webchat with "+
					"--instructions off.", found.Wrong)
		})
		added = cfg.Uninstructed
	case cfg.NoInstructions && skips:
		added = cfg.Uninstructed
	}
	cmd := proc.Command{
		Args: append(cfg.command(c.Options.SessionID), added.Args...),
		Dir:  c.Options.Workspace,
		Env:  append(slices.Clone(cfg.Env), added.Env...),
	}
	return cfg.confine(ctx, c.Options.Workspace, cmd)
}

// confine is [Config].Confine, if there is one.
func (c Config) confine(ctx context.Context, workspace string,
	cmd proc.Command) (proc.Command, error) {
	if c.Confine == nil {
		return cmd, nil
	}
	if _, err := proc.LookUp(cmd); err != nil {
		return cmd, nil // which says that it is not installed
	}
	cmd, err := c.Confine(ctx, workspace, cmd)
	if err != nil {
		err = fmt.Errorf("%w: %w", agent.ErrUnavailable, err)
	}
	return cmd, err
}

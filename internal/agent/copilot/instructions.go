package copilot

import (
	"context"

	"webchat/internal/event"
	"webchat/internal/policy"
)

// Instructions implements [agent.Instructor]. Version 1.0.102 was seen to load what
// [policy.FindInstructions] finds for the zero [policy.Loads]; it follows links to any file of the
// machine, and imports .env as it does anything else.
func (b *Backend) Instructions(folder string) []string {
	i := policy.FindInstructions(folder, policy.Loads{})
	if b.cfg.NoInstructions || i.Wrong != "" { // none is loaded
		return nil
	}
	return i.Files
}

// skipInstructions reports whether the CLI is to load no instruction files, and why if that is not
// what the user wanted.
func (c *conn) skipInstructions() (skip bool, why string) {
	if c.b.cfg.NoInstructions {
		return true, ""
	}
	why = policy.FindInstructions(c.Options.Workspace, policy.Loads{}).Wrong
	return why != "", why
}

// skipping are the parameters that keep instruction files out of prompts. The general-purpose
// helper agent loads them all the same, so it is left out as well.
func skipping(skip bool) map[string]any {
	agents := []string{}
	if skip {
		agents = []string{"general-purpose"}
	}
	return map[string]any{"skipCustomInstructions": skip, "excludedBuiltinAgents": agents}
}

// instruct looks before a prompt whether the instruction files of the workspace may still be
// loaded, since they may have changed, and reports if not.
func (c *conn) instruct(ctx context.Context) error {
	skip, why := c.skipInstructions()
	c.mu.Lock()
	changed, news := skip != c.skipping, why != c.skipped
	c.skipping, c.skipped = skip, why
	c.mu.Unlock()
	if changed {
		if err := c.ask(ctx, "session.options.update", skipping(skip), nil); err != nil {
			return err
		}
	}
	if news && why != "" {
		c.Post(func() {
			c.Warn(event.KindProvider, "No instruction file of this folder was loaded: %s. Change that, or start webchat with --instructions off.", why)
		})
	}
	return nil
}

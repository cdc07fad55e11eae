package copilot

import (
	"context"

	"webchat/internal/event"
)

// Instructions implements [agent.Instructor].
func (b *Backend) Instructions(folder string) []string {
	if b.cfg.NoInstructions {
		return nil
	}
	files, refusal := instructionFiles(folder)
	if refusal != "" {
		return nil // then none is loaded
	}
	return files
}

// skipInstructions reports whether the CLI is to load no instruction files, and why
// if that is not what the user wanted.
func (c *conn) skipInstructions() (skip bool, why string) {
	if c.b.cfg.NoInstructions {
		return true, ""
	}
	_, why = instructionFiles(c.o.Workspace)
	return why != "", why
}

// skipping are the parameters that keep instruction files out of prompts. The
// general-purpose helper agent loads them all the same, so it is left out as well.
func skipping(skip bool) map[string]any {
	agents := []string{}
	if skip {
		agents = []string{"general-purpose"}
	}
	return map[string]any{"skipCustomInstructions": skip, "excludedBuiltinAgents": agents}
}

// instruct looks before a prompt whether the instruction files of the workspace may
// still be loaded, since they may have changed, and says if not.
func (c *conn) instruct(ctx context.Context) error {
	skip, why := c.skipInstructions()
	c.mu.Lock()
	changed, news := skip != c.skipping, why != c.skipped
	c.skipping, c.skipped = skip, why
	c.mu.Unlock()
	if changed {
		if err := c.ask(ctx, "session.options.update", c.named(skipping(skip)), nil); err != nil {
			return c.b.cli.Explain(err)
		}
	}
	if news && why != "" {
		c.post(func() {
			c.report(event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindProvider, Message: "No instruction file of this folder was loaded: " + why +
				". Change that, or start webchat with --instructions off."})
		})
	}
	return nil
}

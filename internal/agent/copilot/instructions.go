package copilot

import (
	"context"
	"sync"

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

// instructions is whether the CLI loads the instruction files of a workspace.
type instructions struct {
	workspace string
	off       bool // the user wants none loaded

	mu       sync.Mutex // guards what follows
	skipping bool       // they are not loaded
	why      string     // as it was reported; empty: the user wants it, or they are
}

// skip reports whether the CLI is to load no instruction files, and why if that is not what the
// user wanted.
func (i *instructions) skip() (skip bool, why string) {
	if i.off {
		return true, ""
	}
	why = policy.FindInstructions(i.workspace, policy.Loads{}).Wrong
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

// begin returns the parameters for the start of a session; why they are so, renew says.
func (i *instructions) begin() map[string]any {
	skip, _ := i.skip()
	i.mu.Lock()
	i.skipping = skip
	i.mu.Unlock()
	return skipping(skip)
}

// renew looks before a prompt whether the instruction files may still be loaded, since they may
// have changed. news is why they are not, once.
func (i *instructions) renew(ctx context.Context, ask asker) (news string, err error) {
	skip, why := i.skip()
	i.mu.Lock()
	changed := skip != i.skipping
	if why != i.why {
		news = why
	}
	i.skipping, i.why = skip, why
	i.mu.Unlock()
	if changed {
		err = ask(ctx, "session.options.update", skipping(skip), nil)
	}
	return news, err
}

package copilot

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/displays"
	"webchat/internal/event"
)

// guide is what every conversation starts with, beside the tools' own words. It rides on each call
// of a model: short is a feature.
var guide = "When the user wants to see a file, a command's output or an image, call " +
	displays.Offered("or") +
	": the user sees it all, you get a line. Do not read or repeat it."

func (b *Backend) Open(ctx context.Context, o agent.Options, host agent.Host) (agent.Conn, error) {
	chosen := o.Model != ""
	if !chosen {
		o.Model = b.cfg.Model
	}
	if err := b.check(o.Model); err != nil {
		return nil, fmt.Errorf("%w: %w", agent.ErrUnavailable, err)
	}
	if o.Resume {
		if _, err := b.cli.Bring(o.Workspace, nativeID(o.SessionID)); err != nil {
			return nil, fmt.Errorf("resume the session: %w", err)
		}
	}
	p, err := b.cli.Acquire(ctx, o.Workspace)
	if err != nil {
		return nil, err
	}
	c := newConn(b, p, o, host)
	if err := c.open(ctx, p, o.Resume); err != nil {
		_ = c.Close() // it has no error of its own
		return nil, err
	}
	if model, _, _ := c.chosen.now(); !chosen && model != "" {
		c.Report(event.SessionModelChange{NewModel: model}) // the session does not know yet
	}
	return c, nil
}

// open makes the CLI's session, or resumes it, and looks at what it offers.
func (c *conn) open(ctx context.Context, p *cli.Process, resume bool) (err error) {
	if err := c.signedIn(ctx); err != nil {
		return err
	}
	if err := p.Add(c.id, c); err != nil { // before its first event comes
		return err
	}
	defer func() {
		if err != nil {
			c.destroy()
			p.Remove(c.id)
		}
	}()
	method := "session.create"
	if resume {
		method = "session.resume"
	}
	var made madeSession
	err = c.ask(ctx, method, c.parameters(), &made)
	switch {
	case err != nil && resume && strings.Contains(err.Error(), "not found"):
		// A session that never had a prompt was not kept.
		return fmt.Errorf("resume the session: %w", agent.ErrUnsupported)
	case err != nil:
		return c.b.cli.Explain(err)
	}
	if err := c.chosen.restore(ctx, made); err != nil {
		return err
	}
	return c.tools.inspect(ctx, p.Version())
}

// check says whether a session can have a model.
func (b *Backend) check(model string) error {
	if b.cfg.Login {
		return b.login.Check(b.cfg.Providers, model)
	}
	return b.cfg.Providers.Check(model)
}

// usesOwn reports whether the model is one the user brought.
func (c *conn) usesOwn() bool {
	model, _, _ := c.chosen.now()
	return c.b.cfg.Providers.Has(model)
}

// signedIn fails when a model is of a login and there is none.
func (c *conn) signedIn(ctx context.Context) error {
	if !c.b.cfg.online() {
		return nil
	}
	is, err := c.b.login.SignedIn(ctx, c.process().Call)
	switch {
	case is:
		// with their efforts; without the list none are offered
		_, _ = c.b.login.Models(ctx, c.process().Call)
		return nil
	case c.usesOwn():
		return nil
	case err != nil:
		return c.b.cli.Explain(err)
	}
	return fmt.Errorf(
		"%w: GitHub Copilot CLI is not signed in. Sign in once with \"COPILOT_HOME=%s copilot login\", "+
			"or set COPILOT_GITHUB_TOKEN, or bring a model of your own with --provider-url and --model",
		agent.ErrUnavailable, c.b.cfg.Home)
}

// parameters is the whole configuration. The CLI remembers nothing of it but the model, so it is
// sent at each start and resumption: without it, view and the hooks of the workspace would be back.
func (c *conn) parameters() map[string]any {
	tools := c.tools.needed()
	model, _, effort := c.chosen.now()
	p := map[string]any{
		"clientName": "webchat", "streaming": true, "workingDirectory": c.Options.Workspace,
		"tools": definitionsOf(tools), "availableTools": allowedTools(c.Options.Tools),
		"excludedTools": c.tools.give(tools), "toolFilterPrecedence": "excluded",
		"requestPermission": true, "requestUserInput": true, "requestExitPlanMode": true, "hooks": true,
		"includeSubAgentStreamingEvents": true,
		"systemMessage":                  map[string]string{"mode": "append", "content": guide},
		// beyond what a hook takes from the CLI; texts of ours are of fewer tokens
		"largeOutput": map[string]any{"enabled": c.hooks.most > 0, "outputDir": c.hooks.large,
			"maxSizeBytes": max(20480, 8*c.hooks.most)},
		// Nothing in a workspace runs commands, decides, or brings tools.
		"enableFileHooks": false, "enableConfigDiscovery": false, "enableSkills": false,
		"enableOnDemandInstructionDiscovery": false,
		// it would keep the conversation beyond the session's end
		"enableSessionStore": false,
	}
	maps.Copy(p, c.loads.begin())
	maps.Copy(p, c.b.cfg.Providers.parameters())
	if m := c.b.cfg.Providers.Native(model); m != "" {
		p["model"] = m
	}
	if slices.Contains(c.b.efforts(model), effort) {
		p["reasoningEffort"] = effort
	}
	return p
}

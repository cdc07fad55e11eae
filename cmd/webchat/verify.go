package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/autohand"
	"webchat/internal/agent/copilot"
	copilotcli "webchat/internal/agent/copilot/cli"
	"webchat/internal/canary"
	"webchat/internal/canary/scripted"
	"webchat/internal/displaytools"
	"webchat/internal/eventlog"
	"webchat/internal/mcp"
	"webchat/internal/outputs"
	"webchat/internal/released"
)

// verify has the backend that a new session would get show a file, and fails if
// anything of it reached the model. It also finds out, and keeps, whether an agent asks before it
// acts.
func verify(ctx context.Context, o *options, stdout, _ io.Writer) (err error) {
	if o.Replay {
		return replayed(ctx, o, stdout)
	}
	if o.JSON {
		return usage("--json goes with --replay")
	}
	ctx, cancel := context.WithTimeout(ctx, canary.Limit)
	defer cancel()
	c, err := o.loadConfig()
	if err != nil {
		return err
	}
	c.MCPServers = nil // they are not needed here
	if err := o.roster(c).checkBackend(); err != nil {
		return err
	}
	t, err := canary.New(canary.Config{
		Tools: func(workspace string, out *outputs.Store) func(eventlog.ID) (agent.Toolset, error) {
			return o.with(c).tools(workspace, nil, out, usersOwn{}, nil)
		},
		Say: func(name, format string, args ...any) {
			fmt.Fprintf(stdout, "%-10s %s\n", name, fmt.Sprintf(format, args...))
		}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	own, err := mcp.LendHere(ctx, version())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	b, reported, err := o.roster(c).watched(ctx, t, own)
	if err != nil {
		return err
	}
	at, err := o.roster(c).apart(b)
	if err != nil {
		return err
	}
	if _, native := b.(*copilot.Backend); native || at == nil {
		err = t.Run(ctx, b, reported)
	} else {
		err = verifyOffline(ctx, t, own, b.Name() == autohand.Name, at)
	}
	if err != nil {
		return err
	}
	made := func(model, state string) (agent.Backend, error) { return at(model, state, own.ToAgent) }
	if at != nil {
		err = verifyServers(ctx, t, made)
	}
	if err != nil {
		return err
	}
	return verifyAsking(ctx, b, t, made)
}

// verifyServers tries what the model gets of the results of an MCP server of the user's.
func verifyServers(ctx context.Context, t *canary.Trial,
	made func(model, state string) (agent.Backend, error)) error {
	rows, err := canary.Gateway{Backend: made, Lend: func(server string) (agent.Toolset, error) {
		out, err := outputs.New(outputs.Config{TTL: canary.Limit, Budget: 1 << 20})
		if err != nil {
			return nil, err
		}
		shown := &released.Releases{Outputs: released.Outputs{Store: out}, Large: 4000}
		users := mcp.NewUserServers(mcp.UserServersConfig{Servers: map[string]agent.MCPServer{
			canary.Server: {Type: "http", URL: server}}})
		return users.Lend(os.TempDir(), desk{shown}, t.Tools(os.TempDir(), out))("canary")
	}}.Try(ctx)
	if err != nil {
		return fmt.Errorf("the results of MCP servers: %w", err)
	}
	t.Say("servers",
		"in %d parts of what an MCP server has, all that is for you is kept from the model",
		len(rows))
	return nil
}

// maker makes an agent with the model at an address, and a folder for its state.
type maker func(model, state string, lend agent.Lender) (agent.Backend, error)

// apart returns what makes b with another model and without its user's settings; nil if it has no
// model.
func (r roster) apart(b agent.Backend) (maker, error) {
	switch b.(type) {
	case *copilot.Backend:
		return func(model, state string, _ agent.Lender) (agent.Backend, error) {
			return r.copilotAt(model, state)
		}, nil
	case *autohand.Backend:
		return func(model, state string, lend agent.Lender) (agent.Backend, error) {
			return r.autohandAt(model, state, lend)
		}, nil
	case *acp.Backend:
		p := r.preset(b.Name())
		if p.Offline == nil {
			return nil,
				fmt.Errorf(
					"nothing was proven: webchat cannot set %s to use another model, which would show what it "+
						"sends", b.Name())
		}
		return func(model, state string, lend agent.Lender) (agent.Backend, error) {
			env, err := p.Offline(model, state)
			if err != nil {
				return nil, err
			}
			return r.speaker(p, b.Name(), nil, state, lend, slog.New(slog.DiscardHandler), env...)
		}, nil
	}
	return nil, nil
}

// verifyAsking tries whether an agent asks before it acts, and keeps what was found.
func verifyAsking(ctx context.Context, b agent.Backend, t *canary.Trial,
	made func(model, state string) (agent.Backend, error)) error {
	keeper, ok := b.(interface {
		KeepAsking(version string, found agent.Asking) error
	})
	if !ok {
		return nil
	}
	a := canary.Asking{Backend: made}
	if b.Name() == autohand.Name {
		a.Refused = autohand.Excluded
	}
	found, version, err := a.Try(ctx)
	if err != nil {
		return fmt.Errorf("it is not known whether %s asks before it acts: %w", b.Name(), err)
	}
	sayAsking(found, t.Say)
	return keeper.KeepAsking(version, found)
}

// verifyOffline tries an agent whose model cannot be looked at with a model in this
// program and with a home of its own. whole says that the agent hands its model each
// result whole, so that webchat gives it nothing but the line for the model.
func verifyOffline(ctx context.Context, t *canary.Trial, own *mcp.OwnLender, whole bool,
	at maker) error {
	err := canary.Apart(ctx, func(model *scripted.Model, state string) error {
		b, err := at(model.URL(), state, own.ToAgent)
		if err != nil {
			return err
		}
		model.Play(scripted.Step{Tool: displaytools.RenderFile, Arguments: `{"path":"canary.txt"}`})
		t.Say("model",
			"one in this program, which keeps what it is sent; the agent has an empty home and no login")
		return t.Run(ctx, b, sent{model, t.Text()})
	})
	if err != nil {
		return err
	}
	rows, err := canary.Table{Whole: whole, Backend: func(model, state, server string) (agent.Backend,
		error) {
		return at(model, state, func(string, []agent.ToolSpec, func(context.Context, agent.ToolCall) (
			agent.Result, error)) (agent.Lent, func(), error) {
			return agent.Lent{URL: server, Header: "Authorization", Value: "Bearer none"}, func() {}, nil
		})
	}}.Try(ctx)
	sayTable(rows, t.Say)
	return err
}

// sent is what a scripted model was sent.
type sent struct {
	*scripted.Model
	text string
}

// Seen implements [canary.Report].
func (s sent) Seen() (messages int, found bool) {
	all := s.Requests()
	return len(all), slices.ContainsFunc(all, func(b []byte) bool {
		return bytes.Contains(b, []byte(s.text))
	})
}

// sayTable prints which parts of a tool's result reach the model.
func sayTable(rows []canary.Row, say func(name, format string, args ...any)) {
	for _, r := range rows {
		found := "is kept from the model"
		switch {
		case !r.Tried:
			found = "was not tried: the agent did not call the tool"
		case r.Reached && r.Lost:
			found = "REACHES THE MODEL, in the place of the line for it"
		case r.Reached:
			found = "reaches the model"
		case r.Lost:
			found = "is kept from the model, and so is the line for it"
		}
		if r.Relied && !r.Reached {
			found += ", on which webchat relies"
		}
		say("part", "%-40s %s", r.Part, found)
	}
}

// sayAsking prints whether an agent asks before it acts.
func sayAsking(a agent.Asking, say func(name, format string, args ...any)) {
	for _, act := range []struct {
		what  string
		asked agent.Asked
	}{{"writes", a.Writes}, {"runs a command", a.Runs}, {"reads .env", a.Reads}} {
		answer := string(act.asked)
		if act.asked == agent.NotKnown {
			answer = "not known; it neither asked nor did it"
		}
		say("asking", "asks before it %s: %s", act.what, answer)
	}
}

// watched makes the backend that a new session would get, so that t sees what it
// sends to its model.
func (r roster) watched(ctx context.Context, t *canary.Trial,
	own *mcp.OwnLender) (agent.Backend, canary.Report, error) {
	dir, err := r.madeDataDir()
	if err != nil {
		return nil, nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	all, err := r.backends(nil, dir, own.ToAgent, quiet)
	if err != nil {
		return nil, nil, err
	}
	name := r.defaultBackend(ctx, all)
	b := all[slices.IndexFunc(all, func(b agent.Backend) bool { return b.Name() == name })]
	if info := b.Info(ctx); !info.Available {
		return nil, nil, fmt.Errorf("%s cannot be used: %s", name, info.Reason)
	}
	if name != "copilot" {
		return b, nil, nil
	}
	cfg, err := r.copilot(dir, quiet)
	if err != nil {
		return nil, nil, err
	}
	if len(cfg.Providers) == 0 { // a login: only the CLI itself sees what it sends
		cfg.Watch = copilotcli.NewWatch(t.Text())
		b, err := copilot.New(cfg)
		return b, cfg.Watch, err
	}
	for i := range cfg.Providers {
		if cfg.Providers[i].URL, err = t.Before(ctx, cfg.Providers[i].URL); err != nil {
			return nil, nil, err
		}
	}
	b, err = copilot.New(cfg)
	return b, nil, err
}

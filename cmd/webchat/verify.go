package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot"
	"webchat/internal/canary"
	"webchat/internal/outputs"
	"webchat/internal/session"
)

// verify has the backend that a new session would get show a file, and fails if
// anything of it reached the model.
func verify(ctx context.Context, o *options, stdout, _ io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, canary.Limit)
	defer cancel()
	c, err := o.loadConfig()
	if err != nil {
		return err
	}
	if err := o.checkBackend(c); err != nil {
		return err
	}
	t, err := canary.New(canary.Config{
		Tools: func(workspace string, out *outputs.Store) func(session.ID) (agent.Toolset, error) {
			return o.tools(c, workspace, out)
		},
		Say: func(name, format string, args ...any) {
			fmt.Fprintf(stdout, "%-10s %s\n", name, fmt.Sprintf(format, args...))
		}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	b, reported, err := o.watched(ctx, c, t)
	if err != nil {
		return err
	}
	return t.Run(ctx, b, reported)
}

// watched makes the backend that a new session would get, so that t sees what it
// sends to its model.
func (o *options) watched(ctx context.Context, c *config, t *canary.Trial) (agent.Backend, canary.Report, error) {
	dir, err := o.madeDataDir()
	if err != nil {
		return nil, nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	all, err := o.backends(c, dir, lendNothing, quiet)
	if err != nil {
		return nil, nil, err
	}
	name := o.defaultBackend(ctx, all)
	b := all[slices.IndexFunc(all, func(b agent.Backend) bool { return b.Name() == name })]
	if info := b.Info(ctx); !info.Available {
		return nil, nil, fmt.Errorf("%s cannot be used: %s", name, info.Reason)
	}
	if name != "copilot" {
		return b, nil, nil
	}
	cfg, err := o.copilot(c, dir, quiet)
	if err != nil {
		return nil, nil, err
	}
	if len(cfg.Providers) == 0 { // a login: only the CLI itself sees what it sends
		cfg.Watch = copilot.NewWatch(t.Text())
		b, err := copilot.New(cfg)
		return b, cfg.Watch, err
	}
	for i := range cfg.Providers {
		if cfg.Providers[i].URL, err = t.Before(ctx, cfg.Providers[i].URL); err != nil {
			return nil, nil, err
		}
	}
	cfg.MCPServers = nil // they have no part in this
	b, err = copilot.New(cfg)
	return b, nil, err
}

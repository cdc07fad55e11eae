package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"webchat/internal/eventlog"
	"webchat/internal/mcp"
	"webchat/internal/server"
)

// listServers says what was found of the user's MCP servers.
func (o *options) listServers(c *config) func(context.Context) ([]server.MCPServer, error) {
	return func(ctx context.Context) ([]server.MCPServer, error) {
		all, err := o.roster(c).mcpServers().Status(ctx)
		out := make([]server.MCPServer, 0, len(all))
		for _, s := range all {
			out = append(out, server.MCPServer{
				Name:    s.Name,
				Type:    s.Type,
				Where:   s.Where,
				State:   string(s.State),
				Tools:   s.Tools,
				Failure: s.Failure,
			})
		}
		return out, err
	}
}

// allowServer notes that the user agrees to what the tools of one of them say now.
func (o *options) allowServer(c *config) func(context.Context, string) error {
	return func(ctx context.Context, name string) error {
		err := o.roster(c).mcpServers().Allow(ctx, name)
		if errors.Is(err, mcp.ErrUnknown) {
			return fmt.Errorf("%w (%w)", err, eventlog.ErrNotFound)
		}
		return err
	}
}

// mcpLogin is "webchat mcp login".
func mcpLogin(ctx context.Context, o *options, stdout, _ io.Writer) error {
	c, err := o.loadConfig()
	if err != nil {
		return err
	}
	if _, err = o.madeDataDir(); err != nil {
		return err
	}
	err = o.roster(c).mcpServers().SignIn(ctx, o.Client, func(url string) {
		fmt.Fprintf(stdout, "Open this in your browser and sign in:\n\n%s\n\n", url)
	})
	if err == nil {
		fmt.Fprintf(stdout, "You are signed in to %s. New conversations use it.\n", o.Client)
	}
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"webchat/internal/daemon"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/mcp"
	"webchat/internal/policy"
)

// mcpInstall is "webchat mcp install".
func mcpInstall(ctx context.Context, o *options, stdout, _ io.Writer) error {
	dir, g, err := o.credentials()
	if err != nil {
		return err
	}
	server, err := o.mcpCommand()
	if err != nil {
		return err
	}
	c := mcp.Installation{
		Server:  server,
		Env:     policy.InheritWhole(o.env, nil),
		In:      os.Stdin,
		Out:     stdout,
		HTTP:    o.HTTP,
		Yes:     o.Yes,
		Address: func(client string) (url, key string, err error) { return o.mcpAddress(dir, g, client) },
	}
	if o.Client == "" {
		return c.List()
	}
	err = c.Connect(ctx, o.Client)
	if wrong, ok := errors.AsType[mcp.Misuse](err); ok {
		return usage("%s", wrong)
	}
	return err
}

// mcpCommand is the program that clients start.
func (o *options) mcpCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	server := []string{self, "mcp"}
	if o.DataDir != "" {
		server = append(server, "--data-dir", o.DataDir)
	}
	return server, nil
}

// mcpAddress is where the running server lends its tools in the workspace, with a key
// for one client.
func (o *options) mcpAddress(dir string, g *guard.Guard,
	client string) (url, key string, err error) {
	workspace, err := o.workspaceDir()
	if err != nil {
		return "", "", err
	}
	info, err := daemon.Read(dir)
	if err != nil || info.URL == "" {
		return "", "", errors.New("start webchat first, with a --listen address that stays")
	}
	id := files.WorkspaceID(workspace)
	key, err = g.MCPKey(client + "-" + id)
	return info.URL + "/mcp/w/" + id, key, err
}

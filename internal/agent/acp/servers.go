package acp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/proc"
)

// servers are the user's MCP servers as the agent takes them. Those that it does not take
// are told once.
func (c *conn) servers(ctx context.Context, p *process) (all []any) {
	if c.b.cfg.Servers == nil {
		return nil
	}
	mine := c.b.cfg.Servers(ctx)
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		m := mine[name]
		if strings.HasPrefix(name, "webchat") {
			c.alike.Store(true)
		}
		if !c.takes(p, m) {
			c.b.mu.Lock()
			known := c.b.without[name]
			c.b.without[name] = true
			c.b.mu.Unlock()
			if !known {
				c.report(ctx, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindProvider,
					Message: fmt.Sprintf("%s takes no MCP server of the type %s, so it goes on without %s.", c.b.cfg.Title, m.Type, name)})
			}
			continue
		}
		all = append(all, entry(name, m))
	}
	return all
}

// takes reports whether the agent takes such a server.
func (c *conn) takes(p *process, m agent.MCPServer) bool {
	can := p.caps.AgentCapabilities.MCPCapabilities
	return m.Type == "stdio" && !c.b.cfg.NoPrograms || m.Type == "http" && can.HTTP || m.Type == "sse" && can.SSE
}

// Server is what stands in a command for the name of the server that has a session's
// tools. An agent whose command has it allows the calls of the server of that name, so
// that no file can have known the name.
const Server = "{webchat}"

// server is the name of the server that has the tools of a session, the same each time.
func (c Config) server(sessionID string) string {
	if !slices.ContainsFunc(c.Command, func(arg string) bool { return strings.Contains(arg, Server) }) {
		return server
	}
	sum := sha256.Sum256([]byte(sessionID))
	return server + "-" + hex.EncodeToString(sum[:4])
}

// server is the name where nothing depends on it.
const server = "webchat"

// command is the command of a process for a session.
func (c Config) command(sessionID string) (args []string) {
	for _, arg := range c.Command {
		args = append(args, strings.ReplaceAll(arg, Server, c.server(sessionID)))
	}
	return args
}

// entry is a server in the protocol's words. A program has no type there, which some
// agents insist on, and no folder: this program goes to it.
func entry(name string, m agent.MCPServer) object {
	pairs := func(of map[string]string) []any {
		list := []any{}
		for _, k := range slices.Sorted(maps.Keys(of)) {
			list = append(list, object{"name": k, "value": of[k]})
		}
		return list
	}
	if m.Type != "stdio" {
		return object{"type": m.Type, "name": name, "url": m.URL, "headers": pairs(m.Headers)}
	}
	line := append([]string{m.Command}, m.Args...)
	if m.Cwd != "" {
		line = proc.In(m.Cwd, line)
	}
	return object{"name": name, "command": line[0], "args": line[1:], "env": pairs(m.Env)}
}

package autohand

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"webchat/internal/event"
)

// servers are the session's tools and the user's MCP servers, as the CLI's settings have
// them. A server that is a program would keep the CLI from starting for 30 s, so it goes
// on without, which is told once.
func (c *conn) servers(ctx context.Context) []any {
	all := []any{object{"name": server, "transport": "http", "url": c.tools.URL, "headers": object{c.tools.Header: c.tools.Value}}}
	if c.b.cfg.Servers == nil {
		return all
	}
	mine := maps.Clone(c.b.cfg.Servers(ctx))
	delete(mine, server) // the name of the session's tools, whose calls are not asked about twice
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		m := mine[name]
		if m.Type != "stdio" {
			all = append(all, object{"name": name, "transport": m.Type, "url": m.URL, "headers": m.Headers})
			continue
		}
		c.b.mu.Lock()
		known := c.b.without[name]
		c.b.without[name] = true
		c.b.mu.Unlock()
		if !known {
			c.report(ctx, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindProvider,
				Message: fmt.Sprintf("Autohand CLI goes on without the MCP server %s, which is a program: it would start 30 s later with it. Give the server an address instead.", name)})
		}
	}
	return all
}

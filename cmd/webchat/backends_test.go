package main

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/mcp"
	"webchat/internal/policy"
)

// A rule by the name of a tool that no agent has is said, since it would miss in
// silence; that of a configured MCP server cannot be known.
func TestMissedRules(t *testing.T) {
	o, err := parseOptions([]string{"--instructions", "off"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &config{MCPServers: map[string]agent.MCPServer{"docs": {Type: "stdio", Command: "docs"}}}
	for _, tool := range []string{"create", "edit", "bash", "grep", "glob", "web_fetch",
		"run_and_display", "docs-find", "", "write", "read"} {
		c.Permissions = append(c.Permissions, policy.Rule{Tool: tool, Decision: "deny"})
	}
	all, err := o.roster(c).backends(nil, t.TempDir(), (&mcp.OwnLender{}).ToAgent,
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(missedRules(c, all),
		"; "); got != `rule 10 names the tool "write"; rule 11 names the tool "read"` {
		t.Error(got)
	}
	i := slices.IndexFunc(all, func(b agent.Backend) bool { return b.Name() == "copilot" })
	if files := all[i].(agent.Instructor).Instructions("../.."); files != nil {
		t.Errorf("--instructions off: %q would be loaded", files)
	}
}

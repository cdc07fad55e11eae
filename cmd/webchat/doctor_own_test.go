package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/offline"
)

// Doctor names the MCP servers of agents' own settings, as each agent writes them, and says where
// to put them.
func TestDoctorNamesServersOfAgents(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".claude.json": `{"numStartups":1,"mcpServers":{"files":{"command":"x"},"docs":{"type":"http","url":"http://a"}},"projects":{}}`,
		"codex/config.toml": "model = \"m\"\n[mcp_servers.\"my db\"]\ncommand = \"x\"\n" +
			"[mcp_servers.tickets]\n[mcp_servers.tickets.env]\nA = \"b\"\n",
		".config/opencode/opencode.jsonc": "{\n  // mine\n  \"mcp\": {\"search\": {\"type\": " +
			"\"local\"}}\n}",
		".gemini/settings.json":    `{"mcpServers":{}}`,
		".copilot/mcp-config.json": `not JSON`,
	} {
		at := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o, err := parseOptions(nil, []string{"HOME=" + home, "CODEX_HOME=" + filepath.Join(home, "codex"),
		"PATH=" + home})
	if err != nil {
		t.Fatal(err)
	}
	all := []agent.Backend{offline.New(offline.Config{})}
	lend := func(string, []agent.ToolSpec, func(context.Context, agent.ToolCall) (agent.Result,
		error)) (agent.Lent, func(), error) {
		return agent.Lent{}, nil, nil
	}
	for _, name := range []string{"claude", "codex", "copilot-acp", "gemini", "opencode"} {
		b, err := acp.New(acp.Config{Preset: acp.Presets()[name], Name: name, Home: home, Lend: lend})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	var said strings.Builder
	say := func(name, format string, args ...any) { fmt.Fprintf(&said, name+" "+format+"\n", args...) }
	k := checkup{o, &config{}, home, all, say}
	k.servers()
	k.git()
	const only = "; in the sandbox they have its files and hosts and no more: "
	move := "move them to mcpServers in " + o.configPath() +
		", and webchat starts and reaches them outside\n"
	want := "mcp claude: its own settings name docs, files" + only + move +
		"mcp codex: its own settings name my db, tickets" + only + "it gets no others there\n" +
		"mcp opencode: its own settings name search" + only + move +
		"git not installed: no turn can be undone, and a review does not list what commands changed\n"
	if said.String() != want {
		t.Errorf("it says\n%s, want\n%s", said.String(), want)
	}
}

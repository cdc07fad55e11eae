package autohand_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/autohand"
	"webchat/internal/e2e/standin"
	"webchat/internal/mcp"
)

func TestMain(m *testing.M) {
	standin.Main()
	goleak.VerifyTestMain(m)
}

// lender is a real MCP server with the display tools.
func lender(t *testing.T) agent.Lender {
	t.Helper()
	c := mcp.ServerConfig{Visitor: func(r *http.Request) (mcp.Visitor, bool) {
		return mcp.Visitor{
			Key:    strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "),
			Hosted: true,
		}, true
	}}
	for _, spec := range agenttest.DisplayTools() {
		spec.Description = strings.TrimSuffix(spec.Description, ".") + " of the workspace."
		c.Tools = append(c.Tools, mcp.Tool{ToolSpec: spec})
	}
	server, err := mcp.NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(server)
	t.Cleanup(h.Close)
	t.Cleanup(server.Close)
	return func(id string, tools []agent.ToolSpec,
		call func(context.Context, agent.ToolCall) (agent.Result, error)) (agent.Lent, func(), error) {
		return agent.Lent{URL: h.URL + "/mcp", Header: "Authorization", Value: "Bearer s-" + id},
			server.Host("s-"+id, tools, call), nil
	}
}

// settings are the user's own: a provider and a login, and things that are not taken over.
const settings = `{"provider":"custom:fake","customProviders":{"fake":{"id":"fake","baseUrl":"http://127.0.0.1:9/v1","model":"fake"}},
 "openrouter":{"apiKey":"k","model":"m"},"auth":{"token":"local-token"},
 "permissions":{"mode":"unrestricted","allowList":["run_command:*"]},"hooks":{"enabled":true,"hooks":[{"event":"pre-tool","command":"touch /tmp/no"}]},
 "mcp":{"servers":[{"name":"other","transport":"stdio","command":"touch"}]},"ui":{"autoConfirm":true}}`

// newBackend drives a stand-in as the CLI.
func newBackend(t *testing.T, manner string,
	with func(*autohand.Config)) (b *autohand.Backend, offered string) {
	t.Helper()
	dir := t.TempDir()
	mine := filepath.Join(dir, "config.json")
	if err := os.WriteFile(mine, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	offered = filepath.Join(dir, "offered")
	other := standin.Program(t)
	c := autohand.Config{
		Path:     other,
		Home:     filepath.Join(dir, "agents"),
		Settings: mine,
		Lend:     lender(t),
		Hook:     []string{other, "agent-hook"},
		Env: []string{"AUTOHAND_STANDIN=" + manner, "PATH=" + os.Getenv("PATH"),
			"AUTOHAND_OFFERED=" + offered, "GORACE=atexit_sleep_ms=0", "CI=true", "HOME=" + dir},
	}
	if with != nil {
		with(&c)
	}
	b, err := autohand.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b, offered
}

// toolPrompt has the stand-in call a tool of the CLI's own.
func toolPrompt(tool string, args object) string {
	b, _ := json.Marshal(args) // of texts
	return "tool " + tool + " " + string(b)
}

func TestContract(t *testing.T) {
	b, offered := newBackend(t, "polite", nil)
	agenttest.Run(t, b, agenttest.Options{
		Show:   func(path string) string { return "show " + path },
		Run:    func(command string) string { return "run " + command },
		Answer: "hello", Talk: "talk", Ask: "ask", Die: "die",
		Write: func(path string) string { return "write " + path },
		WriteTwo: func(one, other string) string {
			return toolPrompt("rename_path", object{"from": one, "to": other})
		},
		Search: func(text, folder string) string {
			return toolPrompt("fff_grep", object{"query": text, "path": folder})
		},
		Forge: func(tool string) string {
			return toolPrompt("webchat__"+tool, object{"command": "date"})
		},
		Offered: func(tb testing.TB) []string {
			text, err := os.ReadFile(offered)
			if err != nil {
				tb.Fatal(err)
			}
			return strings.Fields(string(text))
		},
		Patience: 30 * time.Second,
	})
}

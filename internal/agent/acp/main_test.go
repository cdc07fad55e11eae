package acp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/e2e/standin"
	webmcp "webchat/internal/mcp"
)

func TestMain(m *testing.M) {
	standin.Main()
	goleak.VerifyTestMain(m)
}

// lender is a real MCP server with the display tools.
func lender(t *testing.T) agent.Lender {
	t.Helper()
	c := webmcp.ServerConfig{Visitor: func(r *http.Request) (webmcp.Visitor, bool) {
		return webmcp.Visitor{
			Key:    strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "),
			Hosted: true,
		}, true
	}}
	for _, spec := range agenttest.DisplayTools() {
		if len(spec.Parameters) == 0 {
			spec.Parameters = []byte(
				`{"type":"object","properties":{"path":{"type":"string"},"command":{"type":"string"}}}`)
		}
		c.Tools = append(c.Tools, webmcp.Tool{ToolSpec: spec})
	}
	server, err := webmcp.NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(server)
	t.Cleanup(h.Close)
	t.Cleanup(server.Close)
	return func(id string, tools []agent.ToolSpec,
		call func(context.Context, agent.ToolCall) (agent.Result, error)) (agent.Lent, func(), error) {
		return agent.Lent{
			URL:    h.URL + "/mcp",
			Header: "Authorization",
			Value:  "Bearer s-" + id,
			Listed: func() bool { return server.Listed("s-" + id) },
		}, server.Host("s-"+id, tools, call), nil
	}
}

// newBackend drives a stand-in as an agent.
func newBackend(t *testing.T, manner string, with func(*acp.Config)) *acp.Backend {
	t.Helper()
	p := acp.Preset{
		Title:    "Stand-in",
		Command:  []string{standin.Program(t)},
		Mode:     "ask",
		Asks:     []string{"ask", "plan"},
		Failures: []string{"Error: ", "API Error: "},
		Notices:  []string{"Info: ", "Warning: "},
	}
	c := acp.Config{Preset: p, Name: "stand-in", Lend: lender(t), Home: t.TempDir(),
		Env: []string{"ACP_STANDIN=" + manner, "PATH=" + os.Getenv("PATH"), "ACP_OFFERED=" + t.TempDir() +
			"/offered", "GORACE=atexit_sleep_ms=0"}}
	if with != nil {
		with(&c)
	}
	b, err := acp.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func offered(b []string) string {
	for _, v := range b {
		if name, ok := strings.CutPrefix(v, "ACP_OFFERED="); ok {
			return name
		}
	}
	return ""
}

func TestContract(t *testing.T) {
	for _, manner := range []string{"polite", "options"} {
		t.Run(manner, func(t *testing.T) { contract(t, manner) })
	}
}

func contract(t *testing.T, manner string) {
	var env []string
	b := newBackend(t, manner, func(c *acp.Config) { env = c.Env })
	agenttest.Run(t, b, agenttest.Options{
		Show:   func(path string) string { return "show " + path },
		Run:    func(command string) string { return "run " + command },
		Answer: "hello", Talk: "talk", Stray: "stray", Die: "die",
		Write:    func(path string) string { return "write " + path },
		WriteTwo: func(one, other string) string { return "write " + one + " " + other },
		Search:   func(text, folder string) string { return "search " + text + " " + folder },
		Forge:    func(tool string) string { return "forge " + tool },
		Offered: func(tb testing.TB) []string {
			text, err := os.ReadFile(offered(env))
			if err != nil {
				tb.Fatal(err)
			}
			return strings.Fields(string(text))
		},
		Patience: 30 * time.Second,
	})
}

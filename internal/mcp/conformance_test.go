package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/eventlog"
	webmcp "webchat/internal/mcp"
)

// conforming is a client of the official conformance suite's: it calls each tool of the server
// whose address is its last argument, and leaves what it is asked as it is.
func conforming() error {
	ctx := agent.WithCall(context.Background(), agent.CallInfo{ToolCallID: "c", Ask: func(_ context.Context, q agent.Question) (agent.Answer, error) {
		const empty = "Leave it empty"
		if slices.Contains(q.Choices, empty) {
			return agent.Answer{Text: empty, Answered: true}, nil
		}
		return agent.Answer{Text: q.Choices[0], Answered: true}, nil
	}})
	all := webmcp.NewUserServers(webmcp.UserServersConfig{Limit: 20 * time.Second, Servers: map[string]agent.MCPServer{"suite": {Type: "http", URL: os.Args[len(os.Args)-1]}}})
	set, err := all.Lend("", shown{}, func(eventlog.ID) (agent.Toolset, error) { return noTools{}, nil })("s1")
	if err != nil {
		return err
	}
	defer set.Close()
	if err := set.(agent.Preparer).Prepare(ctx); err != nil {
		return err
	}
	for _, t := range set.Tools() {
		act, err := t.Plan(ctx, json.RawMessage(`{"a":5,"b":3}`))
		if err != nil {
			return err
		}
		res, err := act.Run(ctx, func(agent.ProgressReport) {})
		if err != nil || res.Type != agent.Success {
			return fmt.Errorf("%s: %+v, %w", t.Spec().Name, res, err)
		}
	}
	return nil
}

// The client of servers passes what the official conformance suite has for clients. Signing in is
// the SDK's, and tried elsewhere.
func TestConformance(t *testing.T) {
	bin, err := filepath.Abs(filepath.Join("..", "..", ".cache", "mcp", "node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "conformance")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the suite is not installed: run scripts/mcp.sh, which needs npm")
		}
		t.Skip("the suite is not installed, so it is not tried: scripts/mcp.sh installs it")
	}
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, scenario := range []string{"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(filepath.Join(bin, "node"), filepath.Join(bin, "conformance"), "client", "--command", me, "--scenario", scenario, "-o", t.TempDir())
			cmd.Env = append(os.Environ(), "MCP_STANDIN=conforming", "GORACE=atexit_sleep_ms=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

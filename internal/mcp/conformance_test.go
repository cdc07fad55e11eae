package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/eventlog"
	webmcp "webchat/internal/mcp"
)

// conforming is a client of the official conformance suite's: it calls each tool of the server
// whose address is its last argument, and leaves what it is asked as it is. Its user signs in where
// the server wants that, once more for a call that needs more.
func conforming() error {
	ctx := agent.WithCall(context.Background(), agent.CallInfo{ToolCallID: "c", Ask: func(_ context.Context, q agent.Question) (agent.Answer, error) {
		const empty = "Leave it empty"
		if slices.Contains(q.Choices, empty) {
			return agent.Answer{Text: empty, Answered: true}, nil
		}
		return agent.Answer{Text: q.Choices[0], Answered: true}, nil
	}})
	all := webmcp.NewUserServers(webmcp.UserServersConfig{Limit: 20 * time.Second, Servers: map[string]agent.MCPServer{"suite": {Type: "http", URL: os.Args[len(os.Args)-1]}}})
	var visits sync.WaitGroup
	defer visits.Wait()
	signIn := func() error {
		return all.SignIn(ctx, "suite", func(address string) {
			visits.Go(func() { // as a browser that follows to the port of this machine
				if res, err := http.Get(address); err == nil {
					_ = res.Body.Close()
				}
			})
		})
	}
	signs := strings.HasPrefix(os.Getenv("MCP_CONFORMANCE_SCENARIO"), "auth/")
	if signs {
		if err := signIn(); err != nil {
			return err
		}
	}
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
		if signs && strings.Contains(res.TextForModel, `run "webchat mcp login suite"`) {
			if err := signIn(); err != nil {
				return err
			}
			res, err = act.Run(ctx, func(agent.ProgressReport) {})
		}
		if err != nil || res.Type != agent.Success {
			return fmt.Errorf("%s: %+v, %w", t.Spec().Name, res, err)
		}
	}
	return nil
}

// scenarios are what the suite has for clients, but what needs something that webchat does not have:
// a document at an address of its own (auth/basic-cimd), names that a provider gave it
// (auth/pre-registration), a sign-in without a user (auth/client-credentials-*,
// auth/cross-app-access-*). auth/2025-03-26-oauth-metadata-backcompat has metadata whose issuer is
// another than was asked, which RFC 8414 has a client refuse.
var scenarios = []string{"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry",
	"auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3",
	"auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported",
	"auth/scope-omitted-when-undefined", "auth/scope-step-up", "auth/scope-retry-limit",
	"auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none",
	"auth/2025-03-26-oauth-endpoint-fallback", "auth/resource-mismatch", "auth/offline-access-scope",
	"auth/offline-access-not-supported"}

// The client of servers passes what the official conformance suite has for clients.
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
	for _, scenario := range scenarios {
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

package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"webchat/internal/agent"
	"webchat/internal/mcpclient"
	"webchat/internal/proc"
)

func server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "look", InputSchema: map[string]any{"type": "object"}}, nil)
	return s
}

func TestMain(m *testing.M) {
	proc.Main()
	switch os.Getenv("MCP_STANDIN") {
	case "good":
		_ = server().Run(context.Background(), &mcp.StdioTransport{})
		return
	case "bad":
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func TestServersAreTried(t *testing.T) {
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server() }, &mcp.StreamableHTTPOptions{Stateless: true}).ServeHTTP(w, r)
	}))
	defer good.Close()
	events := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server() }, nil))
	defer events.Close()
	mute := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else it is not noticed that the client has gone
		<-r.Context().Done()
	}))
	defer mute.Close()
	program := func(how string) agent.MCPServer {
		return agent.MCPServer{Type: "stdio", Command: os.Args[0], Env: map[string]string{"MCP_STANDIN": how, "GORACE": "atexit_sleep_ms=0"}, Cwd: t.TempDir()}
	}
	at := func(kind, url, token string) agent.MCPServer {
		return agent.MCPServer{Type: kind, URL: url, Headers: map[string]string{"Authorization": token}}
	}
	s := mcpclient.New(mcpclient.Config{Env: []string{"PATH=" + os.Getenv("PATH")}, Servers: map[string]agent.MCPServer{
		"a program": program("good"), "by http": at("http", good.URL, "Bearer secret"), "by sse": at("sse", events.URL, ""),
		"ends": program("bad"), "locked": at("http", good.URL, "Bearer other"), "missing": {Type: "stdio", Command: "/nowhere/server"},
		"unreachable": at("http", "http://127.0.0.1:1/?key=secret", ""),
	}})
	if line := s.Untold(); line != "" {
		t.Errorf("before they are tried: %s", line)
	}
	all, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		name    string
		state   mcpclient.State
		failure string
	}{{"a program", mcpclient.Ready, ""}, {"by http", mcpclient.Ready, ""}, {"by sse", mcpclient.Ready, ""}, {"ends", mcpclient.Failed, "no licence found"},
		{"locked", mcpclient.SignIn, "sign in"}, {"missing", mcpclient.Failed, "/nowhere/server"}, {"unreachable", mcpclient.Failed, "it cannot be reached"}} {
		x := all[i]
		if x.Name != want.name || x.State != want.state || !strings.Contains(strings.ToLower(x.Failure), want.failure) || (x.State == mcpclient.Ready) != (len(x.Tools) == 1) {
			t.Errorf("found %+v, want %+v", x, want)
		}
	}
	if text, _ := json.Marshal(all); strings.Contains(strings.ReplaceAll(string(text), "?key=secret", ""), "secret") {
		t.Errorf("a secret is told: %s", text)
	}
	if ready := s.Answering(t.Context()); len(ready) != 3 || ready["by http"].Headers["Authorization"] != "Bearer secret" {
		t.Errorf("agents get %+v", ready)
	}
	if line := s.Untold(); !strings.HasPrefix(line, "The MCP servers ends, locked, missing, unreachable do not answer") {
		t.Errorf("the user is told %q", line)
	}
	if line := s.Untold(); line != "" {
		t.Errorf("and again: %s", line)
	}
	slow := mcpclient.New(mcpclient.Config{Limit: 50 * time.Millisecond, Servers: map[string]agent.MCPServer{"slow": at("http", mute.URL, "")}})
	if all, err := slow.Status(t.Context()); err != nil || !strings.Contains(all[0].Failure, "did not answer within 50ms") {
		t.Errorf("%+v, %v", all, err)
	}
}

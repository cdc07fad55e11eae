package mcp_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	webmcp "webchat/internal/mcp"
)

// A server that is a program is the same over HTTP, with a program for each session that ends with
// it.
func TestPassed(t *testing.T) {
	p := webmcp.Pass(agent.MCPServer{Type: "stdio", Command: os.Args[0], Env: map[string]string{"MCP_STANDIN": "good"}}, t.TempDir(), os.Environ(), slog.New(slog.DiscardHandler))
	defer p.Close()
	web := httptest.NewServer(p)
	defer web.Close()
	for _, era := range eras {
		s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL, MaxRetries: -1}, &mcp.ClientSessionOptions{ProtocolVersion: era})
		if err != nil {
			t.Fatalf("%s: %v", era, err)
		}
		if got := s.InitializeResult(); got.ServerInfo.Name != "test" {
			t.Errorf("%s: it says it is %+v", era, got.ServerInfo)
		}
		tools, err := s.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) == 0 {
			t.Fatalf("%s: %+v, %v", era, tools, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]int{"": http.StatusBadRequest, "other": http.StatusNotFound} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Mcp-Session-Id", name)
		res, err := http.DefaultClient.Do(r)
		if err != nil || res.StatusCode != want {
			t.Errorf("session %q: %v, %v", name, res, err)
		}
		res.Body.Close()
	}
}

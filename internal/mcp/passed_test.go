package mcp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	webmcp "webchat/internal/mcp"
)

func passed(t *testing.T, allow func(context.Context, agent.Permission) bool) *webmcp.Passed {
	return webmcp.Pass(webmcp.PassConfig{Name: "x", Dir: t.TempDir(), Env: os.Environ(), Allow: allow,
		Server: agent.MCPServer{
			Type:    "stdio",
			Command: os.Args[0],
			Env:     map[string]string{"MCP_STANDIN": "good"},
		},
		Logger: slog.New(slog.DiscardHandler)})
}

// A server that is a program is the same over HTTP, with a program for each session that ends with
// it.
func TestPassed(t *testing.T) {
	p := passed(t, nil)
	defer p.Close()
	web := httptest.NewServer(p)
	defer web.Close()
	for _, era := range eras {
		s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: web.URL, MaxRetries: -1},
			&mcp.ClientSessionOptions{ProtocolVersion: era})
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

// Each call of a server that is passed on needs permission, of tools and of what else it does, as
// its program reads it.
func TestThreat121PassedCallsAreAllowed(t *testing.T) {
	var asked []string
	p := passed(t, func(_ context.Context, act agent.Permission) bool {
		asked = append(asked, act.ServerCall())
		return act.Resource != "look"
	})
	defer p.Close()
	web := httptest.NewServer(p)
	defer web.Close()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: web.URL, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: eras[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, one := range []struct{ args, want string }{
		{`{"b":2, "a":1}`, `looked {"a":1,"b":2}`},
		{`{}`, "did not allow"},
		{`null`, "did not allow"},
		{`{"a":1,"a":2}`, "duplicate"},
		{`[1]`, "no object"},
	} {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{
			Name:      "look",
			Arguments: json.RawMessage(one.args),
		})
		got := fmt.Sprint(err)
		if err == nil {
			got = res.Content[0].(*mcp.TextContent).Text
		}
		if !strings.Contains(got, one.want) {
			t.Errorf("%s: %s", one.args, got)
		}
	}
	if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "file:///x"}); err == nil {
		t.Error("it was read")
	}
	want := []string{`x-look {"a":1,"b":2}`, "x-look {}", "x-look {}",
		`x-resources/read {"uri":"file:///x"}`}
	if !slices.Equal(asked, want) {
		t.Errorf("asked about %q", asked)
	}
}

// A server that ignores the case of names gets only the arguments that were shown, and a message
// that is passed on is bounded.
func TestThreat121PassedCallsAreReadOneWay(t *testing.T) {
	p := passed(t, func(_ context.Context, act agent.Permission) bool {
		t.Errorf("asked about %q", act.Resource)
		return true
	})
	defer p.Close()
	web := httptest.NewServer(p)
	defer web.Close()
	session := ""
	post := func(body io.Reader) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		session = cmp.Or(session, res.Header.Get("Mcp-Session-Id"))
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	code, text := post(strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{
		"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`))
	if code != http.StatusOK || session == "" {
		t.Fatalf("it does not begin: %d %s", code, text)
	}
	for i, params := range []string{
		`{"name":"look","Arguments":{"path":"/etc"}}`,
		`{"name":"look","arguments":{},"argumentſ":{"path":"/etc"}}`,
		`{"name":"look","NAME":"remove"}`,
	} {
		_, text := post(strings.NewReader(fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, i+1, params)))
		if !strings.Contains(text, "did not pass this on") {
			t.Errorf("%s: %s", params, text)
		}
	}
	if code, _ := post(io.LimitReader(spaces{}, 65<<20)); code != http.StatusRequestEntityTooLarge {
		t.Errorf("a message without an end: %d", code)
	}
}

// spaces is white space without an end.
type spaces struct{}

func (spaces) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

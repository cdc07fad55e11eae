package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/document"
	webmcp "webchat/internal/mcp"
)

// prompting is a server with a prompt.
func prompting(t *testing.T) string {
	t.Helper()
	s := server()
	s.AddPrompt(&mcp.Prompt{Name: "review", Description: "Reviews\na topic.", Arguments: []*mcp.PromptArgument{{Name: "topic", Required: true}, {Name: "depth"}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if r.Params.Arguments["topic"] == "" {
				return nil, errors.New("name a topic")
			}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Review " + r.Params.Arguments["topic"]}},
				{Role: "user", Content: &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a", Text: "rules"}}},
				{Role: "user", Content: &mcp.ImageContent{MIMEType: "image/png"}}}}, nil
		})
	s.AddResource(&mcp.Resource{URI: "memo://rules", Name: "rules", Description: "House rules"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "be kind"}}}, nil
	})
	s.AddResource(&mcp.Resource{URI: "memo://picture", Name: "picture"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Blob: []byte("p")}}}, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections) // before that
	return web.URL
}

// Prompts and resources of servers are known, also to the next process, and are texts for the user to
// send.
func TestPrompts(t *testing.T) {
	c := webmcp.UserServersConfig{Servers: map[string]agent.MCPServer{"docs": {Type: "http", URL: prompting(t)}}, Documents: document.Folder(t.TempDir())}
	in := webmcp.In{Workspace: t.TempDir(), Session: "s1"}
	for range 2 {
		all, err := webmcp.NewUserServers(c).Prompts(t.Context(), in)
		if err != nil || len(all) != 1 || all[0].Server != "docs" || all[0].About != "Reviews a topic." || len(all[0].Arguments) != 2 || !all[0].Arguments[0].Required || all[0].Arguments[1].Required {
			t.Fatalf("%+v, %v", all, err)
		}
	}
	s := webmcp.NewUserServers(c)
	for topic, want := range map[string]string{"pumps": "Review pumps\n\nrules\n\n(A picture or sound was left out.)", "": "docs refused: name a topic"} {
		text, err := s.Prompt(t.Context(), in, "docs", "review", map[string]string{"topic": topic})
		if err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("about %q: %q", topic, text)
		}
	}
	if all, err := s.Resources(t.Context(), in); err != nil || len(all) != 2 || !slices.Contains(all, webmcp.Resource{Server: "docs", URI: "memo://rules", Name: "rules", About: "House rules"}) {
		t.Errorf("%+v, %v", all, err)
	}
	for uri, want := range map[string]string{"memo://rules": "be kind", "memo://picture": "memo://picture is not text", "memo://none": "docs refused: Resource not found"} {
		text, err := s.Resource(t.Context(), in, "docs", uri)
		if err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("%s is %q", uri, text)
		}
	}
	if _, err := s.Prompt(t.Context(), in, "other", "review", nil); !errors.Is(err, webmcp.ErrUnknown) {
		t.Errorf("of no server: %v", err)
	}
	if err := s.Switch(webmcp.Switch{In: in, Server: "docs", Off: true}); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Prompts(t.Context(), in); err != nil || len(all) > 0 {
		t.Errorf("of a server that is off: %+v, %v", all, err)
	}
}

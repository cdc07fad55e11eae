package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/document"
	webmcp "webchat/internal/mcp"
)

// prompting is a server with a prompt.
func prompting(t *testing.T) string {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "standin", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			p := r.Params
			about := strings.Join([]string{p.Ref.Type, p.Ref.Name, p.Ref.URI, p.Argument.Name, p.Argument.Value, p.Context.Arguments["day"]}, "|")
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{about, "two\nlines"}}}, nil
		}})
	s.AddTool(&mcp.Tool{Name: "look", InputSchema: map[string]any{"type": "object"}}, nil)
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
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "image/png", Blob: []byte("p")}}}, nil
	})
	s.AddResource(&mcp.Resource{URI: "memo://archive", Name: "archive"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "application/zip", Blob: []byte("PK")}}}, nil
	})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "memo://{room}/notes{?day}", Name: "notes", Description: "Notes of a room"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "notes of " + r.Params.URI}}}, nil
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
	all, err := s.Resources(t.Context(), in)
	rules := webmcp.Resource{Server: "docs", URI: "memo://rules", Name: "rules", About: "House rules"}
	notes := webmcp.Resource{Server: "docs", URI: "memo://{room}/notes{?day}", Name: "notes", About: "Notes of a room", Arguments: []webmcp.Argument{{Name: "room", Required: true}, {Name: "day"}}}
	if err != nil || len(all) != 4 || !slices.ContainsFunc(all, func(r webmcp.Resource) bool { return reflect.DeepEqual(r, rules) }) || !reflect.DeepEqual(all[3], notes) {
		t.Errorf("%+v, %v", all, err)
	}
	for _, row := range []struct {
		uri, want string
		given     map[string]string
	}{
		{"memo://rules", "be kind", nil},
		{"memo://picture", "a picture of image/png: p", nil},
		{"memo://archive", "the resource memo://archive of docs is application/zip, neither text nor a picture, so it cannot go with a prompt", nil},
		{"memo://none", "docs refused: Resource not found", nil},
		{"memo://{room}/notes{?day}", "notes of memo://the%20hall/notes?day=1", map[string]string{"room": "the hall", "day": "1"}},
		{"memo://{room}/notes{?day}", "notes of memo://hall/notes", map[string]string{"room": "hall"}},
		{"memo://{room", "memo://{room is not a template of an address (RFC 6570): name a resource that GET /api/mcp/resources lists", map[string]string{"room": "hall"}},
	} {
		got, err := s.Resource(t.Context(), in, "docs", row.uri, row.given)
		text := got.Text
		for _, p := range got.Pictures {
			text += "a picture of " + p.Type + ": " + string(p.Data)
		}
		if err != nil {
			text = err.Error()
		}
		if text != row.want {
			t.Errorf("%s is %q", row.uri, text)
		}
	}
	for q, want := range map[webmcp.Completion]string{
		{Prompt: "review", Argument: "topic", Value: "pu"}:               "ref/prompt|review||topic|pu|1",
		{URI: "memo://{room}/notes{?day}", Argument: "room", Value: "h"}: "ref/resource||memo://{room}/notes{?day}|room|h|1",
	} {
		if got, err := s.Complete(t.Context(), in, "docs", q, map[string]string{"day": "1"}); err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("%+v is completed by %q, %v", q, got, err)
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

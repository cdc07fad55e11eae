package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	webmcp "webchat/internal/mcp"
)

// framed connects a client of that name that says it draws frames.
func framed(t *testing.T, url, era, name string, extension map[string]any) *mcp.ClientSession {
	t.Helper()
	can := &mcp.ClientCapabilities{Extensions: extension}
	s, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ClientOptions{Capabilities: can}).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: &recorder{key: name}}, MaxRetries: -1}, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

var drawsFrames = map[string]any{"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": []string{"text/html;profile=mcp-app"}}}

// Only clients that draw frames are offered one, and only their frames, which know the id of an
// output, get what it holds.
func TestFramesOnlyWhereTheyAreDrawn(t *testing.T) {
	for _, era := range eras {
		toys := newToys(shows)
		url := onHTTP(t, newServer(t, toys, func(c *webmcp.ServerConfig) {
			c.Content = func(_ context.Context, session, output string) (agent.Attachment, error) {
				if session != "session 1" || output != "o" {
					return agent.Attachment{}, errors.New("not shown there")
				}
				return agent.Attachment{Name: "go.mod", MimeType: "text/plain", Data: []byte("module x\n")}, nil
			}
		}))
		for name, drawn := range map[string]bool{"host": true, "qwen-cli-mcp-client-webchat": false, "plain": false} {
			extension := drawsFrames
			if name == "plain" {
				extension = nil
			}
			s := framed(t, url, era, name, extension)
			list, err := s.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				ui, _ := tool.Meta["ui"].(map[string]any)
				if tool.Name == "frame_output" && !slices.Equal(ui["visibility"].([]any), []any{"app"}) || tool.Name != "frame_output" && (ui["resourceUri"] == "ui://webchat/output") != drawn {
					t.Errorf("%s %s: %s has %v", era, name, tool.Name, tool.Meta)
				}
				names = append(names, tool.Name)
			}
			if slices.Contains(names, "frame_output") != drawn {
				t.Errorf("%s %s is offered %q", era, name, names)
			}
			resources, err := s.ListResources(t.Context(), nil)
			if err != nil || (len(resources.Resources) == 1) != drawn {
				t.Errorf("%s %s: resources %+v, %v", era, name, resources, err)
			}
			if refused := call(t, s, "frame_output", map[string]any{"output": "o"}); !refused.IsError {
				t.Errorf("%s %s reads what was not shown to it", era, name)
			}
		}
		s := framed(t, url, era, "host", drawsFrames)
		page, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "ui://webchat/output"})
		if err != nil || page.Contents[0].MIMEType != "text/html;profile=mcp-app" || !strings.Contains(page.Contents[0].Text, "frame_output") {
			t.Fatalf("the page is %+v, %v", page, err)
		}
		shown := call(t, s, "show", map[string]any{"path": "go.mod"})
		id := shown.Meta["webchat/outputId"]
		if got := text(t, call(t, s, "frame_output", map[string]any{"output": id})); got != "module x\n" {
			t.Errorf("the frame of %v shows %q", id, got)
		}
		if refused := call(t, s, "frame_output", map[string]any{"output": "other"}); !refused.IsError || text(t, refused) != "It cannot be shown here. Open it in webchat." {
			t.Errorf("another output is read: %+v", refused)
		}
	}
}

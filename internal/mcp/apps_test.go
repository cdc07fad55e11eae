package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/document"
	webmcp "webchat/internal/mcp"
)

// TestThreat123AppOnlyTools shows that no model is offered a tool that is for the page of its server,
// and that a tool which becomes one of models' has to be looked at first.
func TestThreat123AppOnlyTools(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	add := func(name string, ui any) {
		s.AddTool(&mcp.Tool{Name: name, Meta: mcp.Meta{"ui": ui}, InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	}
	whom := func(words ...any) any { return map[string]any{"visibility": words} }
	add("a", nil)
	add("b", whom("model", "app"))
	add("c", whom("model"))
	add("d", map[string]any{"resourceUri": "ui://docs/d"})
	add("never", whom("app"))
	add("never-any", map[string]any{"visibility": []any{}})
	add("never-odd", map[string]any{"visibility": "model"})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections) // before that
	folder := document.Folder(t.TempDir())
	servers := func() *webmcp.UserServers {
		return webmcp.NewUserServers(webmcp.UserServersConfig{Documents: folder, Servers: map[string]agent.MCPServer{"docs": {Type: "http", URL: web.URL}}})
	}
	if got := offered(t, servers()); !slices.Equal(got, []string{"docs-a", "docs-b", "docs-c", "docs-d"}) {
		t.Errorf("models are offered %q", got)
	}
	add("never", whom("model", "app"))
	all := servers()
	if _, err := all.Status(t.Context(), webmcp.In{}); err != nil {
		t.Fatal(err)
	}
	if got := offered(t, all); len(got) != 0 {
		t.Errorf("of a server that changed models are offered %q", got)
	}
}

// What draws a result is for the user: the page that its tool names, with all that was returned. No
// model gets any of that, and a page which cannot be had is missed by nothing else.
func TestPagesOfTools(t *testing.T) {
	announced := make(chan bool, 100)
	s := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if c, ok := r.(interface {
				ClientCapabilities() *mcp.ClientCapabilities
			}); ok && method == "tools/call" {
				announced <- c.ClientCapabilities() != nil && strings.Contains(fmt.Sprint(c.ClientCapabilities().Extensions), "io.modelcontextprotocol/ui:map[mimeTypes:[text/html;profile=mcp-app]]")
			}
			return next(ctx, method, r)
		}
	})
	tool := func(name, page string, res mcp.CallToolResult) {
		s.AddTool(&mcp.Tool{Name: name, Meta: mcp.Meta{"ui": map[string]any{"resourceUri": page}}, InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &res, nil
		})
	}
	page := func(uri, mimeType, text string) {
		s.AddResource(&mcp.Resource{URI: uri, Name: uri, MIMEType: mimeType}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mimeType, Text: text, Meta: mcp.Meta{"ui": map[string]any{"csp": map[string]any{
				"connectDomains":  []string{"https://api.test", "http://api.test", "https://127.0.0.1", "https://localhost", "https://a.test;script-src *", "wss://*.b.test:8443", "https://api.test"},
				"resourceDomains": "https://no.test"}}}}}}, nil
		})
	}
	page("ui://docs/page", "text/html;profile=mcp-app", "<p>never")
	page("ui://docs/other", "text/html", "<p>never")
	page("ui://docs/large", "text/html;profile=mcp-app", strings.Repeat("never", 1<<20))
	words := []mcp.Content{&mcp.TextContent{Text: "7 issues"}}
	rest := mcp.CallToolResult{Content: words, StructuredContent: map[string]any{"rows": []any{"never"}}, Meta: mcp.Meta{"m": "never"}}
	tool("t", "ui://docs/page", rest)
	tool("words", "ui://docs/page", mcp.CallToolResult{Content: words})
	tool("picture", "ui://docs/page", mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: []byte("p"), MIMEType: "image/png"}}})
	tool("none", "ui://docs/page", mcp.CallToolResult{})
	tool("failed", "ui://docs/page", mcp.CallToolResult{Content: words, IsError: true})
	tool("other", "ui://docs/other", rest)
	tool("large", "ui://docs/large", rest)
	tool("gone", "ui://docs/gone", rest)
	tool("file", "file:///docs/page", rest)
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections) // before that
	all := webmcp.NewUserServers(webmcp.UserServersConfig{Servers: map[string]agent.MCPServer{"docs": {Type: "http", URL: web.URL}}})
	for name, want := range map[string]struct{ model, user string }{
		"t":       {"7 issues", "docs/t.json"},
		"words":   {"7 issues", "docs/words.txt"},
		"picture": {"The picture is shown to the user, too.", "docs/picture.md"},
		"none":    {"Displayed docs/none.txt", "docs/none.txt"},
		"failed":  {model: "7 issues"},
		"other":   {model: "7 issues"}, "large": {model: "7 issues"}, "gone": {model: "7 issues"}, "file": {model: "7 issues"},
	} {
		got := shown{}
		_, tools := lend(t, all, "", got)
		_, res := run(t, tools["docs-"+name], `{"q":1}`)
		if sent := fmt.Sprint(res.TextForModel, res.SessionLog); res.TextForModel != want.model || strings.Contains(sent, "never") {
			t.Errorf("%s: the model gets %q", name, sent)
		}
		switch app := got["app"]; {
		case want.user == "":
			if app != "" {
				t.Errorf("%s: it is drawn by %s", name, app)
			}
		case got[want.user] == "":
			t.Errorf("%s: the user sees %q", name, got)
		case name == "t" && (!strings.Contains(app, `"m":"never"`) || !strings.Contains(app, `"structuredContent":{"rows":["never"]}`)):
			t.Errorf("%s: it is given %s", name, app)
		case !strings.HasPrefix(app, `{"server":"docs","tool":"`+name+`","arguments":{"q":1},"result":{`) ||
			!strings.Contains(app, `"hosts":{"connect":["https://api.test","wss://*.b.test:8443"],"load":[]},"html":"\u003cp\u003enever"}<nil>`):
			t.Errorf("%s: it is drawn by %s", name, app)
		}
		if !<-announced {
			t.Errorf("%s: its server does not learn that pages are drawn", name)
		}
	}
}

// A page calls tools of its own server, as they say: it is asked about as the server's, and what came
// of it goes to the page alone.
func TestPageCalls(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	for name, whom := range map[string][]string{"close": {"app"}, "find": {"model", "app"}, "mine": {"model"}} {
		s.AddTool(&mcp.Tool{Name: name, Meta: mcp.Meta{"ui": map[string]any{"visibility": whom}}, InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			size := 1
			if len(r.Params.Arguments) > 2 {
				size = 5 << 20
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("never", size)}}}, nil
		})
	}
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections) // before that
	all := webmcp.NewUserServers(webmcp.UserServersConfig{Servers: map[string]agent.MCPServer{"docs": {Type: "http", URL: web.URL}, "other": {Type: "http", URL: web.URL + "/gone"}}})
	set, _ := lend(t, all, "", shown{})
	var got string
	tool := func(server, name string) (agent.Tool, error) {
		return set.(agent.PageTools).PageTool(t.Context(), server, name, func(raw json.RawMessage) { got = string(raw) })
	}
	for _, one := range [][2]string{{"docs", "mine"}, {"docs", "none"}, {"none", "close"}} {
		if _, err := tool(one[0], one[1]); err == nil {
			t.Errorf("a page may call %q", one)
		}
	}
	for _, name := range []string{"close", "find"} {
		one, err := tool("docs", name)
		if err != nil {
			t.Fatal(err)
		}
		got = ""
		ask, res := run(t, one, `{}`)
		if !ask.Page || ask.Server != "docs" || ask.ServerTool() != "docs-"+name || ask.Kind != agent.KindMCP || ask.Resource != name {
			t.Errorf("it asks %+v", ask)
		}
		if !strings.Contains(got, `"text":"never"`) || res.Type != agent.Success || strings.Contains(fmt.Sprint(res), "never") {
			t.Errorf("the page gets %q, the session %+v", got, res)
		}
		got = ""
		if _, res := run(t, one, `{"large":1}`); res.Type != agent.Failed || got != "" {
			t.Errorf("the page gets %.100q, the session %+v", got, res)
		}
	}
}

package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	webmcp "webchat/internal/mcp"
)

// A server asks the user in a call: by the session's questions, one for each field, marked as its
// own. Secrets are refused, addresses are opened by the user, and no model is lent.
func TestServersAsk(t *testing.T) {
	form := func(fields string) string {
		return `{"mode":"form","message":"Book a table","requestedSchema":{"type":"object","properties":{` + fields + `}}}`
	}
	for name, c := range map[string]struct {
		asks    string
		answers []string // in their order
		asked   string   // words of the questions, in theirs
		want    string   // words of the server's answer
	}{
		"a form": {`{"mode":"form","message":"Book a table","requestedSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer","title":"Guests"},"day":{"type":"string","enum":["mo","tu"],"enumNames":["Monday","Tuesday"]},"note":{"type":"string"},"sure":{"type":"boolean"}}}}`,
			[]string{"many", "3", "Tuesday", "Leave it empty", "Yes"}, "The MCP server docs asks (1 of 4): Book a table — Guests", `accept {"day":"tu","n":3,"sure":true}`},
		"several": {form(`"days":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["mo","tu","we"]}}`), []string{"so", "mo, tu, we", "mo, we"},
			"days. Any of these, with commas between them: mo, tu, we", `accept {"days":["mo","we"]}`},
		"declined":      {form(`"note":{"type":"string"}`), []string{"Decline"}, "note", "decline null"},
		"no fields":     {form(""), []string{"Accept"}, "asks: Book a table", "accept null"},
		"a secret":      {form(`"apiKey":{"type":"string","title":"API key"}`), nil, "", `the field "apiKey" asks for a secret`},
		"a password":    {form(`"word":{"type":"string","format":"password"}`), nil, "", `unsupported format "password"`},
		"a page":        {`{"mode":"url","message":"Sign in","url":"https://a.example/in","elicitationId":"1"}`, []string{"I opened it"}, "asks you to open a page of a.example: Sign in|[https://a.example/in](<https://a.example/in>)", "accept null"},
		"no page":       {`{"mode":"url","message":"Sign in","url":"javascript:alert(1)","elicitationId":"1"}`, nil, "", "only an address with https or http"},
		"newer: a form": {form(`"n":{"type":"number"}`), []string{"2.5"}, "asks (1 of 1): Book a table — n", `"content":{"n":2.5}`},
		"a model":       {"", nil, "", "webchat lends no model to MCP servers"},
	} {
		s := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
		newer := strings.HasPrefix(name, "newer: ") // than sessions of the protocol
		s.AddTool(&mcp.Tool{Name: "t", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			said := ""
			if c.asks == "" {
				//lint:ignore SA1019 servers before 2026-07-28 ask for it
				if _, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{}); err != nil {
					said = err.Error()
				}
			} else {
				var p mcp.ElicitParams
				if err := json.Unmarshal([]byte(c.asks), &p); err != nil {
					return nil, err
				}
				if newer && len(r.Params.InputResponses) == 0 {
					return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"x": &p}}, nil
				}
				if newer {
					text, err := json.Marshal(r.Params.InputResponses["x"])
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, err
				}
				res, err := r.Session.Elicit(ctx, &p)
				if err != nil {
					said = err.Error()
				} else {
					text, _ := json.Marshal(res.Content)
					said = res.Action + " " + string(text)
				}
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil
		})
		web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: newer}))
		all := webmcp.NewUserServers(webmcp.UserServersConfig{Servers: map[string]agent.MCPServer{"docs": {Type: "http", URL: web.URL}}})
		set, tools := lend(t, all, "", nil)
		var asked []string
		answers := c.answers
		ctx := agent.WithCall(t.Context(), agent.CallInfo{ToolCallID: "c1", Ask: func(_ context.Context, q agent.Question) (agent.Answer, error) {
			asked = append(asked, q.Question+"|"+q.Detail)
			if len(answers) == 0 || q.ToolCallID != "c1" || q.Choices[len(q.Choices)-1] != "Decline" {
				t.Errorf("%s: unexpected %+v", name, q)
				return agent.Answer{Text: "Decline", Answered: true}, nil
			}
			a := answers[0]
			answers = answers[1:]
			return agent.Answer{Text: a, Answered: true}, nil
		}})
		_, res := runIn(t, ctx, tools["docs-t"], `{}`, func(agent.ProgressReport) {})
		if !strings.Contains(res.TextForModel, c.want) || !strings.Contains(strings.Join(asked, "\n"), c.asked) || len(answers) > 0 {
			t.Errorf("%s: the server gets %q after %q", name, res.TextForModel, asked)
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
		web.CloseClientConnections()
		web.Close()
	}
}

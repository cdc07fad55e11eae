package canary_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/canary"
)

// client is an agent that gives its model of a result what pass says.
type client struct {
	agent.Backend
	model, server string
	pass          func(*mcp.CallToolResult) string
}

func (c client) Open(context.Context, agent.Options, agent.Host) (agent.Conn, error) {
	return clientConn{client: c}, nil
}

type clientConn struct {
	agent.Conn
	client
}

func (clientConn) Close() error { return nil }

func (c clientConn) Prompt(ctx context.Context, _ agent.Prompt) error {
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: c.server, MaxRetries: -1, DisableStandaloneSSE: true},
		nil)
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	told := list.Tools[0].Description
	for {
		name, arguments, err := next(c.model, told, list.Tools[0].Name)
		if name == "" {
			return err
		}
		res, err := s.CallTool(ctx, &mcp.CallToolParams{
			Name:      name,
			Arguments: json.RawMessage(arguments),
		})
		if err != nil {
			return err
		}
		told = c.pass(res)
	}
}

// next is the call that a model makes, which was sent a text and offered tools; empty means none.
func next(model, text string, tools ...string) (name, arguments string, err error) {
	var offered []any
	for _, t := range tools {
		takes := map[string]any{"command": nil, "content": nil, "file_path": nil}
		offered = append(offered, map[string]any{"function": map[string]any{"name": t,
			"parameters": map[string]any{"properties": takes}}})
	}
	body, err := json.Marshal(map[string]any{"model": "m", "messages": []string{text},
		"tools": offered})
	if err != nil {
		return "", "", err
	}
	r, err := http.Post(model+"/v1/chat/completions", "application/json",
		strings.NewReader(string(body)))
	if err != nil {
		return "", "", err
	}
	got, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return "", "", err
	}
	var a struct {
		Choices []struct {
			Message struct {
				ToolCalls []struct {
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	if err := json.Unmarshal(got, &a); err != nil || len(a.Choices[0].Message.ToolCalls) == 0 {
		return "", "", err
	}
	f := a.Choices[0].Message.ToolCalls[0].Function
	return f.Name, f.Arguments, nil
}

func TestTable(t *testing.T) {
	first := func(r *mcp.CallToolResult) string { return r.Content[0].(*mcp.TextContent).Text }
	whole := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	for name, c := range map[string]struct {
		pass    func(*mcp.CallToolResult) string
		reached []string
		lost    []string
		want    string
	}{
		"only the text": {first, []string{"the line for the model", "a tool's description"}, nil, ""},
		"structured": {func(r *mcp.CallToolResult) string {
			if r.StructuredContent != nil {
				return whole(r.StructuredContent)
			}
			return first(r)
		},
			[]string{"the line for the model", "structured content", "structured content of a failure",
				"a tool's description"}, []string{"structured content", "structured content of a failure"}, ""},
		"all the content": {func(r *mcp.CallToolResult) string {
			return whole(r.Content)
		}, []string{"the line for the model", "_meta of a block", "text for the user alone", "a link",
			"a link for the user alone", "an embedded resource", "an embedded resource for the user alone",
			"an embedded page", "a picture", "a picture for the user alone",
			"a tool's description"}, nil, ""},
		"_meta": {func(r *mcp.CallToolResult) string {
			return first(r) + whole(r.Meta)
		}, []string{"the line for the model", "_meta of a result", "_meta of a failure",
			"a tool's description"}, nil, "THE CANARY REACHED THE MODEL"},
		"nothing": {func(*mcp.CallToolResult) string {
			return ""
		}, []string{"a tool's description"}, nil, "nothing was proven"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := canary.Table{Backend: func(model, _, server string) (agent.Backend, error) {
				return client{model: model, server: server, pass: c.pass}, nil
			}}.Try(t.Context())
			http.DefaultTransport.(*http.Transport).CloseIdleConnections()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if errors.Is(err, canary.ErrLeaked) != (name == "_meta") {
				t.Errorf("%v is taken for another error", err)
			}
			var reached, lost []string
			for _, r := range rows {
				if !r.Tried {
					t.Errorf("%s was not tried", r.Part)
				}
				if r.Reached {
					reached = append(reached, r.Part)
				}
				if r.Lost && name != "nothing" {
					lost = append(lost, r.Part)
				}
			}
			if !slices.Equal(reached, c.reached) || !slices.Equal(lost, c.lost) {
				t.Errorf("reached %q, lost %q", reached, lost)
			}
		})
	}
}

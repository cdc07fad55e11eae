package canary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/canary/scripted"
	"webchat/internal/event"
)

// Gateway tries what an agent's model gets of the results of a user's MCP server that webchat lends
// to it: a text is in each part of them, and in what is for the page of the server.
type Gateway struct {
	// Backend makes the agent, with the model at an address and a folder for its state.
	Backend func(model, state string) (agent.Backend, error)
	// Lend makes a session's tools out of those of the MCP server at an address, named [Server].
	Lend func(server string) (agent.Toolset, error)
}

// Server is how the user calls the MCP server.
const Server = "canary"

const appTool, pageURI = "app_canary", "ui://canary/page"

// forModels are the parts of results that models are to get.
var forModels = []string{"line", "link", "resource", "picture", "description"}

// usersParts are the parts of what a user's server has.
func usersParts() []part {
	parts := append(allParts(),
		part{id: "left-out", name: "what was left out of a large result", canary: secret(),
			result: func(canary, line string) *mcp.CallToolResult {
				half := strings.Repeat("one of many lines of words\n", 5000)
				return &mcp.CallToolResult{Content: []mcp.Content{
					&mcp.TextContent{Text: line + "\n" + half + canary + "\n" + half}}}
			}},
		part{id: "page", name: "the page of a tool", canary: secret()},
		part{id: "app", name: "a tool for its page alone, and its result", canary: secret()})
	for i := range parts {
		parts[i].relied = !slices.Contains(forModels, parts[i].id)
	}
	return parts
}

// addPage gives the tool a page, and a tool to the page.
func (p *probe) addPage(s *mcp.Server, t *mcp.Tool) {
	t.Meta["ui"] = map[string]any{"resourceUri": pageURI}
	const kind = "text/html;profile=mcp-app"
	s.AddResource(&mcp.Resource{URI: pageURI, Name: p.of("page"), MIMEType: kind},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: pageURI,
				MIMEType: kind, Text: "<p>" + p.of("page")}}}, nil
		})
	s.AddTool(&mcp.Tool{Name: appTool, Description: p.of("app"),
		Meta:        mcp.Meta{"ui": map[string]any{"visibility": []string{"app"}}},
		InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: p.of("app")}}}, nil
		})
}

// Try returns a row for each part. The error wraps [ErrLeaked] if something that is for the user
// reached the model; any other means that it could not be tried.
func (g Gateway) Try(ctx context.Context) (rows []Row, err error) {
	p, err := newProbe(ctx, usersParts())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	set, err := g.Lend(p.url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	if of, ok := set.(agent.Preparer); ok {
		if err := of.Prepare(ctx); err != nil {
			return nil, err
		}
	}
	err = sit(ctx, g.Backend, &Host{Decision: event.Allow, Tools: set}, func(s sitting) error {
		if err := p.callAsPage(ctx, set); err != nil {
			return err
		}
		s.model.Play(p.steps()...)
		if err := s.prompt(ctx); err != nil {
			return err
		}
		rows, err = p.rows(s.model.Requests(), true)
		for _, r := range rows {
			if err == nil && !r.Tried {
				err = fmt.Errorf("nothing was proven: the agent did not call for %s", r.Part)
			}
		}
		return err
	})
	return rows, err
}

// callAsPage calls the tool that is for the page alone.
func (p *probe) callAsPage(ctx context.Context, set agent.Toolset) error {
	pages, ok := set.(agent.PageTools)
	if !ok {
		return errors.New("nothing was proven: pages of MCP servers have no tools")
	}
	var got json.RawMessage
	t, err := pages.PageTool(ctx, Server, appTool, func(raw json.RawMessage) { got = raw })
	if err != nil {
		return err
	}
	if _, err := perform(ctx, t, agent.ToolCall{
		ID:        "page",
		Arguments: json.RawMessage(`{}`),
	}); err != nil {
		return err
	}
	if !strings.Contains(string(got), p.of("app")) {
		return errors.New("nothing was proven: the page of an MCP server did not get what it called for")
	}
	return nil
}

// steps are calls for each part of a result.
func (p *probe) steps() (steps []scripted.Step) {
	for _, x := range p.parts {
		if x.result != nil {
			steps = append(steps, scripted.Step{Tool: probeTool, Arguments: `{"part":"` + x.id + `"}`})
		}
	}
	return steps
}

// perform plans a call and runs it.
func perform(ctx context.Context, t agent.Tool, c agent.ToolCall) (agent.Result, error) {
	ctx = agent.WithCall(ctx, agent.CallInfo{SessionID: "canary", ToolCallID: c.ID})
	a, err := t.Plan(ctx, c.Arguments)
	if err != nil {
		return agent.Result{}, err
	}
	return a.Run(ctx, func(agent.ProgressReport) {})
}

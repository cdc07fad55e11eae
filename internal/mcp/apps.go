package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// offer is a tool of a user's server.
type offer struct {
	name string // as its server calls it
	spec agent.ToolSpec
	ui   toolUI
}

// toolUI is what a tool says by MCP Apps. The zero value is a tool without a page.
type toolUI struct {
	Page  string `json:",omitempty"` // the address of the page that draws its results
	NoApp bool   `json:",omitempty"` // its page must not call it
	Only  bool   `json:",omitempty"` // its page alone may call it: no model is offered it
}

// toolUIOf reads what a tool says by MCP Apps. Who may call it has to be a list of words it knows:
// of anything else no model is offered the tool.
func toolUIOf(t *mcp.Tool) (ui toolUI) {
	meta, _ := t.Meta["ui"].(map[string]any)
	if uri, _ := meta["resourceUri"].(string); strings.HasPrefix(uri, "ui://") {
		ui.Page = uri
	}
	visible, ok := meta["visibility"]
	if !ok || visible == nil {
		return ui
	}
	whom, _ := visible.([]any)
	ui.Only, ui.NoApp = !slices.Contains(whom, any("model")), !slices.Contains(whom, any("app"))
	return ui
}

// mostPage is how many bytes of a page are shown.
const mostPage = 4 << 20

// readPage reads the page that draws what a tool returned. nil: it has none that can be shown.
func (t *serverTool) readPage(ctx context.Context, c *connected, args json.RawMessage,
	res *mcp.CallToolResult) *displaytools.App {
	if t.ui.Page == "" || res.IsError {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.g.servers.cfg.Limit)
	defer cancel()
	read, err := c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: t.ui.Page})
	whole, bad := json.Marshal(res)
	if err != nil || bad != nil {
		return nil
	}
	for _, r := range read.Contents {
		if r == nil || r.URI != t.ui.Page || r.MIMEType != frameType {
			continue
		}
		html := cmp.Or(r.Text, string(r.Blob))
		if html == "" || len(html) > mostPage || !utf8.ValidString(html) {
			continue
		}
		return &displaytools.App{Server: t.at.name, Tool: t.name, Arguments: args, Result: whole,
			Hosts: hostsOf(r.Meta), HTML: html}
	}
	return nil
}

// hostsOf are the origins that a page says it reaches.
func hostsOf(m mcp.Meta) displaytools.AppHosts {
	ui, _ := m["ui"].(map[string]any)
	csp, _ := ui["csp"].(map[string]any)
	list := func(name string) (all []string) {
		given, _ := csp[name].([]any)
		for _, value := range given {
			if s, ok := value.(string); ok {
				all = append(all, s)
			}
		}
		return all
	}
	return displaytools.NewAppHosts(list("connectDomains"), list("resourceDomains"))
}

// shown is what the user is shown of a result. Where a page draws it, that is a text, which stands
// there without the page.
func (s *shares) shown(tool string, app *displaytools.App) part {
	if len(s.user) > 0 {
		if shown := whole(tool, s.user); shown.text || app == nil {
			return shown
		}
	}
	if text := strings.Join(s.model, "\n"); text != "" {
		return part{tool + textEnding(text), []byte(text), true}
	}
	alone := part{tool + ".txt", []byte("It returned no text."), true}
	return whole(tool, append([]part{alone}, s.user...))
}

// pageTool is a tool as the page of its server calls it.
type pageTool struct {
	serverTool
	got func(json.RawMessage)
}

// PageTool implements [agent.PageTools].
func (g *gateway) PageTool(ctx context.Context, server, name string,
	got func(json.RawMessage)) (agent.Tool, error) {
	all, err := g.servers.look(ctx, g.workspace, false)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Name != server || s.State != Ready {
			continue
		}
		for _, o := range s.offers {
			if o.name == name && !o.ui.NoApp {
				return &pageTool{serverTool{g, g.servers.place(server, g.workspace), o}, got}, nil
			}
		}
	}
	return nil, fmt.Errorf("%s has no tool %q that its page may call", server, wording.Cut(name, 100))
}

// Plan implements [agent.Tool].
func (t *pageTool) Plan(ctx context.Context, raw json.RawMessage) (agent.Action, error) {
	a, err := t.serverTool.Plan(ctx, raw)
	if err != nil {
		return a, err
	}
	a.Ask.Page, a.Ask.Action = true, "use a tool of its server"
	a.Run = func(ctx context.Context, report agent.Progress) (agent.Result, error) {
		_, res, failure := t.call(ctx, raw, report)
		if failure != nil {
			return *failure, nil
		}
		text, err := json.Marshal(res)
		if err != nil || len(text) > mostPage {
			return agent.Failure(event.KindProvider, "What %s returned is too large for its page.",
				t.spec.Name), nil
		}
		t.got(text)
		return agent.Result{Type: agent.Success,
			TextForModel: "Returned to the page of " + t.at.name + "."}, nil
	}
	return a, nil
}

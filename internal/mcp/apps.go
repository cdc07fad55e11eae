package mcp

import (
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
)

// offer is a tool of a user's server.
type offer struct {
	name string // as its server calls it
	spec agent.ToolSpec
	ui   toolUI
}

// toolUI is what a tool says by MCP Apps. The zero value is that of a tool which says nothing.
type toolUI struct {
	Page  string `json:",omitempty"` // the address of the page that draws its results
	NoApp bool   `json:",omitempty"` // its page must not call it
	Only  bool   `json:",omitempty"` // its page alone may call it: no model is offered it
}

// toolUIOf reads what a tool says by MCP Apps. Who may call it has to be a list of words it knows:
// of anything else no model is offered the tool.
func toolUIOf(t *mcp.Tool) (ui toolUI) {
	said, _ := t.Meta["ui"].(map[string]any)
	if uri, _ := said["resourceUri"].(string); strings.HasPrefix(uri, "ui://") {
		ui.Page = uri
	}
	visible, ok := said["visibility"]
	if !ok || visible == nil {
		return ui
	}
	whom, _ := visible.([]any)
	ui.Only, ui.NoApp = !slices.Contains(whom, any("model")), !slices.Contains(whom, any("app"))
	return ui
}

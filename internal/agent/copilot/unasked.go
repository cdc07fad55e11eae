package copilot

import (
	"encoding/json"
	"fmt"
	"slices"

	"webchat/internal/agent"
)

// asksItself are the tools of the CLI about whose calls it asks in any case. Of the others it
// knows, the tools reach nothing beyond the session; of those of MCP servers it asks about none
// that says of itself that it only reads (1.0.102).
var asksItself = []string{"bash", "powershell", "create", "edit", "apply_patch", "grep", "rg",
	"glob", "web_fetch"}

// judge asks the session, before a call runs, about what the CLI may not ask about. That of a call
// whose start is not reported yet the CLI asks instead: in which turn the user is asked depends on
// it.
func (s *hooks) judge(t *turn, x *execution, tool string,
	arguments json.RawMessage) (out *hookOutput, allowed bool) {
	act := agent.Permission{
		ToolName: tool,
		Kind:     agent.KindTool,
		Action:   "use a tool",
		Resource: tool + " " + compactJSON(arguments),
		Cwd:      s.acts.workspace,
	}
	switch {
	case slices.Contains(asksItself, tool):
		// Confined, the CLI does not find a file that only an answer opens, and fails without asking.
		if _, files := editOf(tool, arguments); s.confined && len(files) > 0 {
			return &hookOutput{PermissionDecision: "ask", PermissionDecisionReason: "write a file"}, false
		}
		return nil, false
	case !slices.Contains(knownTools, tool):
		// the CLI asks hooks also about tools that it does not have
		if act = s.acts.ofServer(tool, arguments); act.Server == "" {
			return denied(fmt.Sprintf("Tool '%s' does not exist.", tool)), false
		}
		if x == nil {
			return &hookOutput{PermissionDecision: "ask", PermissionDecisionReason: act.Action}, false
		}
	}
	if x != nil {
		act.ToolCallID = x.ID
	}
	if err := s.c.Permit(t.Ctx, act); err != nil {
		return denied(err.Error()), false
	}
	return nil, act.Kind == agent.KindMCP
}

// ofServer is a call of a tool of an MCP server.
func (a acts) ofServer(tool string, arguments json.RawMessage) agent.Permission {
	return mcpAct(agent.Permission{ToolName: tool, Cwd: a.workspace}, a.tools.server(tool), tool,
		arguments)
}

func mcpAct(p agent.Permission, server, tool string, arguments json.RawMessage) agent.Permission {
	p.Kind, p.Server, p.Action, p.Resource = agent.KindMCP, server, "use a tool of an MCP server",
		tool+" "+compactJSON(arguments)
	if server != "" {
		p.Action = "use a tool of the MCP server " + server
	}
	return p
}

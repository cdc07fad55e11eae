package copilot

import (
	"encoding/json"
	"fmt"
	"slices"

	"webchat/internal/agent"
)

// asksItself are the tools of the CLI about whose calls it asks in any case. Of the others it
// knows, the tools reach nothing beyond the session.
var asksItself = []string{"bash", "powershell", "create", "edit", "apply_patch", "grep", "rg",
	"glob", "web_fetch"}

// judge asks the session, before a call runs, about what the CLI may not ask about. That of a call
// whose start is not reported yet the CLI asks instead: in which turn the user is asked depends on
// it.
func (s *hooks) judge(t *turn, x *execution, tool string,
	arguments json.RawMessage) (out *hookOutput) {
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
			return &hookOutput{PermissionDecision: "ask", PermissionDecisionReason: "write a file"}
		}
		return nil
	case !slices.Contains(knownTools, tool):
		// the CLI asks hooks also about tools that it does not have
		return denied(fmt.Sprintf("Tool '%s' does not exist.", tool))
	}
	if x != nil {
		act.ToolCallID = x.ID
	}
	if err := s.c.Permit(t.Ctx, act); err != nil {
		return denied(err.Error())
	}
	return nil
}

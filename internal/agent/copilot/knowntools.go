// The tools that the CLI offers a model. Facts are those of versions 1.0.75 to 1.0.102.

package copilot

import (
	"maps"
	"strings"

	"webchat/internal/agent"
)

// hiddenTool is the CLI's tool that would send files to the model.
const hiddenTool = "view"

// knownTools are the tools of the CLI that a model may be offered. Each asks before it
// acts, or acts on nothing but the session's own shells and helper agents. What
// the CLI has beside them reaches beyond the session or is not asked about: lsp
// starts programs that the workspace names, session_store_sql reads what was said in
// other sessions, skill loads instructions. sql is there for the agent's list of what
// is to do: without a session store it reaches the session's own database only, and
// refuses ATTACH, VACUUM INTO and extensions, as was tried with 1.0.102.
var knownTools = []string{
	"bash", "read_bash", "stop_bash", "list_bash",
	"powershell", "read_powershell", "stop_powershell", "list_powershell",
	"create", "edit", "apply_patch", "grep", "rg", "glob", "web_fetch", "ask_user",
	"task", "read_agent", "list_agents", "write_agent",
	"sql", "exit_plan_mode", "task_complete",
}

// allowedTools are the tools of a session in the CLI's words: its own, some of ours, and those
// of the user's servers where there are any. It keeps to them also for helper agents,
// whose tools cannot be read back.
func allowedTools(ours []agent.ToolSpec, servers bool) []string {
	var all []string
	for _, name := range knownTools {
		all = append(all, "builtin:"+name)
	}
	for _, t := range ours {
		all = append(all, "custom:"+t.Name)
	}
	if servers {
		all = append(all, "mcp:*")
	}
	return all
}

// offeredTool is one of the tools that a model is really offered.
type offeredTool struct {
	Name          string
	MCPServerName string // empty: it is the CLI's, or ours
	InputSchema   struct {
		Properties map[string]struct{ Description string }
	} `json:"input_schema"`
}

// freshProcess is how versions 1.0.75 to 1.0.102 tell the model that each command
// runs in a process of its own, which begins in the workspace: neither a cd nor a
// shellId that is used again carries a folder over, as was tried with both.
const freshProcess = "runs in a fresh process"

// FreshShell reports whether the tool is a shell that keeps no folder.
func (o offeredTool) FreshShell() bool {
	if o.Name != "bash" && o.Name != "powershell" {
		return false
	}
	for p := range maps.Values(o.InputSchema.Properties) {
		if strings.Contains(p.Description, freshProcess) {
			return true
		}
	}
	return false
}

// ReachesOut reports whether the tool is an sql of another form than the one that is
// known, which may read more than the session's own database.
func (o offeredTool) ReachesOut() bool {
	if o.Name != "sql" || o.MCPServerName != "" {
		return false
	}
	for name := range o.InputSchema.Properties {
		if name != "query" && name != "description" {
			return true
		}
	}
	return false
}

package acp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"webchat/internal/agent"
)

// tallied ends a call of one of the session's tools, which was told of when it reached
// them. One that never did is shown as any other: it failed before, or it is of something
// else that only looks like one.
func (c *conn) tallied(t *turn, k *call) {
	if !k.ended() {
		return
	}
	c.mu.Lock()
	came := t.came > 0
	t.came = max(0, t.came-1)
	c.mu.Unlock()
	if k.done = came; !came {
		c.begin(t, k)
		c.complete(t, k)
	}
}

// ours reports whether a call says that it is of one of the session's own tools, which
// ask by themselves. Each agent says so in a way of its own, as recorded.
func (c *conn) ours(k call) bool {
	name := lentName(k)
	return slices.ContainsFunc(c.o.Tools, func(t agent.ToolSpec) bool { return t.Name == name })
}

// lentName is the name of the lent tool that a call says it is of; empty: of none.
func lentName(k call) (name string) {
	claude, found := k.Meta.ClaudeCode.MCPServer, false
	switch {
	case claude.Name != "" && (claude.Name != "webchat" || claude.Source != "" && claude.Source != "dynamic"):
		return "" // a server in the agent's own settings
	case k.Meta.Provenance != "": // Qwen Code
		name, found = strings.CutPrefix(k.Meta.ToolName, "mcp__webchat__")
		found = found && k.Meta.Provenance == "mcp" && k.Meta.ServerID == "webchat"
	case k.Kind == "execute":
		name, found = codexName(k)
	case k.Kind != "other":
	case strings.HasPrefix(k.ToolCallID, "mcp_webchat_"): // Gemini CLI, whose titles may be the command
		name, _, found = strings.Cut(strings.TrimPrefix(k.ToolCallID, "mcp_webchat_"), "__")
	default:
		for _, begin := range []string{"webchat-", "webchat_", "mcp__webchat__"} {
			if !found {
				name, found = strings.CutPrefix(cmp.Or(k.Name, k.CallTitle), begin)
			}
		}
	}
	if !found {
		return ""
	}
	return name
}

// codexName is the same for Codex, whose calls of MCP tools look like commands, but have
// none. What models write cannot have its form.
func codexName(k call) (name string, found bool) {
	var in map[string]json.RawMessage
	if json.Unmarshal(k.RawInput, &in) != nil || string(in["server"]) != `"webchat"` {
		return "", false
	}
	for key := range in {
		if key != "server" && key != "tool" && key != "arguments" {
			return "", false
		}
	}
	return strings.CutPrefix(k.CallTitle, "mcp.webchat.")
}

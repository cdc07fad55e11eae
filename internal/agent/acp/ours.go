package acp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
)

// Mark is the field in which an agent's own program says which tool of which MCP server a call is
// of. What a model writes, and a title, is never one.
type Mark string

// The marks, with the version each was seen in.
const (
	// mcpServer and toolName, in the question itself: claude-agent-acp 0.100.0
	MarkClaude Mark = "_meta.claudeCode"
	// tool_approval of the question, tool_call of the call it is about: codex-acp 2.6.0
	MarkCodex Mark = "_meta.is_mcp_"
	MarkQwen  Mark = "_meta.provenance" // with serverId and toolName, in the call: Qwen Code 0.24.4
	// the name of the registered tool, before the model's id: Gemini CLI 0.61.0
	MarkGemini Mark = "toolCallId"
)

// lent are the session's own tools as an agent calls them. It belongs to the loop.
type lent struct {
	tools  []agent.ToolSpec
	mark   Mark
	server string           // the name of the server that has them
	came   []agent.ToolCall // calls of them whose end is not reported yet
}

// marked reports whether a question is about a call of one of the session's own tools, by the
// agent's mark. before is what was known of the call.
func (l *lent) marked(q permission, before, k call) bool {
	tool, found := "", false
	u := q.ToolCall.toolCall
	// the mark is that of the call, and not the question's
	agrees := len(u.RawInput) == 0 || convo.SameJSON(u.RawInput, before.RawInput)
	switch l.mark {
	case MarkClaude:
		m := u.Meta.ClaudeCode
		tool, found = strings.CutPrefix(m.ToolName, "mcp__webchat__")
		found = found && m.MCPServer.Name == "webchat" && m.MCPServer.Source == "dynamic"
	case MarkCodex:
		server, name := before.mcpTool()
		tool, found = name, q.Meta.ToolApproval && before.Meta.MCPToolCall && server == "webchat" &&
			agrees
	case MarkQwen:
		of := k
		if of.toolCall = u; u.Meta.Provenance == "" && agrees {
			of = before
		}
		server, name := of.mcpTool()
		tool, found = strings.CutPrefix(name, "mcp__webchat__")
		found = found && server == "webchat"
	case MarkGemini:
		tool, _, found = strings.Cut(strings.TrimPrefix(u.ToolCallID, "mcp_webchat_"), "__")
		found = found && strings.HasPrefix(u.ToolCallID, "mcp_webchat_")
	}
	return found && l.has(tool)
}

// has reports whether the session has a tool of that name.
func (l *lent) has(tool string) bool {
	return slices.ContainsFunc(l.tools, func(t agent.ToolSpec) bool { return t.Name == tool })
}

// mcpTool is the MCP server and the tool that a call is of, as the agent's program says; without a
// server the tool may be the agent's own.
func (k *call) mcpTool() (server, tool string) {
	switch m := k.Meta; {
	case m.ClaudeCode.MCPServer.Name != "":
		return m.ClaudeCode.MCPServer.Name, k.Name
	case m.Provenance == "mcp":
		return m.ServerID, m.ToolName
	case m.MCPToolCall:
		var in struct{ Server, Tool string }
		_ = json.Unmarshal(k.RawInput, &in) // then it is not known
		return in.Server, in.Tool
	}
	return "", k.Name
}

// reached reports whether a call reached the session's tools, by its tool and, where they are
// known, its arguments; each that did counts for one.
func (l *lent) reached(k *call) bool {
	arguments := k.RawInput
	var codex struct{ Arguments json.RawMessage }
	if k.Kind == "execute" && json.Unmarshal(arguments, &codex) == nil && len(codex.Arguments) > 0 {
		arguments = codex.Arguments
	}
	i := slices.IndexFunc(l.came, func(tc agent.ToolCall) bool {
		return tc.Name == l.name(*k) && (convo.Compact(arguments) == "" ||
			convo.SameJSON(arguments, tc.Arguments))
	})
	if i >= 0 {
		l.came = slices.Delete(l.came, i, i+1)
	}
	return i >= 0
}

// looksLent reports whether a call looks like one of the session's own tools, as each agent was
// recorded to show them. It decides only when its row begins.
func (l *lent) looksLent(k call) bool { return l.has(l.name(k)) }

// name is the name of the lent tool that a call looks like; empty means none.
func (l *lent) name(k call) (name string) {
	claude, found := k.Meta.ClaudeCode.MCPServer, false
	switch {
	case claude.Name != "" && (claude.Name != "webchat" || claude.Source != "dynamic"):
		return "" // a server in the agent's own settings
	case k.Meta.Provenance != "": // Qwen Code
		name, found = strings.CutPrefix(k.Meta.ToolName, "mcp__webchat__")
		found = found && k.Meta.Provenance == "mcp" && k.Meta.ServerID == "webchat"
	case k.Kind == "execute" && k.Meta.MCPToolCall:
		server, tool := k.mcpTool()
		name, found = tool, server == "webchat"
	case k.Kind != "other":
	case strings.HasPrefix(k.ToolCallID, "mcp_webchat_"):
		// Gemini CLI, whose titles may be the command
		name, _, found = strings.Cut(strings.TrimPrefix(k.ToolCallID, "mcp_webchat_"), "__")
	default:
		for _, begin := range []string{l.server + "-", "webchat_", "mcp__webchat__"} {
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

// Server is what stands in a command for the name of the server that has a session's tools. An
// agent whose command has it allows the calls of the server of that name, so that no file can have
// known the name.
const Server = "{webchat}"

// server is the name of the server that has the tools of a session, the same each time.
func (c Config) server(sessionID string) string {
	if !slices.ContainsFunc(c.Command, func(arg string) bool {
		return strings.Contains(arg, Server)
	}) {
		return server
	}
	sum := sha256.Sum256([]byte(sessionID))
	return server + "-" + hex.EncodeToString(sum[:4])
}

// server is the name where nothing depends on it.
const server = "webchat"

// command is the command of a process for a session.
func (c Config) command(sessionID string) (args []string) {
	for _, arg := range c.Command {
		args = append(args, strings.ReplaceAll(arg, Server, c.server(sessionID)))
	}
	return args
}

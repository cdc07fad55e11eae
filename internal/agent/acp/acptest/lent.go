package acptest

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// shapes are how agents tell of a call of webchat's render_file_contents, as recorded:
// what they tell before they ask, when they ask, and at its end.
var shapes = map[string][3]object{
	"claude": {
		{"toolCallId": "toolu_1", "title": "mcp__webchat__render_file_contents",
			"name": "mcp__webchat__render_file_contents", "kind": "other", "status": "pending",
			"rawInput": object{}},
		{"toolCallId": "toolu_1", "title": "mcp__webchat__render_file_contents",
			"name": "mcp__webchat__render_file_contents", "kind": "other",
			"rawInput": object{"path": "go.mod"},
			"_meta": object{"claudeCode": object{"toolName": "mcp__webchat__render_file_contents",
				"mcpServer": object{"name": "webchat", "source": "dynamic"}}}},
		{"toolCallId": "toolu_1", "status": "completed", "content": []any{content("Displayed")}},
	},
	"codex": {
		{"toolCallId": "c1", "title": "mcp.webchat.render_file_contents", "kind": "execute",
			"status": "in_progress",
			"rawInput": object{"server": "webchat", "tool": "render_file_contents",
				"arguments": object{"path": "go.mod"}}, "_meta": object{"is_mcp_tool_call": true}},
		// and says beside it that it is the approval of a tool
		{"toolCallId": "c1", "kind": "execute", "status": "pending"},
		{"toolCallId": "c1", "status": "completed", "rawOutput": object{"result": object{}}},
	},
	"copilot": {
		{"toolCallId": "c9", "title": "webchat-render_file_contents", "kind": "other",
			"status": "pending", "rawInput": object{"path": "go.mod"}},
		nil,
		{"toolCallId": "c9", "status": "completed", "content": []any{content("Displayed")}},
	},
	"gemini": { // whose title, when it asks, may be what the tool is to do
		nil,
		{"toolCallId": "mcp_webchat_render_file_contents__mcp_webchat_render_file_contents_1795291616789_0", "title": "go.mod", "kind": "other", "status": "pending", "content": []any{content("{}")}},
		{"toolCallId": "mcp_webchat_render_file_contents__mcp_webchat_render_file_contents_1795291616789_0", "title": "render_file_contents (webchat MCP Server)", "kind": "other",
			"status": "completed", "content": []any{content("Displayed")}},
	},
	"qwen": { // which first says that some tool is called
		{"toolCallId": "call_2", "title": "ToolCall", "kind": "other", "status": "pending",
			"rawInput": object{}, "_meta": object{"phase": "preparing", "provenance": "builtin",
				"toolName": "tool_call"}},
		{"toolCallId": "call_2", "title": "render_file_contents (webchat MCP Server): {}", "kind": "read",
			"status": "in_progress", "rawInput": object{"path": "go.mod"},
			"_meta": object{"provenance": "mcp", "serverId": "webchat",
				"toolName": "mcp__webchat__render_file_contents"}},
		{"toolCallId": "call_2", "status": "completed",
			"_meta": object{"provenance": "mcp", "serverId": "webchat",
				"toolName": "mcp__webchat__render_file_contents"}, "content": []any{content("Displayed")}},
	},
}

func copied(o object) object {
	c := object{}
	for k, v := range o {
		c[k] = v
	}
	return c
}

// lent calls a tool of webchat's as one of the agents does. With "without" before its
// name it only says so.
func lent(a *standIn, ctx context.Context, agent string, calls bool) {
	s := shapes[agent]
	if s[0] != nil {
		a.update("tool_call", copied(s[0]))
	}
	if s[1] != nil {
		a.ask(ctx, "session/request_permission", object{"sessionId": a.id, "toolCall": copied(s[1]),
			"options": options, "_meta": object{"is_mcp_tool_approval": agent == "codex"}})
	}
	if calls {
		// its result is reported above
		_, _ = a.tools.CallTool(ctx, &mcp.CallToolParams{
			Name:      "render_file_contents",
			Arguments: object{"path": "go.mod"},
		})
	}
	a.update("tool_call_update", copied(s[2]))
}

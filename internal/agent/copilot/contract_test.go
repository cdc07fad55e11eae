package copilot_test

import (
	"testing"

	"webchat/internal/agent/agenttest"
)

// obedient is a stand-in that does what the checks of agenttest ask for.
const obedient = `
-- > show --
event assistant.turn_start {"turnId":"0"}
event assistant.message_delta {"messageId":"$M-a","deltaContent":"Let me "}
event assistant.message_delta {"messageId":"$M-a","deltaContent":"show it."}
event assistant.message {"messageId":"$M-a","content":"Let me show it.","toolRequests":[{"toolCallId":"call_0","name":"render_file_contents","arguments":{"path":"$ARG"}}]}
event tool.execution_start {"toolCallId":"call_0","toolName":"render_file_contents","arguments":{"path":"$ARG"}}
event external_tool.requested {"requestId":"R","toolCallId":"call_0","toolName":"render_file_contents","arguments":{"path":"$ARG"}}
await session.tools.handlePendingToolCall
event tool.execution_complete {"toolCallId":"call_0","success":true,"result":{"content":"$TEXT"}}
event assistant.turn_end {"turnId":"0"}
event assistant.turn_start {"turnId":"1"}
event assistant.message {"messageId":"$M-b","content":"Done: $TEXT"}
event assistant.turn_end {"turnId":"1"}
-- > run --
event assistant.turn_start {"turnId":"0"}
event tool.execution_start {"toolCallId":"call_0","toolName":"run_and_display","arguments":{"command":"$ARG"}}
event external_tool.requested {"requestId":"R","toolCallId":"call_0","toolName":"run_and_display","arguments":{"command":"$ARG"}}
await session.tools.handlePendingToolCall
event assistant.message {"messageId":"$M-b","content":"Done: $TEXT"}
event assistant.turn_end {"turnId":"0"}
-- > call --
event assistant.turn_start {"turnId":"0"}
event tool.execution_start {"toolCallId":"call_0","toolName":"create","arguments":{}}
event permission.requested {"requestId":"P","permissionRequest":{"kind":"write","toolCallId":"call_0","fileName":"$ARG","diff":"+written"}}
await session.permissions.handlePendingPermissionRequest
write $ARG
event tool.execution_complete {"toolCallId":"call_0","success":true,"result":{"content":"ok"}}
event assistant.message {"messageId":"$M-b","content":"Done."}
event assistant.turn_end {"turnId":"0"}
-- > both --
event assistant.turn_start {"turnId":"0"}
event tool.execution_start {"toolCallId":"call_0","toolName":"apply_patch","arguments":{}}
event permission.requested {"requestId":"P","permissionRequest":{"kind":"write","toolCallId":"call_0","fileName":"$ARG1","diff":"+written","fileEdits":[{"before":{},"after":{"path":"$ARG1"}},{"before":{},"after":{"path":"$ARG2"}}]}}
await session.permissions.handlePendingPermissionRequest
event tool.execution_complete {"toolCallId":"call_0","success":false,"error":{"message":"denied","code":"denied"}}
event assistant.message {"messageId":"$M-b","content":"Done."}
event assistant.turn_end {"turnId":"0"}
-- > grep --
event assistant.turn_start {"turnId":"0"}
event tool.execution_start {"toolCallId":"call_0","toolName":"grep","arguments":{"pattern":"KEY","path":"$ARG"}}
event permission.requested {"requestId":"P","permissionRequest":{"kind":"read","toolCallId":"call_0","path":"$ARG"}}
await session.permissions.handlePendingPermissionRequest
event tool.execution_complete {"toolCallId":"call_0","success":false,"error":{"message":"denied","code":"denied"}}
event assistant.message {"messageId":"$M-b","content":"Done."}
event assistant.turn_end {"turnId":"0"}
-- > forge --
event assistant.turn_start {"turnId":"0"}
event tool.execution_start {"toolCallId":"call_0","toolName":"webchat-$ARG","arguments":{"command":"ls"}}
event permission.requested {"requestId":"P","permissionRequest":{"kind":"mcp","toolCallId":"call_0","serverName":"webchat","toolName":"$ARG","args":{"command":"ls"}}}
await session.permissions.handlePendingPermissionRequest
event tool.execution_complete {"toolCallId":"call_0","success":false,"error":{"message":"denied","code":"denied"}}
event assistant.message {"messageId":"$M-b","content":"Done."}
event assistant.turn_end {"turnId":"0"}
-- > ask --
event assistant.turn_start {"turnId":"0"}
event tool.execution_start {"toolCallId":"call_0","toolName":"ask_user","arguments":{}}
request userInput.request {"sessionId":"$S","question":"Which?","choices":["red"],"allowFreeform":true}
event tool.execution_complete {"toolCallId":"call_0","success":true,"result":{"content":"$TEXT"}}
event assistant.message {"messageId":"$M-b","content":"You said $TEXT"}
event assistant.turn_end {"turnId":"0"}
-- session.metadata.getContextAttribution --
{"contextAttribution":{"modelId":"own/fake-1","totalTokens":100,"limit":1000,"categories":{"systemPrompt":40,"systemTools":30,"messages":30}}}
-- > stray --
event assistant.turn_start {"turnId":"0"}
event session.mode_changed {"previousMode":"plan","newMode":"autopilot"}
event assistant.message {"messageId":"$M-b","content":"I go on alone."}
event assistant.turn_end {"turnId":"0"}
-- > talk --
event assistant.turn_start {"turnId":"0"}
slowly 6000 assistant.message_delta {"messageId":"$M-a","deltaContent":"word "}
`

// TestContract runs the contract of every backend on the stand-in.
func TestContract(t *testing.T) {
	c, _ := scripted(t, []byte(obedient))
	k := &keeper{Backend: backend(t, c)}
	o := contract(k)
	o.Write = func(path string) string { return "call " + path }
	o.WriteTwo = func(one, other string) string { return "both " + one + " " + other }
	o.Search = func(_, folder string) string { return "grep " + folder }
	o.Forge = func(tool string) string { return "forge " + tool }
	o.Stray = "stray"
	o.Background = nil // tasks are tried with the real CLI
	agenttest.Run(t, k, o)
}

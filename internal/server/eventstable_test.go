package server

// preface begins docs/events.md.
const preface = `# Events

This page and [examples/events.ts](examples/events.ts) are made from the code. ` + "`GET /api/openapi.json`" + ` has a JSON Schema of
everything here. A client in one file is [examples/client/main.go](examples/client/main.go).

## Reading

` + "`GET /api/sessions/{id}/events`" + ` with ` + "`Accept: text/event-stream`" + ` sends the log and then what happens; without, a page of the log
(` + "`after`, `limit`" + `). ` + "`?dialect=autohand`" + ` tells the same in the nine events of the Autohand contract. Requests carry
` + "`Authorization: Bearer TOKEN`" + `, which ` + "`webchat token`" + ` prints.

A frame has one ` + "`data:`" + ` line with JSON. Its ` + "`id:`" + ` is the place in the log: send the last one as ` + "`Last-Event-ID`" + ` (or ` + "`?after=`" + `) and you get
exactly what came after it. A prompt is ` + "`POST …/messages`" + `; with ` + "`?wait=true`" + ` it is answered at the end of its turn. A question stays
open until ` + "`POST …/permissions/{requestId}`" + ` with ` + "`{\"decision\":\"allow\"|\"deny\"}`" + ` answers it, or its time is over, which is a no.

Durations are milliseconds. Our own events have the envelope ` + "`{id, timestamp, parentId, " +
	"ephemeral?, type, data}`" + `, those of the dialect
` + "`{id, timestamp, type, data}`" + `.

## A hook's veto

A hook is a command of the user's configuration, for all agents the same. It reads
` + "`{requestId, sessionId, event, tool?, arguments?, result?, prompt?, " +
	"workspace}`" + ` and may print
` + "`{\"allow\":false,\"reason\":\"…\"}`" + `; the reason is what the model reads. ` + "`hook_invoked`" + ` and ` + "`hook.end`" + ` come after the command ended.

## Routes

`

// promises comes after the vocabularies.
const promises = `
## What holds

- ` + "`tool_start`" + ` comes before the ` + "`tool_end`" + ` of the same call, and each has exactly one.
- ` + "`permission_request`" + ` comes before the act, and nothing acts before the answer is in the log.
- ` + "`hook_invoked`" + ` comes after the hook's command ended.
- ` + "`session_end`" + ` comes once when the agent's work ends: with the server, by idleness, by the agent's death. A ` + "`session_start`" + `
  comes before the next turn. A server that is killed writes no end.
- Turns and their iterations count from 1. The deltas of a message, put together, are the message.

## Where each thing of the documents is

Tests whose names begin with ` + "`TestReal`" + ` run a real agent.

| in the documents | here | shown by |
| --- | --- | --- |
`

// shown says where each event and field of the three documents that webchat was made
// from is, and the test that shows it.
var shown = []struct{ what, here, room, test string }{
	{"Autohand: `session_start {sessionId, project}`",
		"the dialect's, at each start and resume of an agent", "internal/server", "TestDialectGolden"},
	{"Autohand: `session_end {sessionId, duration}`",
		"the dialect's, in milliseconds; once, also of an agent that rests or died", "internal/session",
		"TestTheEndOfAKilledAgentIsLogged"},
	{"Autohand: `turn_start {turn, iteration}`",
		"the dialect's, from 1; over the Agent Client Protocol, which does not tell of model calls, " +
			"`iteration` stays 1", "internal/server", "TestDialectGuarantees"},
	{"Autohand: `message_update {delta, message}`",
		"the dialect's, with `messageId`; the CLI itself sends a message whole", "internal/server",
		"TestDialectGuarantees"},
	{"Autohand: `tool_start {toolName, args}`",
		"the dialect's, with `toolId`; also of calls the CLI does not tell of", "internal/agent/autohand",
		"TestRefusedCalls"},
	{"Autohand: `tool_end {toolName, result, duration}`",
		"the dialect's, with `toolId` and `success`; exactly one for each start", "internal/server",
		"TestDialectGuarantees"},
	{"Autohand: `permission_request {requestId, tool, action, resource}`",
		"the dialect's, before the act and its answer", "internal/server",
		"TestDialectGuaranteesOfConsentHooksAndDurations"},
	{"Autohand: `hook_invoked {event, command, exitCode}`",
		"the dialect's, after the command ended; the CLI has no such event", "cmd/webchat", "TestScript"},
	{"Autohand: `error {message, context}`",
		"the dialect's; `context` is `{errorType, statusCode?, turnId?, code?, recoverable?}`",
		"internal/agent/autohand", "TestProviderErrors"},
	{"Autohand: veto `{allow:false, reason}`", "what a hook prints, for every agent",
		"internal/agent/autohand", "TestHooks"},
	{"Autohand: waits for the answer or a time limit", "`expiresAt`; our limit comes before the CLI's",
		"internal/agent/autohand", "TestQuestions"},
	{"Autohand: text beside tool calls", "`assistant.message` with its `toolRequests`",
		"internal/agent/autohand", "TestSteps"},
	{"Autohand: files held back until the end of a turn",
		"accepted, shown as a diff, told if they were lost", "internal/agent/autohand",
		"TestWritesAreNotLostSilently"},
	{"Autohand: `run_command {background}`", "asked about as such; it ends with the conversation",
		"internal/agent/autohand", "TestCommandsInTheBackgroundEndWithTheConversation"},
	{"Autohand: resume", "`session.resume`; the CLI's stored id", "internal/agent/autohand",
		"TestContract"},
	{"A client: prompt, permission, veto, resume",
		"`docs/examples/client`, the same with the embedded agent, Autohand and an agent of the Agent " +
			"Client Protocol", "cmd/webchat/testdata/script", "script client"},
	{"The same client with the GitHub Copilot CLI", "the same events", "cmd/webchat/testdata/script",
		"script client_copilot"},
	{"Copilot: the envelope `{id, timestamp, parentId, ephemeral, type, data}`",
		"the same; `parentId` is the logged event before, `agentId` becomes `parentToolCallId`",
		"internal/event", "TestEnvelopeIsPlainJSON"},
	{"Copilot: `session.start {sessionId, context, selectedModel}`",
		"the same, with `workspace` and `backend`; `selectedModel` is `model`", "internal/session",
		"TestATurn"},
	{"Copilot: `session.resume {sessionId, context}`", "the same", "internal/session",
		"TestResumeOfTheConversation"},
	{"Copilot: `session.shutdown {totalApiDurationMs, modelMetrics}`",
		"the same event, `durationMs` and `usage`, when the agent's conversation ends: with the " +
			"server, by idleness, by its death; of a server that was killed, before the next " +
			"`session.resume`", "internal/session", "TestTheEndOfARestingConversationIsLogged"},
	{"Copilot: `session.idle`", "the same, and `turn.end`, which is logged", "internal/session",
		"TestATurn"},
	{"Copilot: `session.error {errorType, message, statusCode}`",
		"the same, with `kind` and `context`", "internal/agent/copilot", "TestDialogues"},
	{"Copilot: `session.title_changed {title}`", "the same; a title that the user gave stays",
		"internal/session", "TestReport"},
	{"Copilot: `session.model_change {newModel}`", "the same", "internal/session", "TestReport"},
	{"Copilot: `session.usage_info {tokenLimit, currentTokens, messagesLength}`", "the same",
		"internal/agent/copilot", "TestDialogues"},
	{"Copilot: `session.truncation`",
		"the same; no agent we reach sends it: the CLI sums up before it would have to",
		"internal/agent/copilot", "TestDialogues"},
	{"Copilot: `session.compaction_start`, `session.compaction_complete`",
		"the same, without the text of the summary", "internal/agent/copilot", "TestRealCompact"},
	{"Copilot: `user.message {messageId, content, attachments}`",
		"the same; what the CLI adds to the text is not told", "internal/session", "TestAttachments"},
	{"Copilot: `assistant.turn_start {turnId}`", "the same", "internal/agent/copilot",
		"TestDialogues"},
	{"Copilot: `assistant.turn_end {turnId}`", "the same", "internal/agent/copilot", "TestDialogues"},
	{"Copilot: `assistant.message_delta {messageId, deltaContent, parentToolCallId}`",
		"the same, with `offset`", "internal/session", "TestDeltas"},
	{"Copilot: `assistant.reasoning_delta {reasoningId, deltaContent}`", "the same, with `offset`",
		"internal/agent/copilot", "TestDialogues"},
	{"Copilot: `assistant.streaming_delta {totalResponseSizeBytes}`",
		"not passed on; `offset` of a delta and its length say as much", "internal/agent/copilot",
		"TestRealRareEvents"},
	{"Copilot: `assistant.message {messageId, content, toolRequests, parentToolCallId}`",
		"the same; a request is `{toolCallId, name, arguments, type}`", "internal/session", "TestReport"},
	{"Copilot: `assistant.reasoning {reasoningId, content}`", "the same", "internal/agent/copilot",
		"TestDialogues"},
	{"Copilot: `assistant.usage {model, inputTokens, outputTokens, cacheReadTokens, cost, duration, " +
		"quotaSnapshots}`", "the same, and a line in what the page says of the model. The CLI sends " +
		"`quotaSnapshots` empty for models of the user's own, which is not passed on; no agent we " +
		"reach fills it", "internal/agent/copilot", "TestRealRareEvents"},
	{"Copilot: `tool.execution_start {toolCallId, toolName, arguments, parentToolCallId}`",
		"the same, with `by`", "internal/session", "TestReport"},
	{"Copilot: `tool.execution_progress {toolCallId, progressMessage}`",
		"the same; of a display tool also `outputId`, `bytes`, `lines`, `elapsedMs`. Of a tool of an " +
			"MCP server it has that server's words", "internal/mcp", "TestGateway"},
	{"Copilot: an edit of a file about which it asks in another session",
		"kept waiting by the CLI, which does not report that: `waitsFor` in `tool.execution_progress` " +
			"is the session, without an id if it is another user's, and a progress without it says that " +
			"it is over", "internal/agent/copilot", "TestRealEditsWaitForAnothersQuestion"},
	{"Copilot: `tool.execution_partial_result {toolCallId, partialOutput}`",
		"the same, for tools that are not webchat's; each is what came since the one before",
		"internal/agent/copilot", "TestRealRareEvents"},
	{"Copilot: `tool.execution_complete {toolCallId, success, result, error, toolTelemetry, " +
		"parentToolCallId}`", "the same, with `outputId`; `result` is `{content, detailedContent}`, " +
		"`error` `{message, code, kind}`, and of an agent's own tool the telemetry's numbers only. " +
		"Pictures in a result go to the model and not " +
		"here", "internal/agent/copilot", "TestRealRareEvents"},
	{"Copilot: `permission.requested {requestId}`",
		"the same, with what is asked for in words; the CLI's `permissionRequest` is not passed on",
		"internal/agent/copilot", "TestDialogues"},
	{"Copilot: `permission.completed {requestId}`",
		"the same; its `result` is `decision`, `scope`, `by` and `reason`", "internal/session",
		"TestPermissionIsAsked"},
	{"Copilot: `user_input.requested {requestId, question, choices, allowFreeform}`", "the same",
		"internal/session", "TestQuestions"},
	{"Copilot: `user_input.completed {requestId, answer, wasFreeform}`", "the same, with `by`",
		"internal/session", "TestQuestions"},
	{"Copilot: `hook.start {hookInvocationId, hookType}`",
		"the same event, `hookId` and `event`, with `command`", "internal/session", "TestHooks"},
	{"Copilot: `hook.end {hookInvocationId, hookType, success}`",
		"the same event, `hookId`, `event` and `exitCode`, with `allow` and `reason`", "internal/session",
		"TestHooks"},
	{"Copilot: `subagent.selected {toolCallId, agentName}`",
		"the same; `agentName` is the one for people. The CLI sends it for its agents with a " +
			"definition, as `explore`", "internal/agent/copilot", "TestRealRareEvents"},
	{"Copilot: `subagent.started {toolCallId, agentName}`",
		"the same; `agentName` is the one for people", "internal/agent/copilot", "TestDialogues"},
	{"Copilot: `subagent.completed {toolCallId, agentName}`", "the same", "internal/agent/copilot",
		"TestDialogues"},
	{"Copilot: `subagent.failed {toolCallId, agentName, error}`", "the same", "internal/agent/copilot",
		"TestRealRareEvents"},
	{"Copilot: `abort {reason}`", "the same, with `by`", "internal/session",
		"TestAbortClosesEverything"},
	{"Tools: the result `{textResultForLlm, resultType, error, sessionLog, toolTelemetry}`",
		"the same to the CLI, but for `sessionLog`, which it is not sent; in `tool.execution_complete` " +
			"`result.content`, `success`, `error`, `result.detailedContent` and `toolTelemetry`. Only the " +
			"text and binary results reach a model", "cmd/webchat/testdata/script", "script verify"},
	{"Tools: binary results, and `rejected` with a `sessionLog`",
		"the CLI takes both: a picture reaches the model, `rejected` ends the turn; the `sessionLog` " +
			"is not sent to it: of a success it is `result.detailedContent` here, of a refusal it is not " +
			"kept", "internal/agent/copilot", "TestRealRareEvents"},
	{"Tools: the output, its id and its address",
		"`outputId` in `tool.execution_complete`; `GET /api/outputs/{id}`", "internal/session",
		"TestDisplayByTheUser"},
	{"Tools: an id that an agent makes up", "taken out of what agents report", "internal/session",
		"TestThreat23ForeignOutputsAreNotBelieved"},
	{"Tools: a tool in the program itself", "a Go value with `Spec` and `Plan`", "internal/agent",
		"ExampleTool"},
	{"Tools: the display tools over MCP", "streamable HTTP with a key for each session",
		"internal/mcp", "TestWhatClientsAreToldOfTools"},
}

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

Durations are milliseconds. Our own events have the envelope ` + "`{id, timestamp, parentId, ephemeral?, type, data}`" + `, those of the dialect
` + "`{id, timestamp, type, data}`" + `.

## A hook's veto

A hook is a command of the user's configuration, for all agents the same. It reads
` + "`{requestId, sessionId, event, tool?, arguments?, result?, prompt?, workspace}`" + ` and may print
` + "`{\"allow\":false,\"reason\":\"…\"}`" + `; the reason is what the model reads. ` + "`hook_invoked`" + ` and ` + "`hook.end`" + ` come after the command ended.

## Routes

`

// promises comes after the vocabularies.
const promises = `
## What holds

- ` + "`tool_start`" + ` comes before the ` + "`tool_end`" + ` of the same call, and each has exactly one.
- ` + "`permission_request`" + ` comes before the act, and nothing acts before the answer is in the log.
- ` + "`hook_invoked`" + ` comes after the hook's command ended.
- Turns and their iterations count from 1. The deltas of a message, put together, are the message.

## Where each thing of the documents is

| in the documents | here | shown by |
| --- | --- | --- |
`

// shown says where each event and field of the documents that webchat was made from is,
// and the test that shows it.
var shown = []struct{ what, here, room, test string }{
	{"Autohand: `session_start {sessionId, project}`", "the dialect's, at each start and resume of an agent", "internal/dialect", "TestGolden"},
	{"Autohand: `session_end {sessionId, duration}`", "the dialect's, in milliseconds", "internal/dialect", "TestGuaranteesOfConsentHooksAndDurations"},
	{"Autohand: `turn_start {turn, iteration}`", "the dialect's, from 1", "internal/dialect", "TestGuarantees"},
	{"Autohand: `message_update {delta, message}`", "the dialect's; the CLI itself sends a message whole", "internal/dialect", "TestGuarantees"},
	{"Autohand: `tool_start {toolName, args}`", "the dialect's, also of calls the CLI does not tell of", "internal/agent/autohand", "TestRefusedCalls"},
	{"Autohand: `tool_end {toolName, result, duration}`", "the dialect's, exactly one for each start", "internal/dialect", "TestGuarantees"},
	{"Autohand: `permission_request {requestId, tool, action, resource}`", "the dialect's, before the act and its answer", "internal/dialect", "TestGuaranteesOfConsentHooksAndDurations"},
	{"Autohand: `hook_invoked {event, command, exitCode}`", "the dialect's, after the command ended; the CLI has no such event", "cmd/webchat", "TestScript"},
	{"Autohand: `error {message, context}`", "the dialect's; `context` is `{errorType, statusCode?, turnId?, code?, recoverable?}`", "internal/agent/autohand", "TestProviderErrors"},
	{"Autohand: veto `{allow:false, reason}`", "what a hook prints, for every agent", "internal/agent/autohand", "TestHooks"},
	{"Autohand: waits for the answer or a time limit", "`expiresAt`; our limit comes before the CLI's", "internal/agent/autohand", "TestQuestions"},
	{"Autohand: text beside tool calls", "`assistant.message` with its `toolRequests`", "internal/agent/autohand", "TestSteps"},
	{"Autohand: files held back until the end of a turn", "accepted, shown as a diff, told if they were lost", "internal/agent/autohand", "TestWritesAreNotLostSilently"},
	{"Autohand: `run_command {background}`", "asked about as such; it ends with the conversation", "internal/agent/autohand", "TestCommandsInTheBackgroundEndWithTheConversation"},
	{"Autohand: resume", "`session.resume`; the CLI's stored id", "internal/agent/autohand", "TestContract"},
	{"A client: prompt, permission, veto, resume", "`docs/examples/client`", "cmd/webchat/testdata/script", "script client"},
	{"The same client with the GitHub Copilot CLI", "the same events", "cmd/webchat/testdata/script", "script client_copilot"},
	{"Copilot: `assistant.message_delta {messageId, deltaContent}`", "the same, with `offset`", "internal/agent/copilot", "TestContract"},
	{"Copilot: `tool.execution_partial_result {partialOutput}`", "the same, for tools that are not webchat's", "internal/agent/copilot", "TestDialogues"},
	{"Copilot: `tool.execution_complete {parentToolCallId, toolTelemetry}`", "the same; of an agent's own tool the numbers only", "internal/screen", "TestReport"},
	{"Copilot: `assistant.message.toolRequests[].type`", "the same", "internal/screen", "TestReport"},
	{"Copilot: `assistant.streaming_delta {totalResponseSizeBytes}`", "`offset` of a delta and its length", "internal/agent/copilot", "TestDialogues"},
	{"Copilot: `assistant.usage {quotaSnapshots}`", "the same, and a line in what the page says of the model", "internal/page", "TestLedgerTellsWhatIsLeftOfThePlan"},
	{"Copilot: `session.error {errorType, message, statusCode}`", "the same, with `kind` and `context`", "internal/screen", "TestReport"},
	{"Copilot: `subagent.selected`, `.started`, `.completed`, `.failed`", "the same; `agentName` is the one for people", "internal/agent/copilot", "TestDialogues"},
	{"A tool in the program itself", "a Go value with `Spec` and `Plan`", "internal/agent", "ExampleTool"},
	{"Copilot: a tool's result `{textResultForLlm, resultType, sessionLog, toolTelemetry}`", "the same; only the text reaches a model", "cmd/webchat/testdata/script", "script verify"},
	{"The display tools over MCP", "streamable HTTP with a key for each session", "internal/mcpserver", "TestWhatClientsAreToldOfTools"},
}

// The events of webchat, made from its code. Backends may add fields to the data of ours.

export interface Envelope<T extends string, D> { id: string; timestamp: string; parentId: string | null; ephemeral?: true; type: T; data: D }
export interface AutohandEnvelope<T extends string, D> { id: string; timestamp: string; type: T; data: D }

export type WebchatEvent =
  | Envelope<"session.start", { sessionId: string; workspace?: string; backend: string; model: string; title?: string; context: { cwd: string; gitRoot?: string; branch?: string; commit?: string }; instructions?: (string)[]; instructionsSeen?: boolean; user?: string }>
  | Envelope<"session.resume", { sessionId: string; workspace?: string; backend: string; model: string; context: { cwd: string; gitRoot?: string; branch?: string; commit?: string } }>
  | Envelope<"session.shutdown", { sessionId: string; workspace?: string; durationMs: number; usage?: { inputTokens: number; outputTokens: number; cacheReadTokens?: number; cost?: number; calls?: number; turns?: number; definitionTokens?: number; estimatedTokens?: number; keptTokens?: number; ownTokens?: number } }>
  | Envelope<"turn.start", { turnId: string; messageId?: string; by?: "agent" | "user"; cause?: string; snapshot?: string }>
  | Envelope<"turn.end", { turnId: string; messageId?: string; outcome: "completed" | "aborted" | "error" | "interrupted"; usage: { inputTokens: number; outputTokens: number; cacheReadTokens?: number; cost?: number; calls?: number; turns?: number; definitionTokens?: number; estimatedTokens?: number; keptTokens?: number; ownTokens?: number }; durationMs: number; steered?: (string)[]; fill?: { tokenLimit: number; currentTokens: number }; snapshot?: string; noSnapshot?: "no_git" | "too_large" | "late" | "failed"; changed?: number; added?: number; removed?: number; notHeld?: number }>
  | Envelope<"session.idle", {  }>
  | Envelope<"session.error", { message: string; errorType: string; kind?: "not_found" | "outside" | "sensitive" | "not_regular" | "too_large" | "binary" | "not_image" | "bad_arguments" | "unknown_tool" | "denied" | "timeout" | "aborted" | "interrupted" | "agent_died" | "provider" | "retrying" | "limit" | "log" | "internal"; statusCode?: number; retryAfterMs?: number; waits?: boolean; context?: { turnId?: string; code?: number; recoverable?: boolean } }>
  | Envelope<"session.title_changed", { title: string }>
  | Envelope<"session.model_change", { newModel: string; effort?: string }>
  | Envelope<"session.budget_changed", { budget: { tokens?: number; money?: number } }>
  | Envelope<"budget.reached", { of?: string; limit: { tokens?: number; money?: number }; used: { tokens?: number; money?: number } }>
  | Envelope<"session.worktree", { branch: string; checkout: string; from?: string }>
  | Envelope<"worktree.brought_back", { files: (string)[]; unfitted?: (string)[]; commit?: string; undone?: boolean }>
  | Envelope<"worktree.thrown", { restored?: boolean }>
  | Envelope<"file.also_changed", { toolCallId?: string; file: string; sessionId: string; title?: string; turnId: string }>
  | Envelope<"session.rewound", { toMessageId?: string; turnId?: string; after: number; waited?: (number)[]; forgets?: string; filesOnly?: boolean; files?: { id: string; written: number; deleted: number; kept: number }; undoes?: number; given?: boolean }>
  | Envelope<"session.branched", { from: string; messageId: string; title?: string }>
  | Envelope<"session.damaged", { copy?: string }>
  | Envelope<"session.mode_changed", { mode: string; name?: string; unasked?: boolean }>
  | Envelope<"session.todos_changed", { todos: ({ text: string; status: string })[] }>
  | Envelope<"session.usage_info", { tokenLimit: number; currentTokens: number; messagesLength: number; systemTokens?: number; conversationTokens?: number; toolDefinitionsTokens?: number }>
  | Envelope<"session.truncation", { tokenLimit?: number; preTruncationTokensInMessages?: number; postTruncationTokensInMessages?: number; messagesRemovedDuringTruncation?: number; tokensRemovedDuringTruncation?: number }>
  | Envelope<"session.compaction_start", { currentTokens?: number; tokenLimit?: number }>
  | Envelope<"session.compaction_complete", { messagesRemoved?: number; tokensRemoved?: number; preCompactionTokens?: number; postCompactionTokens?: number }>
  | Envelope<"user.message", { messageId: string; content: string; attachments?: ({ id?: string; path?: string; outputId?: string; lines?: string; lifted?: string; mention?: boolean; sensitive?: boolean; name?: string; mimeType?: string })[] }>
  | Envelope<"user.message_withdrawn", { messageId: string; as?: string }>
  | Envelope<"assistant.turn_start", { turnId: string; promptId?: string }>
  | Envelope<"assistant.turn_end", { turnId: string }>
  | Envelope<"assistant.message_delta", { messageId: string; offset: number; deltaContent: string; parentToolCallId?: string }>
  | Envelope<"assistant.reasoning_delta", { reasoningId: string; offset: number; deltaContent: string; parentToolCallId?: string }>
  | Envelope<"assistant.message_discarded", { messageId: string }>
  | Envelope<"assistant.message", { messageId: string; content: string; toolRequests?: ({ toolCallId: string; name: string; arguments?: unknown; type?: string })[]; partial?: boolean; parentToolCallId?: string }>
  | Envelope<"assistant.reasoning", { reasoningId: string; content: string; parentToolCallId?: string }>
  | Envelope<"assistant.usage", { scope?: string; model: string; inputTokens: number; outputTokens: number; cacheReadTokens: number; cost: number; duration: number; quotaSnapshots?: unknown; definitionTokens?: number }>
  | Envelope<"tool.execution_start", { toolCallId: string; toolName: string; arguments: unknown; by: "agent" | "user"; parentToolCallId?: string }>
  | Envelope<"tool.execution_progress", { toolCallId: string; progressMessage?: string; outputId?: string; bytes?: number; lines?: number; elapsedMs?: number; tokensShown?: number; tokensSent?: number; leftOut?: string; waitsFor?: { sessionId?: string } }>
  | Envelope<"tool.execution_partial_result", { toolCallId: string; partialOutput: string }>
  | Envelope<"tool.execution_complete", { toolCallId: string; success: boolean; result?: { content: string; detailedContent?: string }; error?: { message: string; code: string; kind?: "not_found" | "outside" | "sensitive" | "not_regular" | "too_large" | "binary" | "not_image" | "bad_arguments" | "unknown_tool" | "denied" | "timeout" | "aborted" | "interrupted" | "agent_died" | "provider" | "retrying" | "limit" | "log" | "internal"; nearest?: (string)[]; by?: "user" | "grant" | "rule" | "timeout" | "hook" | "mode" | "abort"; limit?: "command-timeout" | "read-time" | "image-bytes" | "image-pixels" }; toolTelemetry?: unknown; outputId?: string; fingerprint?: { sum: number; lines?: string }; resultTokens?: number; durationMs: number; parentToolCallId?: string }>
  | Envelope<"permission.requested", { requestId: string; toolCallId?: string; toolName: string; kind: string; action: string; resource: string; target?: string; resources?: ({ kind: string; action: string; resource: string; target?: string })[]; cwd?: string; why?: string; diff?: string; digest: string; sensitive?: boolean; secret?: { file: string; looks: string }; page?: string; withheld?: (string)[]; grants: ({ id: string; text: string; covers?: string; scope?: "once" | "session" | "workspace" })[]; held?: ({ id: string; folder?: boolean; files: number; bytes: number; stoodMs?: number; beside?: string })[]; expiresAt?: string }>
  | Envelope<"permission.completed", { requestId: string; decision: "allow" | "deny"; scope?: "once" | "session" | "workspace"; grant?: { id: string; text: string; covers?: string; scope?: "once" | "session" | "workspace" }; rule?: { number?: number; builtIn?: boolean; covers?: string }; reason?: string; by: "user" | "grant" | "rule" | "timeout" | "hook" | "mode" | "abort"; kept?: (string)[] }>
  | Envelope<"permission.revoked", { grant: { id: string; text: string; covers?: string; scope?: "once" | "session" | "workspace" } }>
  | Envelope<"sandbox.opened", { id: string; kind: "path" | "host"; what: string; readOnly?: boolean; scope: "once" | "session" | "workspace"; by: "user" | "grant" | "rule" | "timeout" | "hook" | "mode" | "abort" }>
  | Envelope<"sandbox.closed", { id: string; by: "user" | "end" }>
  | Envelope<"sandbox.refused", { toolCallId: string; what: string; kind: string; write?: boolean; offers: (string)[]; folder?: string; probably?: boolean }>
  | Envelope<"user_input.requested", { requestId: string; toolCallId?: string; question: string; detail?: string; choices?: (string)[]; allowFreeform: boolean }>
  | Envelope<"user_input.completed", { requestId: string; answer: string; wasFreeform?: boolean; by?: "user" | "grant" | "rule" | "timeout" | "hook" | "mode" | "abort" }>
  | Envelope<"output.opened", { outputId: string }>
  | Envelope<"output.deleted", { outputId: string }>
  | Envelope<"output.reread", { outputId: string; newOutputId: string; toolTelemetry?: unknown; fingerprint?: { sum: number; lines?: string } }>
  | Envelope<"hook.start", { hookId: string; event: string; command: string; toolCallId?: string }>
  | Envelope<"hook.end", { hookId: string; event: string; command: string; exitCode: number; durationMs: number; allow: boolean; reason?: string; arguments?: unknown; prompt?: string }>
  | Envelope<"subagent.selected", { toolCallId: string; agentName: string }>
  | Envelope<"subagent.started", { toolCallId: string; agentName: string }>
  | Envelope<"subagent.completed", { toolCallId: string; agentName: string }>
  | Envelope<"subagent.failed", { toolCallId: string; agentName: string; error?: string }>
  | Envelope<"task.started", { taskId: string; kind: string; title: string; toolCallId?: string }>
  | Envelope<"task.output", { taskId: string; text: string }>
  | Envelope<"task.completed", { taskId: string; outcome: "completed" | "aborted" | "error" | "interrupted"; exitCode?: number; usage?: { inputTokens: number; outputTokens: number; cacheReadTokens?: number; cost?: number; calls?: number; turns?: number; definitionTokens?: number; estimatedTokens?: number; keptTokens?: number; ownTokens?: number } }>
  | Envelope<"abort", { reason: string; by?: "user" | "grant" | "rule" | "timeout" | "hook" | "mode" | "abort" }>
  | Envelope<"stream.resync", { reason: string; after: number }>
  | Envelope<"stream.closing", { reason?: string; retryMs: number }>
  | Envelope<"session.changed", { sessionId: string; workspace?: string; status: "idle" | "running" | "waiting"; title: string; pending: number; lastEvent: number; deleted?: boolean }>

// With ?dialect=autohand.
export type AutohandEvent =
  | AutohandEnvelope<"error", { message: string; context: { errorType: string; statusCode?: number; turnId?: string; code?: number; recoverable?: boolean } }>
  | AutohandEnvelope<"hook_invoked", { event: string; command: string; exitCode: number }>
  | AutohandEnvelope<"message_update", { delta: string; message: string; messageId: string }>
  | AutohandEnvelope<"permission_request", { requestId: string; tool: string; action: string; resource: string }>
  | AutohandEnvelope<"session_end", { sessionId: string; duration: number }>
  | AutohandEnvelope<"session_start", { sessionId: string; project: string }>
  | AutohandEnvelope<"tool_end", { toolId: string; toolName: string; result: string; success: boolean; duration: number }>
  | AutohandEnvelope<"tool_start", { toolId: string; toolName: string; args: unknown }>
  | AutohandEnvelope<"turn_start", { turn: number; iteration: number }>

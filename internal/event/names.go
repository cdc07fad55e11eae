package event

import "reflect"

// The names under which events travel.
const (
	TypeSessionStart               Type = "session.start"
	TypeSessionResume              Type = "session.resume"
	TypeSessionShutdown            Type = "session.shutdown"
	TypeTurnStart                  Type = "turn.start"
	TypeTurnEnd                    Type = "turn.end"
	TypeSessionIdle                Type = "session.idle"
	TypeSessionError               Type = "session.error"
	TypeSessionTitleChanged        Type = "session.title_changed"
	TypeSessionModelChange         Type = "session.model_change"
	TypeSessionUsageInfo           Type = "session.usage_info"
	TypeSessionTruncation          Type = "session.truncation"
	TypeSessionCompactionStart     Type = "session.compaction_start"
	TypeSessionCompactionComplete  Type = "session.compaction_complete"
	TypeUserMessage                Type = "user.message"
	TypeAssistantTurnStart         Type = "assistant.turn_start"
	TypeAssistantTurnEnd           Type = "assistant.turn_end"
	TypeAssistantMessageDelta      Type = "assistant.message_delta"
	TypeAssistantReasoningDelta    Type = "assistant.reasoning_delta"
	TypeAssistantMessageDiscarded  Type = "assistant.message_discarded"
	TypeAssistantMessage           Type = "assistant.message"
	TypeAssistantReasoning         Type = "assistant.reasoning"
	TypeAssistantUsage             Type = "assistant.usage"
	TypeToolExecutionStart         Type = "tool.execution_start"
	TypeToolExecutionProgress      Type = "tool.execution_progress"
	TypeToolExecutionPartialResult Type = "tool.execution_partial_result"
	TypeToolExecutionComplete      Type = "tool.execution_complete"
	TypePermissionRequested        Type = "permission.requested"
	TypePermissionCompleted        Type = "permission.completed"
	TypePermissionRevoked          Type = "permission.revoked"
	TypeUserInputRequested         Type = "user_input.requested"
	TypeUserInputCompleted         Type = "user_input.completed"
	TypeHookStart                  Type = "hook.start"
	TypeHookEnd                    Type = "hook.end"
	TypeSubagentSelected           Type = "subagent.selected"
	TypeSubagentStarted            Type = "subagent.started"
	TypeSubagentCompleted          Type = "subagent.completed"
	TypeSubagentFailed             Type = "subagent.failed"
	TypeAbort                      Type = "abort"
	TypeStreamResync               Type = "stream.resync"
	TypeStreamClosing              Type = "stream.closing"
	TypeSessionChanged             Type = "session.changed"
)

// Known lists one zero value of every type of this package, in the order of
// CONTRACT: the source of the codec's table and of the published schema.
func Known() []Data {
	return []Data{
		SessionStart{},
		SessionResume{},
		SessionShutdown{},
		TurnStart{},
		TurnEnd{},
		SessionIdle{},
		SessionError{},
		SessionTitleChanged{},
		SessionModelChange{},
		SessionUsageInfo{},
		SessionTruncation{},
		SessionCompactionStart{},
		SessionCompactionComplete{},
		UserMessage{},
		AssistantTurnStart{},
		AssistantTurnEnd{},
		AssistantMessageDelta{},
		AssistantReasoningDelta{},
		AssistantMessageDiscarded{},
		AssistantMessage{},
		AssistantReasoning{},
		AssistantUsage{},
		ToolExecutionStart{},
		ToolExecutionProgress{},
		ToolExecutionPartialResult{},
		ToolExecutionComplete{},
		PermissionRequested{},
		PermissionCompleted{},
		PermissionRevoked{},
		UserInputRequested{},
		UserInputCompleted{},
		HookStart{},
		HookEnd{},
		SubagentSelected{},
		SubagentStarted{},
		SubagentCompleted{},
		SubagentFailed{},
		Abort{},
		StreamResync{},
		StreamClosing{},
		SessionChanged{},
	}
}

// shapes is the codec's table; it is not written after the start.
var shapes = func() map[Type]shape {
	m := map[Type]shape{}
	for _, d := range Known() {
		m[d.EventType()] = newShape(reflect.TypeOf(d))
	}
	return m
}()

// EventType implements [Data].
func (u Unknown) EventType() Type { return u.Name }

// Logged implements [Data].
func (u Unknown) Logged() bool { return !u.Ephemeral }

// EventType implements [Data].
func (SessionStart) EventType() Type { return TypeSessionStart }

// Logged implements [Data].
func (SessionStart) Logged() bool { return true }

// EventType implements [Data].
func (SessionResume) EventType() Type { return TypeSessionResume }

// Logged implements [Data].
func (SessionResume) Logged() bool { return true }

// EventType implements [Data].
func (SessionShutdown) EventType() Type { return TypeSessionShutdown }

// Logged implements [Data].
func (SessionShutdown) Logged() bool { return true }

// EventType implements [Data].
func (TurnStart) EventType() Type { return TypeTurnStart }

// Logged implements [Data].
func (TurnStart) Logged() bool { return true }

// EventType implements [Data].
func (TurnEnd) EventType() Type { return TypeTurnEnd }

// Logged implements [Data].
func (TurnEnd) Logged() bool { return true }

// EventType implements [Data].
func (SessionIdle) EventType() Type { return TypeSessionIdle }

// Logged implements [Data].
func (SessionIdle) Logged() bool { return false }

// EventType implements [Data].
func (SessionError) EventType() Type { return TypeSessionError }

// Logged implements [Data].
func (SessionError) Logged() bool { return true }

// EventType implements [Data].
func (SessionTitleChanged) EventType() Type { return TypeSessionTitleChanged }

// Logged implements [Data].
func (SessionTitleChanged) Logged() bool { return true }

// EventType implements [Data].
func (SessionModelChange) EventType() Type { return TypeSessionModelChange }

// Logged implements [Data].
func (SessionModelChange) Logged() bool { return true }

// EventType implements [Data].
func (SessionUsageInfo) EventType() Type { return TypeSessionUsageInfo }

// Logged implements [Data].
func (SessionUsageInfo) Logged() bool { return false }

// EventType implements [Data].
func (SessionTruncation) EventType() Type { return TypeSessionTruncation }

// Logged implements [Data].
func (SessionTruncation) Logged() bool { return true }

// EventType implements [Data].
func (SessionCompactionStart) EventType() Type { return TypeSessionCompactionStart }

// Logged implements [Data].
func (SessionCompactionStart) Logged() bool { return true }

// EventType implements [Data].
func (SessionCompactionComplete) EventType() Type { return TypeSessionCompactionComplete }

// Logged implements [Data].
func (SessionCompactionComplete) Logged() bool { return true }

// EventType implements [Data].
func (UserMessage) EventType() Type { return TypeUserMessage }

// Logged implements [Data].
func (UserMessage) Logged() bool { return true }

// EventType implements [Data].
func (AssistantTurnStart) EventType() Type { return TypeAssistantTurnStart }

// Logged implements [Data].
func (AssistantTurnStart) Logged() bool { return true }

// EventType implements [Data].
func (AssistantTurnEnd) EventType() Type { return TypeAssistantTurnEnd }

// Logged implements [Data].
func (AssistantTurnEnd) Logged() bool { return true }

// EventType implements [Data].
func (AssistantMessageDelta) EventType() Type { return TypeAssistantMessageDelta }

// Logged implements [Data].
func (AssistantMessageDelta) Logged() bool { return false }

// EventType implements [Data].
func (AssistantReasoningDelta) EventType() Type { return TypeAssistantReasoningDelta }

// Logged implements [Data].
func (AssistantReasoningDelta) Logged() bool { return false }

// EventType implements [Data].
func (AssistantMessageDiscarded) EventType() Type { return TypeAssistantMessageDiscarded }

// Logged implements [Data].
func (AssistantMessageDiscarded) Logged() bool { return false }

// EventType implements [Data].
func (AssistantMessage) EventType() Type { return TypeAssistantMessage }

// Logged implements [Data].
func (AssistantMessage) Logged() bool { return true }

// EventType implements [Data].
func (AssistantReasoning) EventType() Type { return TypeAssistantReasoning }

// Logged implements [Data].
func (AssistantReasoning) Logged() bool { return true }

// EventType implements [Data].
func (AssistantUsage) EventType() Type { return TypeAssistantUsage }

// Logged implements [Data].
func (AssistantUsage) Logged() bool { return false }

// EventType implements [Data].
func (ToolExecutionStart) EventType() Type { return TypeToolExecutionStart }

// Logged implements [Data].
func (ToolExecutionStart) Logged() bool { return true }

// EventType implements [Data].
func (ToolExecutionProgress) EventType() Type { return TypeToolExecutionProgress }

// Logged implements [Data].
func (ToolExecutionProgress) Logged() bool { return false }

// EventType implements [Data].
func (ToolExecutionPartialResult) EventType() Type { return TypeToolExecutionPartialResult }

// Logged implements [Data].
func (ToolExecutionPartialResult) Logged() bool { return false }

// EventType implements [Data].
func (ToolExecutionComplete) EventType() Type { return TypeToolExecutionComplete }

// Logged implements [Data].
func (ToolExecutionComplete) Logged() bool { return true }

// EventType implements [Data].
func (PermissionRequested) EventType() Type { return TypePermissionRequested }

// Logged implements [Data].
func (PermissionRequested) Logged() bool { return true }

// EventType implements [Data].
func (PermissionCompleted) EventType() Type { return TypePermissionCompleted }

// Logged implements [Data].
func (PermissionCompleted) Logged() bool { return true }

// EventType implements [Data].
func (PermissionRevoked) EventType() Type { return TypePermissionRevoked }

// Logged implements [Data].
func (PermissionRevoked) Logged() bool { return true }

// EventType implements [Data].
func (UserInputRequested) EventType() Type { return TypeUserInputRequested }

// Logged implements [Data].
func (UserInputRequested) Logged() bool { return true }

// EventType implements [Data].
func (UserInputCompleted) EventType() Type { return TypeUserInputCompleted }

// Logged implements [Data].
func (UserInputCompleted) Logged() bool { return true }

// EventType implements [Data].
func (HookStart) EventType() Type { return TypeHookStart }

// Logged implements [Data].
func (HookStart) Logged() bool { return true }

// EventType implements [Data].
func (HookEnd) EventType() Type { return TypeHookEnd }

// Logged implements [Data].
func (HookEnd) Logged() bool { return true }

// EventType implements [Data].
func (SubagentSelected) EventType() Type { return TypeSubagentSelected }

// Logged implements [Data].
func (SubagentSelected) Logged() bool { return true }

// EventType implements [Data].
func (SubagentStarted) EventType() Type { return TypeSubagentStarted }

// Logged implements [Data].
func (SubagentStarted) Logged() bool { return true }

// EventType implements [Data].
func (SubagentCompleted) EventType() Type { return TypeSubagentCompleted }

// Logged implements [Data].
func (SubagentCompleted) Logged() bool { return true }

// EventType implements [Data].
func (SubagentFailed) EventType() Type { return TypeSubagentFailed }

// Logged implements [Data].
func (SubagentFailed) Logged() bool { return true }

// EventType implements [Data].
func (Abort) EventType() Type { return TypeAbort }

// Logged implements [Data].
func (Abort) Logged() bool { return true }

// EventType implements [Data].
func (StreamResync) EventType() Type { return TypeStreamResync }

// Logged implements [Data].
func (StreamResync) Logged() bool { return false }

// EventType implements [Data].
func (StreamClosing) EventType() Type { return TypeStreamClosing }

// Logged implements [Data].
func (StreamClosing) Logged() bool { return false }

// EventType implements [Data].
func (SessionChanged) EventType() Type { return TypeSessionChanged }

// Logged implements [Data].
func (SessionChanged) Logged() bool { return false }

package event

import (
	"encoding/json"
	"reflect"
	"strings"
)

// kinds is every type of this package, in the order of CONTRACT: the name under which it travels,
// and whether it belongs into the log. The codec and the published schema follow it.
var kinds = []kind{
	of[SessionStart]("session.start", logged),
	of[SessionResume]("session.resume", aside),
	of[SessionShutdown]("session.shutdown", aside),
	of[TurnStart]("turn.start", logged),
	of[TurnEnd]("turn.end", logged),
	of[SessionIdle]("session.idle", live),
	of[SessionError]("session.error", logged),
	of[SessionTitleChanged]("session.title_changed", logged),
	of[SessionModelChange]("session.model_change", logged),
	of[SessionBudgetChanged]("session.budget_changed", aside),
	of[BudgetReached]("budget.reached", logged),
	of[SessionWorktree]("session.worktree", aside),
	of[WorktreeBroughtBack]("worktree.brought_back", aside),
	of[WorktreeThrown]("worktree.thrown", aside),
	of[FileAlsoChanged]("file.also_changed", logged),
	of[SessionRewound]("session.rewound", logged),
	of[SessionBranched]("session.branched", logged),
	of[SessionDamaged]("session.damaged", logged),
	of[SessionModeChanged]("session.mode_changed", logged),
	of[SessionTodosChanged]("session.todos_changed", relayed),
	of[SessionUsageInfo]("session.usage_info", live),
	of[SessionTruncation]("session.truncation", logged),
	of[SessionCompactionStart]("session.compaction_start", logged),
	of[SessionCompactionComplete]("session.compaction_complete", logged),
	of[UserMessage]("user.message", logged),
	of[UserMessageWithdrawn]("user.message_withdrawn", logged),
	of[AssistantTurnStart]("assistant.turn_start", relayed),
	of[AssistantTurnEnd]("assistant.turn_end", relayed),
	of[AssistantMessageDelta]("assistant.message_delta", live),
	of[AssistantReasoningDelta]("assistant.reasoning_delta", live),
	of[AssistantMessageDiscarded]("assistant.message_discarded", live),
	of[AssistantMessage]("assistant.message", relayed),
	of[AssistantReasoning]("assistant.reasoning", relayed),
	of[AssistantUsage]("assistant.usage", live),
	of[ToolExecutionStart]("tool.execution_start", logged),
	of[ToolExecutionProgress]("tool.execution_progress", live),
	of[ToolExecutionPartialResult]("tool.execution_partial_result", live),
	of[ToolExecutionComplete]("tool.execution_complete", logged),
	of[PermissionRequested]("permission.requested", logged),
	of[PermissionCompleted]("permission.completed", logged),
	of[PermissionRevoked]("permission.revoked", aside),
	of[SandboxOpened]("sandbox.opened", aside),
	of[SandboxClosed]("sandbox.closed", aside),
	of[SandboxRefused]("sandbox.refused", logged),
	of[UserInputRequested]("user_input.requested", logged),
	of[UserInputCompleted]("user_input.completed", logged),
	of[OutputOpened]("output.opened", aside),
	of[OutputDeleted]("output.deleted", aside),
	of[OutputReread]("output.reread", aside),
	of[HookStart]("hook.start", logged),
	of[HookEnd]("hook.end", logged),
	of[SubagentSelected]("subagent.selected", logged),
	of[SubagentStarted]("subagent.started", logged),
	of[SubagentCompleted]("subagent.completed", logged),
	of[SubagentFailed]("subagent.failed", logged),
	of[TaskStarted]("task.started", logged),
	of[TaskOutput]("task.output", live),
	of[TaskCompleted]("task.completed", logged),
	of[Abort]("abort", logged),
	of[StreamResync]("stream.resync", live),
	of[StreamClosing]("stream.closing", live),
	of[SessionChanged]("session.changed", live),
}

// keeping is what becomes of the events of a kind.
type keeping byte

// What becomes of events.
const (
	live keeping = iota // it is gone once it was sent
	// logged: an agent's words on the way, which begin and end nothing; see [Relayed]
	relayed
	aside // logged: no activity; see [Aside]
	logged
)

// kind is what there is to know about one type.
type kind struct {
	name   Type
	keep   keeping
	zero   Data
	keys   map[string]struct{} // the JSON names of its fields
	decode func(json.RawMessage, Extra) (Data, error)
}

func of[T Data](name Type, keep keeping) kind {
	var zero T
	k := kind{name: name, keep: keep, zero: zero, keys: keysOf(reflect.TypeFor[T]())}
	k.decode = func(raw json.RawMessage, more Extra) (Data, error) {
		v := new(T)
		if err := json.Unmarshal(raw, v); err != nil {
			return nil, err
		}
		any(v).(holder).keep(more)
		return withEdits(*v), nil
	}
	return k
}

// keysOf are the JSON names of a struct's fields.
func keysOf(t reflect.Type) map[string]struct{} {
	keys := map[string]struct{}{}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "-" {
			keys[name] = struct{}{}
		}
	}
	return keys
}

// byName and byType are the table; they are not written after the start.
var byName, byType = func() (map[Type]*kind, map[reflect.Type]*kind) {
	names, types := map[Type]*kind{}, map[reflect.Type]*kind{}
	for i := range kinds {
		k := &kinds[i]
		names[k.name], types[reflect.TypeOf(k.zero)] = k, k
	}
	return names, types
}()

// Known lists one zero value of every type of this package, in the order of CONTRACT.
func Known() []Data {
	all := make([]Data, len(kinds))
	for i, k := range kinds {
		all[i] = k.zero
	}
	return all
}

// TypeOf is the name under which d travels.
func TypeOf(d Data) Type {
	if k := byType[reflect.TypeOf(d)]; k != nil {
		return k.name
	}
	u, _ := d.(Unknown)
	return u.Name
}

// Logged reports whether events of d's type belong into the log.
func Logged(d Data) bool {
	if k := byType[reflect.TypeOf(d)]; k != nil {
		return k.keep != live
	}
	u, unknown := d.(Unknown)
	return unknown && !u.Ephemeral
}

// Relayed reports whether events of d's type only pass on what an agent says on the way. A log may
// have them on the disk a moment after they are seen; what begins or ends something, it has there
// before.
func Relayed(d Data) bool {
	k := byType[reflect.TypeOf(d)]
	return k != nil && k.keep == relayed
}

// Aside reports whether events of d's type do not count as activity of the session, such as a
// restart, or a look of the user's: they leave its place in the list, and make nothing unread.
func Aside(d Data) bool {
	k := byType[reflect.TypeOf(d)]
	return k != nil && k.keep == aside
}

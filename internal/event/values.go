package event

// Outcome is how a turn or a task ended.
type Outcome string

// The outcomes.
const (
	Completed   Outcome = "completed"
	Aborted     Outcome = "aborted"
	Failed      Outcome = "error"
	Interrupted Outcome = "interrupted" // the program ended before the turn did
)

// NoSnapshot is the reason why a turn that acted has no snapshot of the workspace.
type NoSnapshot string

// The reasons.
const (
	SnapshotNoGit    NoSnapshot = "no_git"    // git is not installed
	SnapshotTooLarge NoSnapshot = "too_large" // the folder is, or looking at it takes a minute
	// an act, or the end of the turn, did not wait for it any longer
	SnapshotLate NoSnapshot = "late"
	// git or the disk refused it; the log of the program says more
	SnapshotFailed NoSnapshot = "failed"
)

// Actor is who called a tool or began a turn.
type Actor string

// The actors.
const (
	ByAgent Actor = "agent"
	ByUser  Actor = "user"
)

// Own reports whether no prompt began the turn: the agent did by itself, or the user had it do
// something with the conversation.
func (t TurnStart) Own() bool { return t.By == ByAgent || t.MessageID == "" }

// TaskKind is what works in the background.
type TaskKind string

// The kinds of tasks.
const (
	ShellTask TaskKind = "shell" // a command
	AgentTask TaskKind = "agent" // a helper agent
)

// Decision is the answer to a permission request.
type Decision string

// The decisions.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
)

// Scope is how far an allow reaches.
type Scope string

// The scopes: this one act; what a grant covers, for the rest of the session; what it covers in
// every session of the workspace, until the user takes it back.
const (
	Once         Scope = "once"
	ForSession   Scope = "session"
	ForWorkspace Scope = "workspace"
)

// Decider is who or what decided.
type Decider string

// The deciders.
const (
	DecidedByUser    Decider = "user"
	DecidedByGrant   Decider = "grant" // the user allowed it before
	DecidedByRule    Decider = "rule"
	DecidedByTimeout Decider = "timeout"
	DecidedByHook    Decider = "hook"
	DecidedByMode    Decider = "mode"
	DecidedByAbort   Decider = "abort"
)

// Status is what a session does, folded from its log: running while a turn has no end, waiting
// while a request is open.
type Status string

// The states of a session.
const (
	Idle    Status = "idle"
	Running Status = "running"
	Waiting Status = "waiting"
)

// ParentCall returns the id of the call whose helper agent d is about; empty if it is about none.
func ParentCall(d Data) string {
	switch d := d.(type) {
	case AssistantMessageDelta:
		return d.ParentToolCallID
	case AssistantReasoningDelta:
		return d.ParentToolCallID
	case AssistantMessage:
		return d.ParentToolCallID
	case AssistantReasoning:
		return d.ParentToolCallID
	case ToolExecutionStart:
		return d.ParentToolCallID
	case SubagentStarted:
		return d.ToolCallID
	case SubagentSelected:
		return d.ToolCallID
	case SubagentCompleted:
		return d.ToolCallID
	case SubagentFailed:
		return d.ToolCallID
	}
	return ""
}

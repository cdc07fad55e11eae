package event

import "encoding/json"

// Extra holds the fields of a known event type that this program does not know, as a later version
// wrote them. No event that this version makes has any.
type Extra map[string]json.RawMessage

// more makes a struct that embeds its Extra a [Data].
func (x Extra) more() Extra { return x }

// keep sets the Extra of a struct.
func (x *Extra) keep(fields Extra) { *x = fields }

// holder is a pointer to a struct that embeds its Extra.
type holder interface{ keep(Extra) }

type (
	// SessionStart opens every log.
	SessionStart struct {
		SessionID string  `json:"sessionId"`
		Workspace string  `json:"workspace,omitempty"` // an absolute path
		Backend   string  `json:"backend"`
		Model     string  `json:"model"`
		Title     string  `json:"title,omitempty"`
		Context   Context `json:"context"`
		// Instructions are the files of the workspace, by their absolute paths, that the agent will
		// load as instructions for its work there.
		Instructions []string `json:"instructions,omitempty"`
		// InstructionsSeen says that an earlier session in the folder loaded the same files, so
		// that the user has been notified of them.
		InstructionsSeen bool `json:"instructionsSeen,omitempty"`
		// User is whose session it is, where people sign in as themselves; else empty.
		User  string `json:"user,omitempty"`
		Extra `json:"-"`
	}

	// SessionResume says that the session goes on after its shutdown, in this or a later process.
	SessionResume struct {
		SessionID string  `json:"sessionId"`
		Workspace string  `json:"workspace,omitempty"` // as in [SessionStart]
		Backend   string  `json:"backend"`
		Model     string  `json:"model"`
		Context   Context `json:"context"`
		Extra     `json:"-"`
	}

	// SessionShutdown says that the work on the session is over until it is resumed: this process
	// ended, or the agent's conversation did, idle or dead. Of a killed process the next one logs it.
	SessionShutdown struct {
		SessionID  string `json:"sessionId"`
		Workspace  string `json:"workspace,omitempty"` // as in [SessionStart]
		DurationMs int64  `json:"durationMs"`
		Usage      Usage  `json:"usage,omitzero"` // what models took since the last turn or task ended
		Extra      `json:"-"`
	}

	// Context is where a session works.
	Context struct {
		Cwd     string `json:"cwd"`
		GitRoot string `json:"gitRoot,omitempty"`
		Branch  string `json:"branch,omitempty"`
		Commit  string `json:"commit,omitempty"`
	}

	// TurnStart opens the work on one prompt, or work that the agent began by itself; see
	// [TurnStart.Own].
	TurnStart struct {
		TurnID string `json:"turnId"`
		// of the prompt; empty: there is none, Cause says why it began
		MessageID string `json:"messageId,omitempty"`
		By        Actor  `json:"by,omitempty"`    // empty: the user
		Cause     string `json:"cause,omitempty"` // a sentence: why the agent began
		// Snapshot is the id of what the workspace was before the turn's first act. It is kept if the
		// turn acts, and TurnEnd says whether it was.
		Snapshot string `json:"snapshot,omitempty"`
		Extra    `json:"-"`
	}

	// TurnEnd closes a turn and everything the turn opened.
	TurnEnd struct {
		TurnID     string  `json:"turnId"`
		MessageID  string  `json:"messageId,omitempty"`
		Outcome    Outcome `json:"outcome"`
		Usage      Usage   `json:"usage"`
		DurationMs int64   `json:"durationMs"`
		// Steered are the messages that joined the turn while it ran.
		Steered []string `json:"steered,omitempty"`
		// as the agent reported it last in the turn; nil: it did not
		Fill *Fill `json:"fill,omitempty"`
		// Snapshot is the id of what the workspace was then. Empty: nothing acted, or NoSnapshot says why
		// there is none. Where it is there, that of the turn's start is, too.
		Snapshot   string     `json:"snapshot,omitempty"`
		NoSnapshot NoSnapshot `json:"noSnapshot,omitempty"`
		Changed    int64      `json:"changed,omitempty"` // files that differ between the two
		// Added and Removed are the lines in them, where they were counted.
		Added   int64 `json:"added,omitempty"`
		Removed int64 `json:"removed,omitempty"`
		// NotHeld is how many files were made that take effect later by themselves and were left where
		// they are: below folders of dependencies, and those that git checked out.
		NotHeld int64 `json:"notHeld,omitempty"`
		Extra   `json:"-"`
	}

	// Fill is how full the model's context was, in tokens.
	Fill struct {
		TokenLimit    int64 `json:"tokenLimit"`
		CurrentTokens int64 `json:"currentTokens"`
	}

	// Usage is what calls of models took, in tokens.
	Usage struct {
		InputTokens     int64   `json:"inputTokens"`
		OutputTokens    int64   `json:"outputTokens"`
		CacheReadTokens int64   `json:"cacheReadTokens,omitempty"` // of InputTokens
		Cost            float64 `json:"cost,omitempty"`
		Calls           int64   `json:"calls,omitempty"` // model calls
		// Turns are those of agents that report only the sum of a turn: how many calls it had is
		// unknown, and what is counted for each call is counted once for each of these.
		Turns int64 `json:"turns,omitempty"`
		// DefinitionTokens is what the session's tools and the words about them added to those
		// calls, as far as that is counted.
		DefinitionTokens int64 `json:"definitionTokens,omitempty"`
		// EstimatedTokens is the part of InputTokens that no agent reported. It is negative where
		// a report replaces an estimate of an earlier event.
		EstimatedTokens int64 `json:"estimatedTokens,omitempty"`
		// KeptTokens is what displays kept out of those calls: each call would have held all that
		// was shown since the conversation was last summed up, as far as the model has room.
		KeptTokens int64 `json:"keptTokens,omitempty"`
		// OwnTokens is what webchat added to those calls: DefinitionTokens, the lines in place of
		// what was shown, and whole calls that only followed displays which kept nothing out.
		OwnTokens int64 `json:"ownTokens,omitempty"`
	}

	// SessionIdle follows TurnEnd: nothing runs and nothing waits in the queue.
	SessionIdle struct {
		Extra `json:"-"`
	}

	// SessionError is a failure a person should read.
	SessionError struct {
		Message    string    `json:"message"`
		ErrorType  string    `json:"errorType"`
		Kind       ErrorKind `json:"kind,omitempty"`
		StatusCode int       `json:"statusCode,omitempty"`
		// RetryAfterMs is when it is tried again by itself, where that is known.
		RetryAfterMs int64 `json:"retryAfterMs,omitempty"`
		// Waits says of KindRetrying that the agent waits before the next try: to stop the turn and
		// send its prompt again is faster.
		Waits   bool          `json:"waits,omitempty"`
		Context *ErrorContext `json:"context,omitempty"`
		Extra   `json:"-"`
	}

	// ErrorContext says where a failure happened, as far as that is known.
	ErrorContext struct {
		TurnID string `json:"turnId,omitempty"` // the turn that ran
		Code   int    `json:"code,omitempty"`   // the agent's own number for it
		// Recoverable is whether the agent says that one can go on after it; nil if it does not
		// say.
		Recoverable *bool `json:"recoverable,omitempty"`
	}

	// SessionTitleChanged carries the session's new title.
	SessionTitleChanged struct {
		Title string `json:"title"`
		Extra `json:"-"`
	}

	// SessionModelChange carries the name of the model from now on, and how hard it thinks; an
	// empty Effort is the model's own.
	SessionModelChange struct {
		NewModel string `json:"newModel"`
		Effort   string `json:"effort,omitempty"`
		Extra    `json:"-"`
	}

	// SessionUsageInfo is how full the model's context is, in tokens. What fills it stands in the
	// last three, where the agent reports that.
	SessionUsageInfo struct {
		TokenLimit            int64 `json:"tokenLimit"`
		CurrentTokens         int64 `json:"currentTokens"`
		MessagesLength        int64 `json:"messagesLength"`
		SystemTokens          int64 `json:"systemTokens,omitempty"`
		ConversationTokens    int64 `json:"conversationTokens,omitempty"`
		ToolDefinitionsTokens int64 `json:"toolDefinitionsTokens,omitempty"`
		Extra                 `json:"-"`
	}

	// SessionTruncation says that the agent dropped the oldest of the conversation. Its numbers, and
	// those of the two below, are 0 where the agent does not report them.
	SessionTruncation struct {
		TokenLimit                      int64 `json:"tokenLimit,omitempty"`
		PreTruncationTokensInMessages   int64 `json:"preTruncationTokensInMessages,omitempty"`
		PostTruncationTokensInMessages  int64 `json:"postTruncationTokensInMessages,omitempty"`
		MessagesRemovedDuringTruncation int64 `json:"messagesRemovedDuringTruncation,omitempty"`
		TokensRemovedDuringTruncation   int64 `json:"tokensRemovedDuringTruncation,omitempty"`
		Extra                           `json:"-"`
	}

	// SessionCompactionStart says that the agent begins to replace the conversation by a summary.
	SessionCompactionStart struct {
		CurrentTokens int64 `json:"currentTokens,omitempty"`
		TokenLimit    int64 `json:"tokenLimit,omitempty"`
		Extra         `json:"-"`
	}

	// SessionCompactionComplete says that a summary stands in place of the conversation.
	SessionCompactionComplete struct {
		MessagesRemoved      int64 `json:"messagesRemoved,omitempty"`
		TokensRemoved        int64 `json:"tokensRemoved,omitempty"`
		PreCompactionTokens  int64 `json:"preCompactionTokens,omitempty"`
		PostCompactionTokens int64 `json:"postCompactionTokens,omitempty"`
		Extra                `json:"-"`
	}

	// UserMessage is a prompt.
	UserMessage struct {
		MessageID   string       `json:"messageId"`
		Content     string       `json:"content"`
		Attachments []Attachment `json:"attachments,omitempty"`
		Extra       `json:"-"`
	}

	// UserMessageWithdrawn takes back a prompt whose turn has not started. Where the user edited or
	// moved it, the user.message of As follows and is what is sent instead.
	UserMessageWithdrawn struct {
		MessageID string `json:"messageId"`
		As        string `json:"as,omitempty"` // empty: it is never sent
		Extra     `json:"-"`
	}

	// Attachment goes with a prompt: exactly one of ID, Path and OutputID is set.
	Attachment struct {
		ID string `json:"id,omitempty"` // an uploaded attachment
		// a file of the workspace, or a folder, whose listing is given
		Path     string `json:"path,omitempty"`
		OutputID string `json:"outputId,omitempty"` // a shown output the user lets the agent read
		Lines    string `json:"lines,omitempty"`    // of the file, or of the output as shown: "A-B"
		// of these lines of the output, what looks like a secret goes, too
		Lifted string `json:"lifted,omitempty"`
		// of the file or output only its name and these lines' numbers are given
		Mention bool `json:"mention,omitempty"`
		// Sensitive says that the user wants a file to go that may hold secrets.
		Sensitive bool   `json:"sensitive,omitempty"`
		Name      string `json:"name,omitempty"`
		MimeType  string `json:"mimeType,omitempty"`
	}

	// AssistantTurnStart opens one model call; a turn may hold several.
	AssistantTurnStart struct {
		TurnID string `json:"turnId"`
		// PromptID is what the agent calls the prompt of the turn, if it can go back to before it;
		// only the first call of a turn has it.
		PromptID string `json:"promptId,omitempty"`
		Extra    `json:"-"`
	}

	// AssistantTurnEnd closes one model call.
	AssistantTurnEnd struct {
		TurnID string `json:"turnId"`
		Extra  `json:"-"`
	}

	// AssistantMessageDelta is a piece of a message in flight: text = text[:Offset] + DeltaContent.
	AssistantMessageDelta struct {
		MessageID        string `json:"messageId"`
		Offset           int64  `json:"offset"` // UTF-8 bytes before it
		DeltaContent     string `json:"deltaContent"`
		ParentToolCallID string `json:"parentToolCallId,omitempty"`
		Extra            `json:"-"`
	}

	// AssistantReasoningDelta is a piece of reasoning in flight.
	AssistantReasoningDelta struct {
		ReasoningID      string `json:"reasoningId"`
		Offset           int64  `json:"offset"` // UTF-8 bytes before it
		DeltaContent     string `json:"deltaContent"`
		ParentToolCallID string `json:"parentToolCallId,omitempty"`
		Extra            `json:"-"`
	}

	// AssistantMessageDiscarded says that a retry makes the text of a message void.
	AssistantMessageDiscarded struct {
		MessageID string `json:"messageId"`
		Extra     `json:"-"`
	}

	// AssistantMessage is a whole message of the model.
	AssistantMessage struct {
		MessageID        string        `json:"messageId"`
		Content          string        `json:"content"`
		ToolRequests     []ToolRequest `json:"toolRequests,omitempty"`
		Partial          bool          `json:"partial,omitempty"` // it was cut off here
		ParentToolCallID string        `json:"parentToolCallId,omitempty"`
		Extra            `json:"-"`
	}

	// ToolRequest is a model's wish to call a tool.
	ToolRequest struct {
		ToolCallID string          `json:"toolCallId"`
		Name       string          `json:"name"`
		Arguments  json.RawMessage `json:"arguments,omitempty"`
		// Type is "function", or "custom" for a tool that takes text instead of arguments.
		Type string `json:"type,omitempty"`
	}

	// AssistantReasoning is a whole piece of reasoning.
	AssistantReasoning struct {
		ReasoningID      string `json:"reasoningId"`
		Content          string `json:"content"`
		ParentToolCallID string `json:"parentToolCallId,omitempty"`
		Extra            `json:"-"`
	}

	// AssistantUsage is what a model call took, or what its Scope says.
	AssistantUsage struct {
		Scope           UsageScope      `json:"scope,omitempty"`
		Model           string          `json:"model"`
		InputTokens     int64           `json:"inputTokens"`
		OutputTokens    int64           `json:"outputTokens"`
		CacheReadTokens int64           `json:"cacheReadTokens"`
		Cost            float64         `json:"cost"`
		Duration        int64           `json:"duration"` // milliseconds
		QuotaSnapshots  json.RawMessage `json:"quotaSnapshots,omitempty"`
		// DefinitionTokens is the part of the input that describes the session's own tools, as far
		// as the backend counts it.
		DefinitionTokens int64 `json:"definitionTokens,omitempty"`
		Extra            `json:"-"`
	}

	// HookStart says that a hook's command starts.
	HookStart struct {
		HookID  string `json:"hookId"`
		Event   string `json:"event"`
		Command string `json:"command"`
		// ToolCallID is the call the hook is asked about, if it is known.
		ToolCallID string `json:"toolCallId,omitempty"`
		Extra      `json:"-"`
	}

	// HookEnd says what a hook decided, after its command ended.
	HookEnd struct {
		HookID     string `json:"hookId"`
		Event      string `json:"event"`
		Command    string `json:"command"`
		ExitCode   int    `json:"exitCode"`
		DurationMs int64  `json:"durationMs"`
		Allow      bool   `json:"allow"`
		Reason     string `json:"reason,omitempty"`
		// Arguments and Prompt are what the hook put in their place, if it did.
		Arguments json.RawMessage `json:"arguments,omitempty"`
		Prompt    string          `json:"prompt,omitempty"`
		Extra     `json:"-"`
	}

	// SubagentSelected says which helper agent works from now on.
	SubagentSelected struct {
		ToolCallID string `json:"toolCallId"`
		AgentName  string `json:"agentName"`
		Extra      `json:"-"`
	}

	// SubagentStarted says that a helper agent started.
	SubagentStarted SubagentSelected

	// SubagentCompleted says that a helper agent did its work.
	SubagentCompleted SubagentSelected

	// SubagentFailed says that a helper agent failed.
	SubagentFailed struct {
		ToolCallID string `json:"toolCallId"`
		AgentName  string `json:"agentName"`
		Error      string `json:"error,omitempty"`
		Extra      `json:"-"`
	}

	// TaskStarted says that the agent left work running in the background, which may outlive its
	// turn.
	TaskStarted struct {
		TaskID     string   `json:"taskId"` // unique in the session
		Kind       TaskKind `json:"kind"`
		Title      string   `json:"title"`                // the command, or what the helper is to do
		ToolCallID string   `json:"toolCallId,omitempty"` // the call that left it
		Extra      `json:"-"`
	}

	// TaskOutput is a piece of what a task printed.
	TaskOutput struct {
		TaskID string `json:"taskId"`
		Text   string `json:"text"`
		Extra  `json:"-"`
	}

	// TaskCompleted says how a task ended. Each started task has exactly one.
	TaskCompleted struct {
		TaskID  string  `json:"taskId"`
		Outcome Outcome `json:"outcome"`
		// of a command that ended by itself, where it is known
		ExitCode *int `json:"exitCode,omitempty"`
		// Usage is what models reported since the last turn or task ended, and no turn counts: a
		// helper works also while no turn runs.
		Usage Usage `json:"usage,omitzero"`
		Extra `json:"-"`
	}

	// Abort says that the turn was stopped. By is [DecidedByUser] if the user stopped it as such;
	// else Reason says why it had to stop.
	Abort struct {
		Reason string  `json:"reason"`
		By     Decider `json:"by,omitempty"`
		Extra  `json:"-"`
	}

	// StreamResync announces to one reader that what follows is the log from After on, because the
	// place it asked for cannot be honoured.
	StreamResync struct {
		Reason string `json:"reason"`
		After  int64  `json:"after"`
		Extra  `json:"-"`
	}

	// StreamClosing announces that the server ends; come back after RetryMs.
	StreamClosing struct {
		Reason  string `json:"reason,omitempty"`
		RetryMs int64  `json:"retryMs"`
		Extra   `json:"-"`
	}

	// SessionChanged has what lists and badges show of a session now. It travels on the stream of
	// all sessions and never enters a log.
	SessionChanged struct {
		SessionID string `json:"sessionId"`
		Workspace string `json:"workspace,omitempty"` // an absolute path
		Status    Status `json:"status"`
		Title     string `json:"title"`
		Pending   int    `json:"pending"`   // open questions
		LastEvent int64  `json:"lastEvent"` // the last logged sequence
		Deleted   bool   `json:"deleted,omitempty"`
		Extra     `json:"-"`
	}

	// Unknown is the data of an event of a type this program does not know.
	Unknown struct {
		Name      Type
		Ephemeral bool
		JSON      json.RawMessage
	}
)

func (Unknown) more() Extra { return nil }

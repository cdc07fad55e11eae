package event

import "encoding/json"

type (
	// ToolExecutionStart says that a tool was called.
	ToolExecutionStart struct {
		ToolCallID       string          `json:"toolCallId"`
		ToolName         string          `json:"toolName"`
		Arguments        json.RawMessage `json:"arguments"`
		By               Actor           `json:"by"`
		ParentToolCallID string          `json:"parentToolCallId,omitempty"`
		Extra            `json:"-"`
	}

	// ToolExecutionProgress says how far a running tool is.
	ToolExecutionProgress struct {
		ToolCallID      string `json:"toolCallId"`
		ProgressMessage string `json:"progressMessage,omitempty"`
		OutputID        string `json:"outputId,omitempty"`
		Bytes           int64  `json:"bytes,omitempty"`
		Lines           int64  `json:"lines,omitempty"`
		ElapsedMs       int64  `json:"elapsedMs,omitempty"`
		// of the large result of an agent's own tool: what all of it would cost a model, what the part
		// that the model gets does, and which lines it does not get, as "A-B"
		TokensShown int64  `json:"tokensShown,omitempty"`
		TokensSent  int64  `json:"tokensSent,omitempty"`
		LeftOut     string `json:"leftOut,omitempty"`
		// WaitsFor is the session whose open question keeps the call waiting; nil: none does.
		WaitsFor *OtherSession `json:"waitsFor,omitempty"`
		Extra    `json:"-"`
	}

	// OtherSession names a session in the log of another one.
	OtherSession struct {
		SessionID string `json:"sessionId,omitempty"` // empty: it is another user's
	}

	// ToolExecutionPartialResult is the next increment of a foreign tool's output.
	ToolExecutionPartialResult struct {
		ToolCallID    string `json:"toolCallId"`
		PartialOutput string `json:"partialOutput"`
		Extra         `json:"-"`
	}

	// ToolExecutionComplete ends a tool call; each started one gets exactly one. Result is set when
	// Success is, Error when it is not.
	ToolExecutionComplete struct {
		ToolCallID    string          `json:"toolCallId"`
		Success       bool            `json:"success"`
		Result        *ToolResult     `json:"result,omitempty"`
		Error         *ToolError      `json:"error,omitempty"`
		ToolTelemetry json.RawMessage `json:"toolTelemetry,omitempty"`
		OutputID      string          `json:"outputId,omitempty"`
		Fingerprint   *Fingerprint    `json:"fingerprint,omitempty"`
		// ResultTokens is what the model read of it costs the model, in tokens.
		ResultTokens int64 `json:"resultTokens,omitempty"`
		DurationMs   int64 `json:"durationMs"`
		// ParentToolCallID is that of its start.
		ParentToolCallID string `json:"parentToolCallId,omitempty"`
		Extra            `json:"-"`
	}

	// OutputOpened says that the user looked at an output of the session. The model never learns of
	// it.
	OutputOpened struct {
		OutputID string `json:"outputId"`
		Extra    `json:"-"`
	}

	// OutputDeleted says that the user deleted an output of the session before its life was over.
	// The model never learns of it.
	OutputDeleted struct {
		OutputID string `json:"outputId"`
		Extra    `json:"-"`
	}

	// OutputReread says that a file was read again for the user, since the output that showed it is
	// gone or the file has changed on disk, and which output shows it now. The model never learns of
	// it.
	OutputReread struct {
		OutputID      string          `json:"outputId"`    // the earlier one
		NewOutputID   string          `json:"newOutputId"` // stands in its place
		ToolTelemetry json.RawMessage `json:"toolTelemetry,omitempty"`
		Fingerprint   *Fingerprint    `json:"fingerprint,omitempty"`
		Extra         `json:"-"`
	}

	// Fingerprint is what a later showing of the same is compared with when the output is gone: a
	// CRC-32 of the bytes that were kept, and the low 16 bits of that of each line, two bytes a
	// line. Lines is empty for what is long.
	Fingerprint struct {
		Sum   uint32 `json:"sum"`
		Lines []byte `json:"lines,omitempty"`
	}

	// ToolResult is the result of a successful tool.
	ToolResult struct {
		Content         string `json:"content"`                   // what the model read
		DetailedContent string `json:"detailedContent,omitempty"` // what only the user sees
		// Edits are what DetailedContent says of files, if it is a diff.
		Edits []Edit `json:"-"`
	}

	// ToolError is why a tool failed. Code is "failure", "denied", "rejected", "timeout", "aborted"
	// or "interrupted".
	ToolError struct {
		Message string    `json:"message"`
		Code    string    `json:"code"`
		Kind    ErrorKind `json:"kind,omitempty"`
		// of [KindNotFound]: paths of the workspace like the one asked for
		Nearest []string `json:"nearest,omitempty"`
		// of [KindDenied] and [KindAborted]: who decided it, if that is known
		By    Decider `json:"by,omitempty"`
		Limit Limit   `json:"limit,omitempty"` // which was met
	}
)

// MarshalJSON writes the numbers of an output that grows even where they are still 0, and none for
// a tool that has no output.
func (p ToolExecutionProgress) MarshalJSON() ([]byte, error) {
	type fields ToolExecutionProgress
	if p.OutputID == "" {
		return json.Marshal(fields(p))
	}
	return json.Marshal(struct {
		ToolCallID      string `json:"toolCallId"`
		ProgressMessage string `json:"progressMessage,omitempty"`
		OutputID        string `json:"outputId"`
		Bytes           int64  `json:"bytes"`
		Lines           int64  `json:"lines"`
		ElapsedMs       int64  `json:"elapsedMs"`
	}{p.ToolCallID, p.ProgressMessage, p.OutputID, p.Bytes, p.Lines, p.ElapsedMs})
}

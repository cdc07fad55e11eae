package eventlog

import (
	"slices"
	"strings"

	"webchat/internal/event"
)

// TurnResult is what came of a prompt.
type TurnResult struct {
	MessageID string        `json:"messageId"`
	Content   string        `json:"content"` // the whole text of the assistant
	Outputs   []OutputRef   `json:"outputs"` // in the order of the calls
	Error     string        `json:"error,omitempty"`
	Outcome   event.Outcome `json:"-"`
}

// OutputRef names an output a tool call made.
type OutputRef struct {
	ID         string `json:"id"`
	ToolCallID string `json:"toolCallId"`
	Type       string `json:"type"`
}

// Result folds events into what came of one message.
type Result struct {
	messageID string
	ended     bool
	outcome   event.Outcome

	// Of the turn that is open, the user's or the agent's own.
	texts   []string
	outputs []OutputRef
	calls   map[string]int // the agent's, by their order
	failure string
}

// NewResult returns a fold that knows nothing yet of the message.
func NewResult(messageID string) *Result {
	return &Result{messageID: messageID, calls: map[string]int{}}
}

// Add takes the next event of the log and reports whether the result is whole.
func (r *Result) Add(d event.Data) bool {
	switch d := d.(type) {
	case event.UserMessageWithdrawn:
		switch {
		case d.MessageID != r.messageID:
		case d.As != "":
			r.messageID = d.As
		default:
			r.ended, r.outcome = true, event.Aborted
			r.texts, r.outputs = nil, nil
		}
	case event.TurnStart:
		r.texts, r.outputs, r.failure = nil, nil, ""
		clear(r.calls)
	case event.AssistantMessage:
		if d.ParentToolCallID == "" && strings.TrimSpace(d.Content) != "" {
			r.texts = append(r.texts, d.Content)
		}
	case event.SessionError:
		r.failure = d.Message
	case event.ToolExecutionStart:
		if d.By == event.ByAgent {
			r.calls[d.ToolCallID] = len(r.calls)
		}
	case event.ToolExecutionComplete:
		if _, ok := r.calls[d.ToolCallID]; ok && d.OutputID != "" {
			r.outputs = append(r.outputs, OutputRef{
				ID:         d.OutputID,
				ToolCallID: d.ToolCallID,
				Type:       readTelemetry(d.ToolTelemetry).OutputType,
			})
		}
	case event.TurnEnd:
		if d.MessageID == r.messageID || slices.Contains(d.Steered, r.messageID) {
			r.ended, r.outcome = true, d.Outcome
		}
	}
	return r.ended
}

// TurnResult is what was folded, once it is whole.
func (r *Result) TurnResult() TurnResult {
	slices.SortStableFunc(r.outputs, func(a, b OutputRef) int {
		return r.calls[a.ToolCallID] - r.calls[b.ToolCallID]
	})
	t := TurnResult{
		MessageID: r.messageID,
		Content:   strings.Join(r.texts, "\n\n"),
		Outputs:   r.outputs,
		Outcome:   r.outcome,
	}
	if t.Outputs == nil {
		t.Outputs = []OutputRef{} // [] on the wire
	}
	switch r.outcome {
	case event.Completed:
	case event.Failed:
		t.Error = r.failure
		if t.Error == "" {
			t.Error = Reasons[event.Failed]
		}
	default:
		t.Error = Reasons[r.outcome]
	}
	return t
}

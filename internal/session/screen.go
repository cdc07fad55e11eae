package session

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/wording"
)

const (
	maxPartial   = 64 << 10 // bytes that are kept of an increment of a foreign tool's output
	maxTitle     = 200      // characters
	maxTaskTitle = 2000     // characters
	maxTodos     = 100      // entries of a plan
	maxTodo      = 500      // characters of one
)

// State is what a report is screened by.
type Screening struct {
	Work    *eventlog.Work // a delta is added to it
	Title   string         // of the session
	Model   string
	Effort  string // of the model
	Mode    string // the agent works in
	Todos   []event.Todo
	Named   bool                         // the user chose the title
	Ours    func(toolCallID string) bool // whether the session runs the call, and tells about it
	Turn    string                       // that runs; empty: none
	Stopper event.Decider                // who stopped the turn; empty: it was not stopped
	Now     time.Time
	Log     *slog.Logger
}

// BetweenTurns reports whether an agent may say d while no turn runs. What may not
// be reported at all is for Report to refuse.
func BetweenTurns(d event.Data) bool {
	switch d.(type) {
	case event.AssistantTurnStart, event.AssistantTurnEnd, event.AssistantMessageDelta, event.AssistantReasoningDelta,
		event.AssistantMessageDiscarded, event.AssistantMessage, event.AssistantReasoning,
		event.ToolExecutionStart, event.ToolExecutionProgress, event.ToolExecutionPartialResult, event.ToolExecutionComplete,
		event.SubagentSelected, event.SubagentStarted, event.SubagentCompleted, event.SubagentFailed:
		return false
	}
	return true
}

// Report returns a report as it may be relayed; nil for one that says what is
// known.
func (s Screening) Report(data event.Data) (event.Data, error) {
	switch d := data.(type) {
	case event.SessionError:
		d.Kind = isKnown(d.Kind, event.KindOfStatus(d.StatusCode))
		return d.In(s.Turn), nil
	case event.SessionUsageInfo:
		d.CurrentTokens, d.TokenLimit = max(0, d.CurrentTokens), max(0, d.TokenLimit)
		return d, nil
	case event.AssistantUsage:
		d.InputTokens, d.OutputTokens, d.CacheReadTokens = max(0, d.InputTokens), max(0, d.OutputTokens), max(0, d.CacheReadTokens)
		return d, nil
	case event.SessionTruncation,
		event.SessionCompactionStart, event.SessionCompactionComplete,
		event.AssistantTurnStart, event.AssistantTurnEnd,
		event.SubagentSelected, event.SubagentStarted, event.SubagentCompleted, event.SubagentFailed:
		return d, nil
	case event.TaskStarted, event.TaskOutput, event.TaskCompleted:
		return s.task(data)
	case event.SessionTitleChanged:
		if d.Title = wording.Line(d.Title); utf8.RuneCountInString(d.Title) > maxTitle {
			d.Title = string([]rune(d.Title)[:maxTitle])
		}
		if s.Named || d.Title == "" || d.Title == s.Title {
			return nil, nil
		}
		return d, nil
	case event.SessionModelChange:
		if d.Effort = cmp.Or(d.Effort, s.Effort); d.NewModel == s.Model && d.Effort == s.Effort {
			return nil, nil
		}
		return d, nil
	case event.SessionModeChanged:
		if d.Name = wording.Cut(wording.Line(d.Name), maxTitle); d.Mode == s.Mode || d.Mode == "" {
			return nil, nil
		}
		return d, nil
	case event.SessionTodosChanged:
		return s.todos(d), nil
	case event.AssistantMessageDelta, event.AssistantReasoningDelta, event.AssistantMessageDiscarded,
		event.AssistantMessage, event.AssistantReasoning:
		return s.message(data)
	case event.ToolExecutionStart, event.ToolExecutionProgress, event.ToolExecutionPartialResult, event.ToolExecutionComplete:
		return s.tool(data)
	}
	return nil, fmt.Errorf("%s is not a backend's to report", event.TypeOf(data))
}

// todos is a plan as it is kept; nil for one that is known.
func (s Screening) todos(d event.SessionTodosChanged) event.Data {
	kept := make([]event.Todo, 0, len(d.Todos))
	for _, t := range d.Todos[:min(len(d.Todos), maxTodos)] {
		if t.Text = wording.Cut(wording.Line(t.Text), maxTodo); t.Text == "" {
			continue
		}
		if t.Status != event.TodoDoing && t.Status != event.TodoDone {
			t.Status = event.TodoPending
		}
		kept = append(kept, t)
	}
	if d.Todos = kept; slices.Equal(kept, s.Todos) {
		return nil
	}
	return d
}

func (s Screening) message(data event.Data) (event.Data, error) {
	var n eventlog.Message
	var offset int64
	var text string
	switch d := data.(type) {
	case event.AssistantMessage:
		d.ToolRequests = typed(d.ToolRequests)
		return ignoreIfDone(s, d, d.MessageID, len(d.Content))
	case event.AssistantReasoning:
		return ignoreIfDone(s, d, d.ReasoningID, len(d.Content))
	case event.AssistantMessageDiscarded:
		if s.Work.Message(eventlog.MessageKey(d.MessageID)) == nil {
			return nil, nil
		}
		return d, nil
	case event.AssistantMessageDelta:
		n, offset, text = eventlog.Message{ID: d.MessageID, Parent: d.ParentToolCallID}, d.Offset, d.DeltaContent
	case event.AssistantReasoningDelta:
		n, offset, text = eventlog.Message{ID: d.ReasoningID, Parent: d.ParentToolCallID, Reasoning: true}, d.Offset, d.DeltaContent
	}
	if s.Work.Done[n.Key()] || text == "" {
		return nil, nil
	}
	if err := s.Work.Delta(n, offset, text); err != nil {
		return nil, err
	}
	return data, nil
}

// typed returns requests that all say of which type they are.
func typed(requests []event.ToolRequest) []event.ToolRequest {
	requests = slices.Clone(requests)
	for i := range requests {
		if requests[i].Type != "custom" {
			requests[i].Type = "function"
		}
	}
	return requests
}

// ignoreIfDone returns the end of a message, nil for its second one.
func ignoreIfDone(s Screening, d event.Data, id string, size int) (event.Data, error) {
	switch {
	case id == "":
		return nil, fmt.Errorf("%s without an id", event.TypeOf(d))
	case size > eventlog.MaxMessage:
		return nil, fmt.Errorf("%s of %d bytes, the limit is %d", event.TypeOf(d), size, eventlog.MaxMessage)
	case s.Work.Done[eventlog.EndKey(d)]:
		return nil, nil
	}
	return d, nil
}

func (s Screening) tool(data event.Data) (event.Data, error) {
	switch d := data.(type) {
	case event.ToolExecutionStart:
		switch {
		case d.ToolCallID == "" || d.ToolName == "":
			return nil, fmt.Errorf("%s without the id or the name of the call", event.TypeOf(d))
		case s.Work.Tool(d.ToolCallID) != nil || s.Work.Done[eventlog.ToolKey(d.ToolCallID)]:
			return nil, nil
		}
		d.By = event.ByAgent
		d.Arguments = LoggableArguments(d.Arguments)
		return d, nil
	case event.ToolExecutionProgress:
		if !s.agentsTool(d.ToolCallID) {
			return nil, nil
		}
		d.OutputID = ""
		return d, nil
	case event.ToolExecutionPartialResult:
		if !s.agentsTool(d.ToolCallID) {
			return nil, nil
		}
		if len(d.PartialOutput) > maxPartial {
			d.PartialOutput = strings.ToValidUTF8(d.PartialOutput[:maxPartial], "")
		}
		return d, nil
	case event.ToolExecutionComplete:
		return s.complete(d)
	}
	return nil, nil
}

// agentsTool reports whether the call runs and is the agent's own affair: not
// one that the session runs and tells about itself.
func (s Screening) agentsTool(toolCallID string) bool {
	t := s.Work.Tool(toolCallID)
	return t != nil && t.Start.By == event.ByAgent && !s.Ours(toolCallID)
}

// complete lets an agent end its own calls once. What it says about
// outputs and their tokens is not believed: only our own tools make those.
func (s Screening) complete(d event.ToolExecutionComplete) (event.Data, error) {
	switch {
	case s.Ours(d.ToolCallID) || s.Work.Done[eventlog.ToolKey(d.ToolCallID)]:
		return nil, nil
	case !s.agentsTool(d.ToolCallID):
		return nil, fmt.Errorf("tool call %q completes but did not start", d.ToolCallID)
	}
	begun := s.Work.Tool(d.ToolCallID)
	d.ParentToolCallID = begun.Start.ParentToolCallID
	var stripped bool
	d.ToolTelemetry, stripped = foreignTelemetry(d.ToolTelemetry)
	if stripped || d.OutputID != "" {
		s.Log.Warn("an agent named an output it did not make", "toolCallId", d.ToolCallID)
	}
	if d.OutputID = begun.Output(); d.OutputID != "" { // the session kept it
		d.ToolTelemetry = keptTelemetry(d.ToolTelemetry, d.OutputID)
	}
	switch {
	case d.Success:
		d.Error = nil
		if d.Result == nil {
			d.Result = &event.ToolResult{}
		}
	default:
		d.Result = nil
		if d.Error == nil {
			d.Error = &event.ToolError{Message: "The tool failed.", Code: "failure", Kind: event.KindInternal}
		}
		e := *d.Error
		e.Kind, e.Nearest, e.By, e.Limit = isKnown(e.Kind, event.KindOfCode(e.Code)), nil, "", ""
		if e.Kind == event.KindAborted {
			e.By = s.Stopper
		}
		d.Error = &e
	}
	if d.DurationMs <= 0 {
		d.DurationMs = max(0, s.Now.Sub(begun.At).Milliseconds())
	}
	return d, nil
}

// task returns a report about a task as it may be relayed.
func (s Screening) task(data event.Data) (event.Data, error) {
	switch d := data.(type) {
	case event.TaskStarted:
		switch {
		case d.TaskID == "" || d.Kind != event.ShellTask && d.Kind != event.AgentTask:
			return nil, fmt.Errorf("%s without the id or the kind of the task", event.TypeOf(d))
		case s.Work.Task(d.TaskID) != nil:
			return nil, nil
		}
		d.Title = strings.ToValidUTF8(d.Title, "\uFFFD")
		if utf8.RuneCountInString(d.Title) > maxTaskTitle {
			d.Title = string([]rune(d.Title)[:maxTaskTitle]) + "…"
		}
		return d, nil
	case event.TaskOutput:
		if s.Work.Task(d.TaskID) == nil || d.Text == "" {
			return nil, nil
		}
		if over := len(d.Text) - eventlog.MaxTaskText; over > 0 {
			d.Text = d.Text[over:]
		}
		d.Text = strings.ToValidUTF8(d.Text, "\uFFFD")
		return d, nil
	case event.TaskCompleted:
		if s.Work.Task(d.TaskID) == nil {
			return nil, nil
		}
		if d.Outcome == "" {
			d.Outcome = event.Completed
		}
		return d, nil
	}
	return nil, nil
}

// isKnown returns kind if the language of events has it, else other.
func isKnown(kind, other event.ErrorKind) event.ErrorKind {
	if slices.Contains(event.ErrorKinds(), kind) {
		return kind
	}
	return other
}

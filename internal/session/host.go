package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/fold"
)

// maxPartial is how many bytes of an increment of a foreign tool's output are kept.
const maxPartial = 64 << 10

// maxErrors is how many errors of one turn hooks are told.
const maxErrors = 10

// host is what one conversation may ask of its session.
type host struct {
	s         *Session
	intercept agent.Intercept // how far hooks reach into the agent's calls
	gone      bool            // guarded by s.mu: the conversation is over
}

// shut makes everything the conversation still asks for an error.
func (h *host) shut() {
	h.s.mu.Lock()
	h.gone = true
	h.s.mu.Unlock()
}

// turnLocked returns the running turn, or why the conversation has none.
// What a helper in the background does, in the call parent, runs beside the turns.
func (h *host) turnLocked(parent string) (*turn, error) {
	task := h.s.open.Helper(parent)
	switch t := h.s.turn; {
	case h.gone:
		return nil, fmt.Errorf("the conversation of session %s: %w", h.s.id, ErrClosed)
	case task != nil && h.s.scopes[task.Start.TaskID] != nil:
		return h.s.scopes[task.Start.TaskID], nil
	case t == nil || !t.started || t.ended:
		return nil, fmt.Errorf("session %s: %w", h.s.id, ErrNoTurn)
	default:
		return t, nil
	}
}

// Report implements [agent.Host].
func (h *host) Report(ctx context.Context, data event.Data) error {
	if data == nil {
		return fmt.Errorf("%w: a report without data", ErrInvalid)
	}
	if d, ok := data.(event.ToolExecutionComplete); ok {
		d.ResultTokens = readTokens(d) // here, where nobody waits for it
		data = d
	}
	take := func() error { return h.reportLocked(data) }
	if err := h.s.change(context.Background(), take); !errors.Is(err, ErrLog) {
		return err
	}
	switch data.(type) {
	case event.TaskStarted, event.TaskCompleted:
		return h.s.persist(h.s.ctx, take) // a task is beside the turns
	}
	return h.s.persist(h.turnOver(), take)
}

// readTokens is what the model read of an agent's own call.
func readTokens(d event.ToolExecutionComplete) int64 {
	switch {
	case d.Success && d.Result != nil:
		return priceOf(d.Result.Content)
	case !d.Success && d.Error != nil:
		return priceOf(d.Error.Message)
	}
	return 0
}

// known returns kind if the language of events has it, else other.
func known(kind, other event.ErrorKind) event.ErrorKind {
	if slices.Contains(event.ErrorKinds(), kind) {
		return kind
	}
	return other
}

// turnOver returns a context that ends with the turn; outside of one it has ended.
func (h *host) turnOver() context.Context {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if h.s.turn != nil {
		return h.s.turn.ctx
	}
	ctx, cancel := context.WithCancelCause(h.s.ctx)
	cancel(ErrNoTurn)
	return ctx
}

// reportLocked appends what the agent reports.
func (h *host) reportLocked(data event.Data) error {
	s := h.s
	if h.gone {
		return fmt.Errorf("the conversation of session %s: %w", s.id, ErrClosed)
	}
	t, err := h.turnLocked(s.open.ParentOf(data))
	if err != nil && !betweenTurns(data) {
		return fmt.Errorf("report %s: %w", event.TypeOf(data), err)
	}
	relay, err := s.screenLocked(data)
	if err != nil {
		s.log().Warn("a report was refused", "type", event.TypeOf(data), "error", err)
		return err
	}
	if relay == nil {
		return nil
	}
	if done, ends := relay.(event.TaskCompleted); ends {
		err = s.endTaskLocked(done)
	} else {
		err = s.appendLocked(relay)
	}
	if err != nil {
		return fmt.Errorf("report %s: %w", event.TypeOf(data), err)
	}
	s.openScopeLocked(relay)
	if t != nil {
		t.note(relay)
	} else if u, ok := relay.(event.AssistantUsage); ok {
		s.unbilled = fold.AddUsage(s.unbilled, usageOf(u))
	}
	return nil
}

func usageOf(d event.AssistantUsage) event.Usage {
	return event.Usage{InputTokens: d.InputTokens, OutputTokens: d.OutputTokens,
		CacheReadTokens: d.CacheReadTokens, Cost: d.Cost, Calls: 1, DefinitionTokens: d.DefinitionTokens}
}

// note keeps what the end of the turn has to know.
func (t *turn) note(d event.Data) {
	switch d := d.(type) {
	case event.AssistantUsage:
		t.usage = fold.AddUsage(t.usage, usageOf(d))
	case event.SessionError:
		t.told[d.Message] = true
		if len(t.errs) < maxErrors {
			t.errs = append(t.errs, d)
		}
	}
}

// betweenTurns reports whether an agent may say d while no turn runs. What may not
// be reported at all is for screenLocked to refuse.
func betweenTurns(d event.Data) bool {
	switch d.(type) {
	case event.AssistantTurnStart, event.AssistantTurnEnd, event.AssistantMessageDelta, event.AssistantReasoningDelta,
		event.AssistantMessageDiscarded, event.AssistantMessage, event.AssistantReasoning,
		event.ToolExecutionStart, event.ToolExecutionProgress, event.ToolExecutionPartialResult, event.ToolExecutionComplete,
		event.SubagentSelected, event.SubagentStarted, event.SubagentCompleted, event.SubagentFailed:
		return false
	}
	return true
}

// screenLocked returns a report as it may be relayed; nil for one that says what is
// known.
func (s *Session) screenLocked(data event.Data) (event.Data, error) {
	switch d := data.(type) {
	case event.SessionError:
		d.Kind = known(d.Kind, event.KindOfStatus(d.StatusCode))
		return d, nil
	case event.SessionUsageInfo, event.SessionTruncation,
		event.SessionCompactionStart, event.SessionCompactionComplete, event.AssistantUsage,
		event.AssistantTurnStart, event.AssistantTurnEnd,
		event.SubagentSelected, event.SubagentStarted, event.SubagentCompleted, event.SubagentFailed:
		return d, nil
	case event.TaskStarted, event.TaskOutput, event.TaskCompleted:
		return s.screenTaskLocked(data)
	case event.SessionTitleChanged:
		if d.Title = titleLine(d.Title); utf8.RuneCountInString(d.Title) > maxTitle {
			d.Title = string([]rune(d.Title)[:maxTitle])
		}
		if s.named || d.Title == "" || d.Title == s.summary.Load().Title {
			return nil, nil
		}
		return d, nil
	case event.SessionModelChange:
		if d.NewModel == s.summary.Load().Model {
			return nil, nil
		}
		return d, nil
	case event.AssistantMessageDelta, event.AssistantReasoningDelta, event.AssistantMessageDiscarded,
		event.AssistantMessage, event.AssistantReasoning:
		return s.screenMessageLocked(data)
	case event.ToolExecutionStart, event.ToolExecutionProgress, event.ToolExecutionPartialResult, event.ToolExecutionComplete:
		return s.screenToolLocked(data)
	}
	return nil, fmt.Errorf("%w: %s is not a backend's to report", ErrInvalid, event.TypeOf(data))
}

func (s *Session) screenMessageLocked(data event.Data) (event.Data, error) {
	var n fold.Message
	var offset int64
	var text string
	switch d := data.(type) {
	case event.AssistantMessage:
		return unlessDone(s, d, d.MessageID, len(d.Content))
	case event.AssistantReasoning:
		return unlessDone(s, d, d.ReasoningID, len(d.Content))
	case event.AssistantMessageDiscarded:
		if s.open.Message(fold.MessageKey(d.MessageID)) == nil {
			return nil, nil
		}
		return d, nil
	case event.AssistantMessageDelta:
		n, offset, text = fold.Message{ID: d.MessageID, Parent: d.ParentToolCallID}, d.Offset, d.DeltaContent
	case event.AssistantReasoningDelta:
		n, offset, text = fold.Message{ID: d.ReasoningID, Parent: d.ParentToolCallID, Reasoning: true}, d.Offset, d.DeltaContent
	}
	if s.open.Done[n.Key()] || text == "" {
		return nil, nil
	}
	if err := s.open.Delta(n, offset, text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return data, nil
}

// unlessDone returns the end of a message, nil for its second one.
func unlessDone(s *Session, d event.Data, id string, size int) (event.Data, error) {
	switch {
	case id == "":
		return nil, fmt.Errorf("%w: %s without an id", ErrInvalid, event.TypeOf(d))
	case size > fold.MaxMessage:
		return nil, fmt.Errorf("%w: %s of %d bytes, the limit is %d", ErrInvalid, event.TypeOf(d), size, fold.MaxMessage)
	case s.open.Done[fold.EndKey(d)]:
		return nil, nil
	}
	return d, nil
}

func (s *Session) screenToolLocked(data event.Data) (event.Data, error) {
	switch d := data.(type) {
	case event.ToolExecutionStart:
		switch {
		case d.ToolCallID == "" || d.ToolName == "":
			return nil, fmt.Errorf("%w: %s without the id or the name of the call", ErrInvalid, event.TypeOf(d))
		case s.open.Tool(d.ToolCallID) != nil || s.open.Done[fold.ToolKey(d.ToolCallID)]:
			return nil, nil
		}
		d.By = event.ByAgent
		d.Arguments = loggable(d.Arguments)
		return d, nil
	case event.ToolExecutionProgress:
		if !s.foreignLocked(d.ToolCallID) {
			return nil, nil
		}
		d.OutputID = ""
		return d, nil
	case event.ToolExecutionPartialResult:
		if !s.foreignLocked(d.ToolCallID) {
			return nil, nil
		}
		if len(d.PartialOutput) > maxPartial {
			d.PartialOutput = strings.ToValidUTF8(d.PartialOutput[:maxPartial], "")
		}
		return d, nil
	case event.ToolExecutionComplete:
		return s.screenCompleteLocked(d)
	}
	return nil, nil
}

// foreignLocked reports whether the call runs and is the agent's own affair: not
// one that the session runs and tells about itself.
func (s *Session) foreignLocked(toolCallID string) bool {
	t := s.open.Tool(toolCallID)
	return t != nil && t.Start.By == event.ByAgent && s.calls[toolCallID] == nil
}

// screenCompleteLocked lets an agent end its own calls once. What it says about
// outputs and their tokens is not believed: only our own tools mint those.
func (s *Session) screenCompleteLocked(d event.ToolExecutionComplete) (event.Data, error) {
	switch {
	case s.calls[d.ToolCallID] != nil || s.open.Done[fold.ToolKey(d.ToolCallID)]:
		return nil, nil
	case !s.foreignLocked(d.ToolCallID):
		return nil, fmt.Errorf("%w: tool call %q completes but did not start", ErrInvalid, d.ToolCallID)
	}
	var stripped bool
	d.ToolTelemetry, stripped = foreignTelemetry(d.ToolTelemetry)
	if stripped || d.OutputID != "" {
		s.log().Warn("an agent named an output it did not make", "toolCallId", d.ToolCallID)
	}
	d.OutputID = ""
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
		e.Kind, e.Nearest, e.By, e.Limit = known(e.Kind, event.KindOfCode(e.Code)), nil, "", ""
		if e.Kind == event.KindAborted && s.turn != nil {
			e.By = stopper(s.turn.ctx)
		}
		d.Error = &e
	}
	if d.DurationMs <= 0 {
		d.DurationMs = max(0, s.now().Sub(s.open.Tool(d.ToolCallID).At).Milliseconds())
	}
	return d, nil
}

// foreignTelemetry returns telemetry without what only our own tools may say.
func foreignTelemetry(raw json.RawMessage) (clean json.RawMessage, namedOutput bool) {
	if len(raw) == 0 {
		return nil, false
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &fields) != nil {
		return nil, false
	}
	for k := range fields {
		switch {
		case strings.EqualFold(k, "outputId"):
			namedOutput = true
			delete(fields, k)
		case slices.ContainsFunc([]string{"outputType", "tokensShown", "tokensSent", "tokensEstimated"}, func(own string) bool { return strings.EqualFold(k, own) }):
			delete(fields, k)
		}
	}
	if len(fields) == 0 {
		return nil, namedOutput
	}
	clean, err := json.Marshal(fields)
	if err != nil {
		return nil, namedOutput
	}
	return clean, namedOutput
}

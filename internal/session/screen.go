package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/strictjson"
	"webchat/internal/wording"
)

// MaxArguments is how many bytes the arguments of a call may have.
const MaxArguments = 1 << 20

const (
	maxPartial   = 64 << 10 // bytes that are kept of an increment of a foreign tool's output
	maxTitle     = 200      // characters
	maxTaskTitle = 2000     // characters
	maxTodos     = 100      // entries of a plan
	maxTodo      = 500      // characters of one
	maxNumbers   = 64       // numbers of a foreign tool's telemetry

	// What one call of a model takes at most: sums of more would be no numbers that a log can hold.
	maxTokens = 1 << 40
	maxCost   = 1e9
)

// screening is what a report of an agent is screened by: reports are the one way foreign events
// reach a log, so what is not listed here is refused, what is known already is left out, and what
// only the session itself may say (outputs, tokens, who decided) is taken out. It changes nothing
// but the text of messages in flight.
type screening struct {
	work    *eventlog.Work // a delta is added to it
	sum     eventlog.Summary
	named   bool                         // the user chose the title
	prompt  string                       // of the turn, on one line
	runs    func(toolCallID string) bool // whether the session runs the call, and reports it
	turn    string                       // that runs; empty: none
	stopper event.Decider                // who stopped the turn; empty: it was not stopped
	now     time.Time
	log     *slog.Logger
}

// screening is called with s.mu held.
func (s *Session) screening() screening {
	x := screening{
		work:  s.events.Open(),
		sum:   s.events.Summary(),
		named: s.titleChosen,
		turn:  s.turn.turnID(),
		now:   s.events.Now(),
		log:   s.log(),
		runs:  func(toolCallID string) bool { return s.calls[toolCallID] != nil },
	}
	if s.turn != nil {
		x.stopper, x.prompt = stoppedBy(s.turn.ctx), wording.Line(s.turn.prompt.content)
	}
	return x
}

// betweenTurns reports whether an agent may say d while no turn runs. What may not be reported at
// all is for screening to refuse.
func betweenTurns(d event.Data) bool {
	switch d.(type) {
	case event.AssistantTurnStart, event.AssistantTurnEnd, event.AssistantMessageDelta,
		event.AssistantReasoningDelta,
		event.AssistantMessageDiscarded, event.AssistantMessage, event.AssistantReasoning,
		event.ToolExecutionStart, event.ToolExecutionProgress, event.ToolExecutionPartialResult,
		event.ToolExecutionComplete,
		event.SubagentSelected, event.SubagentStarted, event.SubagentCompleted, event.SubagentFailed:
		return false
	}
	return true
}

// Report returns a report as it may be relayed; nil for one that says what is known.
func (s screening) Report(data event.Data) (event.Data, error) {
	switch d := data.(type) {
	case event.SessionTruncation, event.SessionCompactionStart, event.SessionCompactionComplete,
		event.AssistantTurnStart, event.AssistantTurnEnd,
		event.SubagentSelected, event.SubagentStarted, event.SubagentCompleted, event.SubagentFailed:
		return d, nil
	case event.SessionError:
		d.Kind = isKnown(d.Kind, event.KindOfStatus(d.StatusCode))
		return d.In(s.turn), nil
	case event.SessionUsageInfo:
		d.CurrentTokens, d.TokenLimit = tokensOf(d.CurrentTokens), tokensOf(d.TokenLimit)
		return d, nil
	case event.AssistantUsage:
		return bounded(d), nil
	case event.SessionTitleChanged:
		return s.title(d)
	case event.SessionModelChange:
		d.Effort = cmp.Or(d.Effort, s.sum.Open.Effort)
		return unless(d.NewModel == s.sum.Model && d.Effort == s.sum.Open.Effort, d)
	case event.SessionModeChanged:
		d.Name = wording.Cut(wording.Line(d.Name), maxTitle)
		return unless(d.Mode == s.sum.Open.Mode || d.Mode == "", d)
	case event.SessionTodosChanged:
		d.Todos = todos(d.Todos)
		return unless(slices.Equal(d.Todos, s.sum.Open.Todos), d)
	case event.AssistantMessage:
		d.ToolRequests = toolRequests(d.ToolRequests)
		return s.end(d, d.MessageID, len(d.Content))
	case event.AssistantReasoning:
		return s.end(d, d.ReasoningID, len(d.Content))
	case event.AssistantMessageDiscarded:
		return unless(s.work.Message(eventlog.MessageKey(d.MessageID)) == nil, d)
	case event.AssistantMessageDelta:
		return s.delta(d, eventlog.Message{ID: d.MessageID, Parent: d.ParentToolCallID}, d.Offset,
			d.DeltaContent)
	case event.AssistantReasoningDelta:
		return s.thought(d)
	case event.ToolExecutionStart:
		return s.start(d)
	case event.ToolExecutionProgress:
		d.OutputID, d.TokensShown, d.TokensSent, d.LeftOut = "", 0, 0, ""
		return unless(!s.agentsTool(d.ToolCallID), d)
	case event.ToolExecutionPartialResult:
		d.PartialOutput = partial(d.PartialOutput)
		return unless(!s.agentsTool(d.ToolCallID), d)
	case event.ToolExecutionComplete:
		return s.complete(d)
	case event.TaskStarted:
		return s.task(d)
	case event.TaskOutput:
		d.Text = strings.ToValidUTF8(d.Text[max(0, len(d.Text)-eventlog.MaxTaskText):], "\uFFFD")
		return unless(s.work.Task(d.TaskID) == nil || d.Text == "", d)
	case event.TaskCompleted:
		d.Outcome = cmp.Or(d.Outcome, event.Completed)
		return unless(s.work.Task(d.TaskID) == nil, d)
	}
	return nil, fmt.Errorf("%s is not a backend's to report", event.TypeOf(data))
}

func tokensOf(n int64) int64 { return min(max(0, n), maxTokens) }

// bounded is what a call of a model took, as far as that can be.
func bounded(d event.AssistantUsage) event.AssistantUsage {
	d.InputTokens, d.OutputTokens, d.CacheReadTokens = tokensOf(d.InputTokens),
		tokensOf(d.OutputTokens), tokensOf(d.CacheReadTokens)
	d.DefinitionTokens, d.Cost = tokensOf(d.DefinitionTokens), min(max(0, d.Cost), maxCost)
	return d
}

// title leaves out titles that say nothing new, such as those that repeat the prompt.
func (s screening) title(d event.SessionTitleChanged) (event.Data, error) {
	d.Title, _ = firstRunes(wording.Line(d.Title), maxTitle)
	// of an agent that makes no title
	echo := s.sum.Title != "" && strings.HasPrefix(s.prompt, strings.TrimRight(d.Title, ".… "))
	return unless(s.named || echo || d.Title == "" || d.Title == s.sum.Title, d)
}

// toolRequests are the calls a message asks for, each of a type that is known.
func toolRequests(all []event.ToolRequest) []event.ToolRequest {
	all = slices.Clone(all)
	for i := range all {
		if all[i].Type != "custom" {
			all[i].Type = "function"
		}
	}
	return all
}

// task returns the start of a task that is not known yet.
func (s screening) task(d event.TaskStarted) (event.Data, error) {
	if d.TaskID == "" || d.Kind != event.ShellTask && d.Kind != event.AgentTask {
		return nil, fmt.Errorf("%s without the id or the kind of the task", event.TypeOf(d))
	}
	title, cut := firstRunes(strings.ToValidUTF8(d.Title, "\uFFFD"), maxTaskTitle)
	if d.Title = title; cut {
		d.Title += "…"
	}
	return unless(s.work.Task(d.TaskID) != nil, d)
}

// unless returns d, or nothing where that says what is known.
func unless(known bool, d event.Data) (event.Data, error) {
	if known {
		return nil, nil
	}
	return d, nil
}

// firstRunes returns the first characters of a text, and whether it has more.
func firstRunes(text string, most int) (string, bool) {
	if r := []rune(text); len(r) > most {
		return string(r[:most]), true
	}
	return text, false
}

// todos is a plan as it is kept.
func todos(all []event.Todo) []event.Todo {
	kept := make([]event.Todo, 0, len(all))
	for _, t := range all[:min(len(all), maxTodos)] {
		if t.Status != event.TodoDoing && t.Status != event.TodoDone {
			t.Status = event.TodoPending
		}
		if t.Text = wording.Cut(wording.Line(t.Text), maxTodo); t.Text != "" {
			kept = append(kept, t)
		}
	}
	return kept
}

// end returns the end of a message, nothing for its second one.
func (s screening) end(d event.Data, id string, size int) (event.Data, error) {
	switch {
	case id == "":
		return nil, fmt.Errorf("%s without an id", event.TypeOf(d))
	case size > eventlog.MaxMessage:
		return nil, fmt.Errorf("%s of %d bytes, the limit is %d", event.TypeOf(d), size,
			eventlog.MaxMessage)
	}
	return unless(s.work.Done[eventlog.EndKey(d)], d)
}

// thought adds to a thought in flight.
func (s screening) thought(d event.AssistantReasoningDelta) (event.Data, error) {
	return s.delta(d, eventlog.Message{
		ID:        d.ReasoningID,
		Parent:    d.ParentToolCallID,
		Reasoning: true,
	}, d.Offset, d.DeltaContent)
}

// partial is what is kept of an increment of a foreign tool's output.
func partial(output string) string {
	if len(output) > maxPartial {
		output = strings.ToValidUTF8(output[:maxPartial], "")
	}
	return output
}

func (s screening) delta(d event.Data, n eventlog.Message, offset int64,
	text string) (event.Data, error) {
	n.At = s.now
	if s.work.Done[n.Key()] || text == "" {
		return nil, nil
	}
	if err := s.work.Delta(n, offset, text); err != nil {
		return nil, err
	}
	return d, nil
}

func (s screening) start(d event.ToolExecutionStart) (event.Data, error) {
	if d.ToolCallID == "" || d.ToolName == "" {
		return nil, fmt.Errorf("%s without the id or the name of the call", event.TypeOf(d))
	}
	d.By, d.Arguments = event.ByAgent, LoggableArguments(d.Arguments)
	return unless(s.work.Tool(d.ToolCallID) != nil || s.work.Done[eventlog.ToolKey(d.ToolCallID)], d)
}

// agentsTool reports whether the call runs and is the agent's own affair: not one that the session
// runs and reports itself.
func (s screening) agentsTool(toolCallID string) bool {
	t := s.work.Tool(toolCallID)
	return t != nil && t.Start.By == event.ByAgent && !s.runs(toolCallID)
}

// complete lets an agent end its own calls once. What it says about outputs and their tokens is not
// believed: only our own tools make those.
func (s screening) complete(d event.ToolExecutionComplete) (event.Data, error) {
	switch {
	case s.runs(d.ToolCallID) || s.work.Done[eventlog.ToolKey(d.ToolCallID)]:
		return nil, nil
	case !s.agentsTool(d.ToolCallID):
		return nil, fmt.Errorf("tool call %q completes but did not start", d.ToolCallID)
	}
	begun := s.work.Tool(d.ToolCallID)
	d.ParentToolCallID = begun.Start.ParentToolCallID
	var stripped bool
	d.ToolTelemetry, stripped = foreignTelemetry(d.ToolTelemetry, begun.Shown())
	if stripped || d.OutputID != "" {
		s.log.Warn("an agent named an output it did not make", "toolCallId", d.ToolCallID)
	}
	d.OutputID = begun.Output()
	if d.Success {
		d.Error = nil
		if d.Result == nil {
			d.Result = &event.ToolResult{}
		}
	} else {
		d.Result = nil
		e := event.ToolError{Message: "The tool failed.", Code: "failure", Kind: event.KindInternal}
		if d.Error != nil {
			e = *d.Error
		}
		e.Kind, e.Nearest, e.By, e.Limit = isKnown(e.Kind, event.KindOfCode(e.Code)), nil, "", ""
		if e.Kind == event.KindAborted {
			e.By = s.stopper
		}
		d.Error = &e
	}
	if d.DurationMs <= 0 {
		d.DurationMs = max(0, s.now.Sub(begun.At).Milliseconds())
	}
	return d, nil
}

// isKnown returns kind if the language of events has it, else other.
func isKnown(kind, other event.ErrorKind) event.ErrorKind {
	if slices.Contains(event.ErrorKinds(), kind) {
		return kind
	}
	return other
}

// numberName is what a number may be called: a name cannot hold what was read.
var numberName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// ownNames are what only our own tools may say, in any case of letters.
var ownNames = []string{"outputid", "outputtype", "tokensshown", "tokenssent", "tokensestimated"}

// foreignTelemetry returns the numbers and truth values of what an agent's own tool says beside its
// result, also those one object deep; all else may hold what the tool read. shown is the output
// that the session keeps of the call, if it has an id. It reports whether the tool named one.
func foreignTelemetry(raw json.RawMessage,
	shown event.ToolExecutionProgress) (clean json.RawMessage, namedOutput bool) {
	left := maxNumbers
	kept, namedOutput := numbers(raw, 2, &left)
	if shown.OutputID != "" {
		if kept == nil {
			kept = map[string]any{}
		}
		kept["outputId"], kept["outputType"] = shown.OutputID, "terminal"
		for name, n := range map[string]int64{"bytes": shown.Bytes, "lines": shown.Lines,
			"tokensShown": shown.TokensShown, "tokensSent": shown.TokensSent} {
			if n > 0 {
				kept[name] = n
			}
		}
		if shown.LeftOut != "" {
			kept["leftOut"] = shown.LeftOut
		}
	}
	if len(kept) == 0 {
		return nil, namedOutput
	}
	clean, _ = json.Marshal(kept)
	return clean, namedOutput
}

// numbers are those of an object and of the objects in it, down to a depth, as many as are left.
func numbers(raw json.RawMessage, depth int, left *int) (kept map[string]any, namedOutput bool) {
	var fields map[string]json.RawMessage
	if depth == 0 || json.Unmarshal(raw, &fields) != nil {
		return nil, false
	}
	kept = map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		switch low := strings.ToLower(name); {
		case slices.Contains(ownNames, low):
			namedOutput = namedOutput || low == "outputid"
		case len(name) > 64 || !numberName.MatchString(name) || *left == 0:
		case value[0] == '{':
			inner, named := numbers(value, depth-1, left)
			if namedOutput = namedOutput || named; len(inner) > 0 {
				kept[name] = inner
			}
		case value[0] != '"' && value[0] != '[' && value[0] != 'n':
			kept[name] = value
			*left--
		}
	}
	return kept, namedOutput
}

// CleanArguments returns raw as a JSON object, or why it is none that a tool may see. A key that
// occurs twice, or again in another case, in any object of it is refused: decoders disagree about
// which one counts.
func CleanArguments(raw json.RawMessage) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}"), nil
	}
	if len(raw) > MaxArguments {
		return nil, fmt.Errorf("the arguments have %d bytes, the limit is %d", len(raw), MaxArguments)
	}
	if err := strictjson.Object(raw); err != nil {
		return nil, errors.New(strictjson.Say("the arguments", err))
	}
	return strictjson.Whole(raw), nil
}

// LoggableArguments returns arguments as they can be logged: text that is not JSON becomes a
// string, what is too long is cut.
func LoggableArguments(raw json.RawMessage) json.RawMessage {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return json.RawMessage("{}")
	case len(raw) > MaxArguments:
		raw = raw[:1024]
	case json.Valid(raw):
		return raw
	}
	b, _ := json.Marshal(strings.ToValidUTF8(string(raw), "\uFFFD"))
	return b
}

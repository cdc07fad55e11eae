package agenttest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// reportable is the list of agent.Host.Report.
func reportable(d event.Data) bool {
	switch d.(type) {
	case event.SessionError, event.SessionTitleChanged, event.SessionModelChange,
		event.SessionModeChanged, event.SessionTodosChanged, event.SessionUsageInfo,
		event.SessionTruncation, event.SessionCompactionStart, event.SessionCompactionComplete,
		event.TaskStarted, event.TaskOutput, event.TaskCompleted, event.AssistantUsage:
		return true
	}
	return ofTurn(d)
}

// ofTurn reports whether d may only come while a Prompt runs.
func ofTurn(d event.Data) bool {
	if _, counts := d.(event.AssistantUsage); counts {
		return false // a model may be called behind a turn, to sum it up
	}
	t := event.TypeOf(d)
	for _, prefix := range []string{"assistant.", "tool.execution_", "subagent."} {
		if strings.HasPrefix(string(t), prefix) {
			return true
		}
	}
	return false
}

// rules follows one conversation's events and says what they break.
type rules struct {
	step     string // the open model call
	messages map[string]*text
	thoughts map[string]*text
	tools    map[string]*execution
	tasks    map[string]*task
}

// task is work in the background.
type task struct {
	started event.TaskStarted
	ended   int
}

// text is a message or a piece of reasoning.
type text struct {
	content    []byte
	deltas     int
	whole      bool
	discarded  bool
	unfinished bool // noted already
}

// execution is one tool call.
type execution struct {
	parent                          string // the call whose helper made it
	started, called, running, noted bool
	completed                       int
}

func newRules() rules {
	return rules{
		messages: map[string]*text{},
		thoughts: map[string]*text{},
		tools:    map[string]*execution{},
		tasks:    map[string]*task{},
	}
}

func entry[T any](m map[string]*T, id string) *T {
	if m[id] == nil {
		m[id] = new(T)
	}
	return m[id]
}

// see returns the rules d breaks.
func (r *rules) see(d event.Data) []string {
	if fields, ok := reflect.ValueOf(d).FieldByName("Extra").Interface().(event.Extra); ok &&
		len(fields) > 0 {
		return broken("%s with fields that its type lacks, and so docs/events.md: %v",
			event.TypeOf(d), slices.Sorted(maps.Keys(fields)))
	}
	switch d := d.(type) {
	case event.AssistantTurnStart:
		open := r.step
		r.step = d.TurnID
		if open != "" {
			return broken("a model call (%s) started inside another (%s)", d.TurnID, open)
		}
		if d.TurnID == "" {
			return broken("assistant.turn_start without a turnId")
		}
	case event.AssistantTurnEnd:
		open := r.step
		r.step = ""
		if open != d.TurnID {
			return broken("the end of model call %q came while %q was open", d.TurnID, open)
		}
	case event.AssistantMessageDelta:
		return entry(r.messages, d.MessageID).delta("message "+d.MessageID, d.Offset, d.DeltaContent)
	case event.AssistantReasoningDelta:
		return entry(r.thoughts, d.ReasoningID).delta("reasoning "+d.ReasoningID, d.Offset,
			d.DeltaContent)
	case event.AssistantMessageDiscarded:
		*entry(r.messages, d.MessageID) = text{discarded: true}
	case event.AssistantMessage:
		return entry(r.messages, d.MessageID).finish("message "+d.MessageID, d.MessageID, d.Content)
	case event.AssistantReasoning:
		return entry(r.thoughts, d.ReasoningID).finish("reasoning "+d.ReasoningID, d.ReasoningID,
			d.Content)
	case event.ToolExecutionStart:
		x := entry(r.tools, d.ToolCallID)
		again := x.started
		x.started, x.parent = true, d.ParentToolCallID
		switch {
		case d.ToolCallID == "":
			return broken("tool.execution_start without a toolCallId")
		case again:
			return broken("tool call %s started twice", d.ToolCallID)
		case d.ToolName == "view":
			return broken("the agent used the tool view")
		}
	case event.ToolExecutionProgress:
		return r.during(d.ToolCallID, "progress")
	case event.ToolExecutionPartialResult:
		return r.during(d.ToolCallID, "a partial result")
	case event.ToolExecutionComplete:
		return r.complete(d)
	case event.TaskStarted, event.TaskOutput, event.TaskCompleted:
		return r.task(d)
	}
	return nil
}

// task returns what an event of a task breaks.
func (r *rules) task(d event.Data) []string {
	switch d := d.(type) {
	case event.TaskStarted:
		t := entry(r.tasks, d.TaskID)
		again := t.started.TaskID != ""
		t.started = d
		switch {
		case again:
			return broken("task %s started twice", d.TaskID)
		case d.TaskID == "" || d.Title == "" || d.Kind == "":
			return broken("a task started without its id, its title or its kind: %+v", d)
		}
	case event.TaskOutput:
		if t := r.tasks[d.TaskID]; t == nil || t.ended > 0 {
			return broken("output of task %s, which does not run", d.TaskID)
		}
	case event.TaskCompleted:
		t := entry(r.tasks, d.TaskID)
		t.ended++
		if t.started.TaskID == "" || t.ended > 1 {
			return broken("task %s completed before its start, or twice", d.TaskID)
		}
	}
	return nil
}

// helps reports whether a call, or one it was made in, left a task that runs.
func (r *rules) helps(call string) bool {
	for range 10 {
		for _, t := range r.tasks {
			if t.ended == 0 && call != "" && t.started.ToolCallID == call {
				return true
			}
		}
		x := r.tools[call]
		if x == nil {
			break
		}
		call = x.parent
	}
	return false
}

// parent returns the call whose helper d is about.
func (r *rules) parent(d event.Data) string {
	id := ""
	switch d := d.(type) {
	case event.ToolExecutionProgress:
		id = d.ToolCallID
	case event.ToolExecutionPartialResult:
		id = d.ToolCallID
	case event.ToolExecutionComplete:
		id = d.ToolCallID
	default:
		return event.ParentCall(d)
	}
	if x := r.tools[id]; x != nil {
		return x.parent
	}
	return ""
}

// left returns the tasks that have no end.
func (r *rules) left() (b []string) {
	for id, t := range r.tasks {
		if t.ended == 0 {
			b = append(b, fmt.Sprintf("task %s: Close returned and it was not completed", id))
		}
	}
	return b
}

func broken(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }

func (t *text) delta(name string, offset int64, piece string) []string {
	want := int64(len(t.content))
	t.content = append(t.content, piece...)
	t.deltas++
	t.discarded = false
	switch {
	case t.whole:
		return broken("%s: a delta after the whole", name)
	case offset != want:
		return broken("%s: a delta has offset %d after %d bytes", name, offset, want)
	case !utf8.ValidString(piece):
		return broken("%s: a delta cuts a rune: %q", name, piece)
	}
	return nil
}

func (t *text) finish(name, id, content string) []string {
	again := t.whole
	t.whole = true
	switch {
	case id == "":
		return broken("a whole text without an id")
	case again:
		return broken("%s: came whole twice", name)
	case t.deltas > 0 && string(t.content) != content:
		return broken("%s: the deltas add up to %q, the whole is %q", name, t.content, content)
	}
	return nil
}

func (r *rules) during(id, what string) []string {
	if x := entry(r.tools, id); !x.started && !x.called {
		return broken("tool call %s: %s before its start", id, what)
	} else if x.completed > 0 {
		return broken("tool call %s: %s after its completion", id, what)
	}
	return nil
}

func (r *rules) complete(d event.ToolExecutionComplete) []string {
	x := entry(r.tools, d.ToolCallID)
	x.completed++
	switch {
	case x.called:
		return broken("tool call %s: completed by the Conn, but CallTool does that", d.ToolCallID)
	case !x.started:
		return broken("tool call %s: completed before its start", d.ToolCallID)
	case x.completed > 1:
		return broken("tool call %s: completed twice", d.ToolCallID)
	case d.Success && (d.Result == nil || d.Error != nil), !d.Success &&
		(d.Error == nil || d.Result != nil):
		return broken("tool call %s: success %v with result %v and error %v", d.ToolCallID, d.Success,
			d.Result, d.Error)
	}
	return nil
}

// call notes the begin of a CallTool.
func (r *rules) call(c agent.ToolCall) []string {
	x := entry(r.tools, c.ID)
	again := x.called
	x.called, x.running, x.parent = true, true, c.ParentToolCallID
	switch {
	case c.ID == "":
		return broken("a tool was called without an id")
	case again:
		return broken("tool call %s: called twice", c.ID)
	case x.completed > 0:
		return broken("tool call %s: called after its completion", c.ID)
	}
	return nil
}

// returned notes the end of a CallTool, which completes the call.
func (r *rules) returned(c agent.ToolCall) {
	x := entry(r.tools, c.ID)
	x.running = false
	x.completed++
}

// end returns what a Prompt that returned left open. One that was aborted or
// failed may leave words and calls unfinished: the session finishes those.
func (r *rules) end(completed bool) []string {
	var b []string
	for id, x := range r.tools {
		if x.running && !x.noted && !r.helps(x.parent) { // a helper's goes on
			b = append(b, fmt.Sprintf("tool call %s: Prompt returned while it ran", id))
			x.noted = true
		}
	}
	for id, m := range r.messages {
		if completed && m.deltas > 0 && !m.whole && !m.unfinished && !m.discarded {
			b = append(b, fmt.Sprintf("message %s: never came whole", id))
		}
		m.unfinished = true
	}
	if completed && r.step != "" {
		b = append(b, fmt.Sprintf("the model call %s never ended", r.step))
	}
	r.step = ""
	return b
}

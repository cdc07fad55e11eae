package eventlog

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"webchat/internal/event"
)

// Work is what a session has started and not ended, folded like its Summary: live by append, after
// a restart from the log.
type Work struct {
	Turn     event.TurnStart // TurnID is empty: none
	TurnAt   time.Time
	LastAt   time.Time           // of the last logged event
	Queued   []event.UserMessage // accepted and without a turn
	Tools    []Tool
	Requests []event.Entry     // permission.requested and user_input.requested
	Hooks    []event.HookStart // their commands run
	Messages []*Message
	Tasks    []*Task
	Version  int             // of Messages: counts their changes
	Done     map[string]bool // keys of what ended in this turn
	// as the agent reported it last to this process; nil: it was not, or the agent forgot something
	// since
	Fill *event.SessionUsageInfo
}

type Tool struct {
	Start    event.ToolExecutionStart
	At       time.Time
	Progress event.Entry // the last one; its JSON is empty: none
}

// Shown is what the call has shown so far, as it reported.
func (t *Tool) Shown() event.ToolExecutionProgress {
	d, _ := t.Progress.Event.Data.(event.ToolExecutionProgress)
	return d
}

// Output is the output of that.
func (t *Tool) Output() string { return t.Shown().OutputID }

// TelemetryOf names the output of a call that could not say more.
func TelemetryOf(outputID string) json.RawMessage {
	b, err := json.Marshal(map[string]string{"outputId": outputID})
	if err != nil {
		return nil
	}
	return b
}

// MaxMessage is how many bytes a message in flight may have.
const MaxMessage = 16 << 20

// Message is a message of which there are only deltas yet.
type Message struct {
	ID, Parent string
	Reasoning  bool
	At         time.Time // of its last delta
	Text       []byte
}

// The keys under which ended things are remembered.
func MessageKey(id string) string   { return "m:" + id }
func ReasoningKey(id string) string { return "r:" + id }
func ToolKey(id string) string      { return "t:" + id }
func requestKey(id string) string   { return "q:" + id }

func (f *Message) Key() string {
	if f.Reasoning {
		return ReasoningKey(f.ID)
	}
	return MessageKey(f.ID)
}

// EndKey returns the key of what d ends; empty when it ends nothing.
func EndKey(d event.Data) string {
	switch d := d.(type) {
	case event.AssistantMessage:
		return MessageKey(d.MessageID)
	case event.AssistantReasoning:
		return ReasoningKey(d.ReasoningID)
	case event.ToolExecutionComplete:
		return ToolKey(d.ToolCallID)
	case event.PermissionCompleted:
		return requestKey(d.RequestID)
	case event.UserInputCompleted:
		return requestKey(d.RequestID)
	}
	return ""
}

// Apply folds one event that is in the log, or was only sent.
func (o *Work) Apply(e event.Entry) {
	if !e.Event.Ephemeral {
		o.LastAt = e.Event.Timestamp
	}
	if k := EndKey(e.Event.Data); k != "" {
		o.finish(k)
	}
	if event.VoidsFill(e.Event.Data) {
		o.Fill = nil
	}
	switch d := e.Event.Data.(type) {
	case event.SessionUsageInfo:
		o.Fill = &d
	case event.UserMessage:
		o.Queued = append(o.Queued, d)
	case event.UserMessageWithdrawn:
		o.removeQueued(d.MessageID)
	case event.TurnStart:
		o.Turn, o.TurnAt = d, e.Event.Timestamp
		o.Done = nil
		o.removeQueued(d.MessageID)
	case event.TurnEnd:
		o.Turn = event.TurnStart{}
		o.Messages = slices.DeleteFunc(o.Messages, func(f *Message) bool {
			return o.Helper(f.Parent) == nil
		})
		for _, id := range d.Steered {
			o.removeQueued(id)
		}
	case event.ToolExecutionStart:
		o.Tools = append(o.Tools, Tool{Start: d, At: e.Event.Timestamp})
	case event.ToolExecutionProgress:
		if t := o.Tool(d.ToolCallID); t != nil {
			t.Progress = e
		}
	case event.PermissionRequested, event.UserInputRequested:
		o.Requests = append(o.Requests, e)
	case event.HookStart:
		o.Hooks = append(o.Hooks, d)
	case event.HookEnd:
		o.Hooks = slices.DeleteFunc(o.Hooks, func(h event.HookStart) bool { return h.HookID == d.HookID })
	case event.AssistantMessageDiscarded:
		o.remove(MessageKey(d.MessageID))
	case event.TaskStarted, event.TaskOutput, event.TaskCompleted:
		o.applyTask(e)
	}
}

// finish removes what has ended and remembers, for the turn, that it did.
func (o *Work) finish(key string) {
	if o.Turn.TurnID != "" {
		if o.Done == nil {
			o.Done = map[string]bool{}
		}
		o.Done[key] = true
	}
	o.remove(key)
	o.Tools = slices.DeleteFunc(o.Tools, func(t Tool) bool {
		return ToolKey(t.Start.ToolCallID) == key
	})
	o.Requests = slices.DeleteFunc(o.Requests, func(e event.Entry) bool {
		return requestKey(QuestionID(e.Event.Data)) == key
	})
}

// Held are the open requests about what is held, which no end of a turn or a process closes.
func (o *Work) Held() []event.Entry {
	return slices.DeleteFunc(slices.Clone(o.Requests), func(e event.Entry) bool {
		return !event.IsHeld(e.Event.Data)
	})
}

func (o *Work) remove(key string) {
	o.Version++
	o.Messages = slices.DeleteFunc(o.Messages, func(f *Message) bool { return f.Key() == key })
}

func (o *Work) removeQueued(messageID string) {
	o.Queued = slices.DeleteFunc(o.Queued, func(m event.UserMessage) bool {
		return m.MessageID == messageID
	})
}

// find returns the first item of a list that is wanted; nil if there is none.
func find[T any](list []T, wanted func(T) bool) *T {
	if i := slices.IndexFunc(list, wanted); i >= 0 {
		return &list[i]
	}
	return nil
}

func (o *Work) Tool(id string) *Tool {
	return find(o.Tools, func(t Tool) bool { return t.Start.ToolCallID == id })
}

func (o *Work) Message(key string) *Message {
	if f := find(o.Messages, func(f *Message) bool { return f.Key() == key }); f != nil {
		return *f
	}
	return nil
}

// Delta adds text to a message in Message, which it opens at offset 0. A delta that would leave a
// hole, or break a character, is refused.
func (o *Work) Delta(n Message, offset int64, text string) error {
	if n.ID == "" {
		return fmt.Errorf("a delta without the id of its message")
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("the delta of message %s is not UTF-8", n.ID)
	}
	f := o.Message(n.Key())
	if f == nil {
		if offset != 0 {
			return fmt.Errorf("the first delta of message %s has offset %d", n.ID, offset)
		}
		f = &n
		o.Messages = append(o.Messages, f)
	}
	switch size := int64(len(f.Text)); {
	case offset < 0 || offset > size:
		return fmt.Errorf("a delta at offset %d of message %s, which has %d bytes", offset, n.ID, size)
	case offset < size && !utf8.RuneStart(f.Text[offset]):
		return fmt.Errorf("a delta at offset %d of message %s, inside a character", offset, n.ID)
	case offset+int64(len(text)) > MaxMessage:
		return fmt.Errorf("message %s is longer than %d bytes", n.ID, MaxMessage)
	}
	f.Text, f.At = append(f.Text[:offset], text...), n.At
	o.Version++
	return nil
}

// byUser reports whether the request belongs to something the user called, which outlives turns.
func (o *Work) byUser(request event.Data) bool {
	t := o.caller(request)
	return t != nil && t.Start.By == event.ByUser
}

// HelperOf returns the task of the helper that asks, if one does.
func (o *Work) HelperOf(request event.Data) *Task {
	if t := o.caller(request); t != nil {
		return o.Helper(t.Start.ParentToolCallID)
	}
	return nil
}

// caller returns the open call a request belongs to.
func (o *Work) caller(request event.Data) *Tool {
	_, call := question(request)
	return o.Tool(call)
}

// QuestionID returns the id of a request; empty for what is none.
func QuestionID(d event.Data) string {
	id, _ := question(d)
	return id
}

// question returns the id of a request, and that of the call it belongs to.
func question(d event.Data) (id, call string) {
	switch d := d.(type) {
	case event.PermissionRequested:
		return d.RequestID, d.ToolCallID
	case event.UserInputRequested:
		return d.RequestID, d.ToolCallID
	}
	return "", ""
}

// Ending says why things are closed that did not end by themselves.
type Ending struct {
	Code   string        // of tools: "aborted" or "interrupted"
	Reason string        // a sentence
	By     event.Decider // who stopped them, if they were stopped
	All    bool          // what the user called, and what works in the background, too
	Of     *Task         // only what was done for this task; nil: all but what is done for tasks
}

// excludes reports whether something made in a call goes on.
func (o *Work) excludes(parent string, why Ending) bool {
	return !why.All && o.Helper(parent) != why.Of
}

// Closing returns what ends everything the turn opened, but not the turn.
func (o *Work) Closing(why Ending, now time.Time) []event.Data {
	out := append(o.cutMessages(why), o.withdrawRequests(why)...)
	if why.All { // else they end by themselves
		for _, h := range o.Hooks {
			out = append(out, event.HookEnd{
				HookID:   h.HookID,
				Event:    h.Event,
				Command:  h.Command,
				ExitCode: -1,
				Reason:   why.Reason,
			})
		}
	}
	out = append(out, o.stopTools(why, now)...)
	if why.All {
		for _, t := range o.Tasks {
			out = append(out, event.TaskCompleted{TaskID: t.Start.TaskID, Outcome: event.Interrupted})
		}
	}
	return out
}

// cutMessages ends messages as far as they came.
func (o *Work) cutMessages(why Ending) (out []event.Data) {
	for _, f := range o.Messages {
		switch {
		case len(f.Text) == 0, o.excludes(f.Parent, why):
		case f.Reasoning:
			out = append(out, event.AssistantReasoning{
				ReasoningID:      f.ID,
				Content:          string(f.Text),
				ParentToolCallID: f.Parent,
			})
		default:
			out = append(out, event.AssistantMessage{
				MessageID:        f.ID,
				Content:          string(f.Text),
				Partial:          true,
				ParentToolCallID: f.Parent,
			})
		}
	}
	return out
}

// withdrawRequests ends requests without an answer, but those about what is held: they wait for the
// user.
func (o *Work) withdrawRequests(why Ending) (out []event.Data) {
	for _, e := range o.Requests {
		if event.IsHeld(e.Event.Data) {
			continue
		}
		if !why.All && (o.byUser(e.Event.Data) || o.HelperOf(e.Event.Data) != why.Of) {
			continue
		}
		out = append(out, Refusal(e.Event.Data, event.DecidedByAbort, why.Reason))
	}
	return out
}

// stopTools ends calls as failed.
func (o *Work) stopTools(why Ending, now time.Time) (out []event.Data) {
	for _, t := range o.Tools {
		if !why.All && t.Start.By == event.ByUser || o.excludes(t.Start.ParentToolCallID, why) {
			continue
		}
		d := event.ToolExecutionComplete{
			ToolCallID:       t.Start.ToolCallID,
			OutputID:         t.Output(),
			ParentToolCallID: t.Start.ParentToolCallID,
			Error: &event.ToolError{
				Message: why.Reason,
				Code:    why.Code,
				Kind:    event.KindOfCode(why.Code),
				By:      why.By,
			},
			DurationMs: max(0, now.Sub(t.At).Milliseconds()),
		}
		if d.OutputID != "" {
			d.ToolTelemetry = TelemetryOf(d.OutputID)
		}
		out = append(out, d)
	}
	return out
}

// Refusal is the end of a request without an answer.
func Refusal(request event.Data, by event.Decider, reason string) event.Data {
	if q, ok := request.(event.UserInputRequested); ok {
		return event.UserInputCompleted{RequestID: q.RequestID, By: by}
	}
	return event.PermissionCompleted{
		RequestID: QuestionID(request),
		Decision:  event.Deny,
		Reason:    reason,
		By:        by,
	}
}

// Interrupted returns what closes everything that is open. Prompts that wait go on waiting.
func (o *Work) Interrupted() []event.Data {
	data := o.Closing(Ending{Code: "interrupted", Reason: Reasons[event.Interrupted], All: true},
		o.LastAt)
	if o.Turn.TurnID != "" {
		data = append(data, event.TurnEnd{
			TurnID:     o.Turn.TurnID,
			MessageID:  o.Turn.MessageID,
			Outcome:    event.Interrupted,
			DurationMs: max(0, o.LastAt.Sub(o.TurnAt).Milliseconds()),
		})
	}
	return data
}

// Reasons are what an end of a turn says to what it closes.
var Reasons = map[event.Outcome]string{
	event.Completed:   "The turn ended before this did.",
	event.Aborted:     "The turn was stopped.",
	event.Failed:      "The turn failed.",
	event.Interrupted: "The program ended before this did.",
}

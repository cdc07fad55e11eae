package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// open is what a session has begun and not ended, folded like its Summary: live
// by append, after a restart from the log.
type open struct {
	turn     event.TurnStart // TurnID is empty: none
	turnAt   time.Time
	lastAt   time.Time // of the last logged event
	queued   []string  // accepted messages without a turn
	tools    []openTool
	requests []event.Entry     // permission.requested and user_input.requested
	hooks    []event.HookStart // their commands run
	flights  []*flight
	tasks    []*openTask
	version  int             // of flights: counts their changes
	done     map[string]bool // keys of what ended in this turn
}

type openTool struct {
	start    event.ToolExecutionStart
	at       time.Time
	progress event.Entry // the last one; its JSON is empty: none
}

// output is what the call has shown so far, as it told itself.
func (t *openTool) output() string {
	d, _ := t.progress.Event.Data.(event.ToolExecutionProgress)
	return d.OutputID
}

// telemetryOf names the output of a call that could not say more.
func telemetryOf(outputID string) json.RawMessage {
	b, err := json.Marshal(agent.Telemetry{OutputID: outputID})
	if err != nil {
		return nil
	}
	return b
}

// flight is a message of which there are only deltas yet.
type flight struct {
	id, parent string
	reasoning  bool
	text       []byte
}

// The keys under which ended things are remembered.
func messageKey(id string) string   { return "m:" + id }
func reasoningKey(id string) string { return "r:" + id }
func toolKey(id string) string      { return "t:" + id }
func requestKey(id string) string   { return "q:" + id }

func (f *flight) key() string {
	if f.reasoning {
		return reasoningKey(f.id)
	}
	return messageKey(f.id)
}

// endKey returns the key of what d ends; empty when it ends nothing.
func endKey(d event.Data) string {
	switch d := d.(type) {
	case event.AssistantMessage:
		return messageKey(d.MessageID)
	case event.AssistantReasoning:
		return reasoningKey(d.ReasoningID)
	case event.ToolExecutionComplete:
		return toolKey(d.ToolCallID)
	case event.PermissionCompleted:
		return requestKey(d.RequestID)
	case event.UserInputCompleted:
		return requestKey(d.RequestID)
	}
	return ""
}

// apply folds one event that is in the log, or was only sent.
func (o *open) apply(e event.Entry) {
	if !e.Event.Ephemeral {
		o.lastAt = e.Event.Timestamp
	}
	if k := endKey(e.Event.Data); k != "" {
		o.finish(k)
	}
	switch d := e.Event.Data.(type) {
	case event.UserMessage:
		o.queued = append(o.queued, d.MessageID)
	case event.TurnStart:
		o.turn, o.turnAt = d, e.Event.Timestamp
		o.done = nil
		o.dequeue(d.MessageID)
	case event.TurnEnd:
		o.turn = event.TurnStart{}
		o.flights = slices.DeleteFunc(o.flights, func(f *flight) bool { return o.helper(f.parent) == nil })
		for _, id := range d.Steered {
			o.dequeue(id)
		}
	case event.ToolExecutionStart:
		o.tools = append(o.tools, openTool{start: d, at: e.Event.Timestamp})
	case event.ToolExecutionProgress:
		if t := o.tool(d.ToolCallID); t != nil {
			t.progress = e
		}
	case event.PermissionRequested, event.UserInputRequested:
		o.requests = append(o.requests, e)
	case event.HookStart:
		o.hooks = append(o.hooks, d)
	case event.HookEnd:
		o.hooks = slices.DeleteFunc(o.hooks, func(h event.HookStart) bool { return h.HookID == d.HookID })
	case event.AssistantMessageDiscarded:
		o.drop(messageKey(d.MessageID))
	case event.TaskStarted, event.TaskOutput, event.TaskCompleted:
		o.applyTask(e)
	}
}

// finish removes what has ended and remembers, for the turn, that it did.
func (o *open) finish(key string) {
	if o.turn.TurnID != "" {
		if o.done == nil {
			o.done = map[string]bool{}
		}
		o.done[key] = true
	}
	o.drop(key)
	o.tools = slices.DeleteFunc(o.tools, func(t openTool) bool { return toolKey(t.start.ToolCallID) == key })
	o.requests = slices.DeleteFunc(o.requests, func(e event.Entry) bool { return requestKey(questionID(e.Event.Data)) == key })
}

func (o *open) drop(key string) {
	o.version++
	o.flights = slices.DeleteFunc(o.flights, func(f *flight) bool { return f.key() == key })
}

func (o *open) dequeue(messageID string) {
	o.queued = slices.DeleteFunc(o.queued, func(id string) bool { return id == messageID })
}

func (o *open) tool(id string) *openTool {
	for i := range o.tools {
		if o.tools[i].start.ToolCallID == id {
			return &o.tools[i]
		}
	}
	return nil
}

func (o *open) flight(key string) *flight {
	for _, f := range o.flights {
		if f.key() == key {
			return f
		}
	}
	return nil
}

// delta adds text to a message in flight, which it opens at offset 0. A delta
// that would leave a hole, or break a character, is refused.
func (o *open) delta(n flight, offset int64, text string) error {
	if n.id == "" {
		return fmt.Errorf("%w: a delta without the id of its message", ErrInvalid)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: the delta of message %s is not UTF-8", ErrInvalid, n.id)
	}
	f := o.flight(n.key())
	if f == nil {
		if offset != 0 {
			return fmt.Errorf("%w: the first delta of message %s has offset %d", ErrInvalid, n.id, offset)
		}
		f = &n
		o.flights = append(o.flights, f)
	}
	switch size := int64(len(f.text)); {
	case offset < 0 || offset > size:
		return fmt.Errorf("%w: a delta at offset %d of message %s, which has %d bytes", ErrInvalid, offset, n.id, size)
	case offset < size && !utf8.RuneStart(f.text[offset]):
		return fmt.Errorf("%w: a delta at offset %d of message %s, inside a character", ErrInvalid, offset, n.id)
	case offset+int64(len(text)) > MaxMessage:
		return fmt.Errorf("%w: message %s is longer than %d bytes", ErrInvalid, n.id, MaxMessage)
	}
	f.text = append(f.text[:offset], text...)
	o.version++
	return nil
}

// ofUser reports whether the request belongs to something the user called,
// which outlives turns.
func (o *open) ofUser(request event.Data) bool {
	t := o.caller(request)
	return t != nil && t.start.By == event.ByUser
}

// helperOf returns the task of the helper that asks, if one does.
func (o *open) helperOf(request event.Data) *openTask {
	if t := o.caller(request); t != nil {
		return o.helper(t.start.ParentToolCallID)
	}
	return nil
}

// caller returns the open call a request belongs to.
func (o *open) caller(request event.Data) *openTool {
	switch d := request.(type) {
	case event.PermissionRequested:
		return o.tool(d.ToolCallID)
	case event.UserInputRequested:
		return o.tool(d.ToolCallID)
	}
	return nil
}

func questionID(d event.Data) string {
	switch d := d.(type) {
	case event.PermissionRequested:
		return d.RequestID
	case event.UserInputRequested:
		return d.RequestID
	}
	return ""
}

// ending says why things are closed that did not end by themselves.
type ending struct {
	code   string        // of tools: "aborted" or "interrupted"
	reason string        // a sentence
	by     event.Decider // who stopped them, if anybody did
	all    bool          // what the user called, and what works in the background, too
	of     *openTask     // only what was done for this task; nil: all but what is done for tasks
}

// spares reports whether something made in a call goes on.
func (o *open) spares(parent string, why ending) bool {
	return !why.all && o.helper(parent) != why.of
}

// closing returns what ends everything the turn opened, but not the turn.
func (o *open) closing(why ending, now time.Time) []event.Data {
	var out []event.Data
	for _, f := range o.flights {
		switch {
		case len(f.text) == 0, o.spares(f.parent, why):
		case f.reasoning:
			out = append(out, event.AssistantReasoning{ReasoningID: f.id, Content: string(f.text), ParentToolCallID: f.parent})
		default:
			out = append(out, event.AssistantMessage{MessageID: f.id, Content: string(f.text), Partial: true, ParentToolCallID: f.parent})
		}
	}
	for _, e := range o.requests {
		if !why.all && (o.ofUser(e.Event.Data) || o.helperOf(e.Event.Data) != why.of) {
			continue
		}
		out = append(out, refusal(e.Event.Data, event.DecidedByAbort, why.reason))
	}
	if why.all { // else they end by themselves
		for _, h := range o.hooks {
			out = append(out, event.HookEnd{HookID: h.HookID, Event: h.Event, Command: h.Command, ExitCode: -1, Reason: why.reason})
		}
	}
	for _, t := range o.tools {
		if !why.all && t.start.By == event.ByUser || o.spares(t.start.ParentToolCallID, why) {
			continue
		}
		d := event.ToolExecutionComplete{ToolCallID: t.start.ToolCallID, OutputID: t.output(),
			Error: &event.ToolError{Message: why.reason, Code: why.code, Kind: event.KindOfCode(why.code), By: why.by}, DurationMs: max(0, now.Sub(t.at).Milliseconds())}
		if d.OutputID != "" {
			d.ToolTelemetry = telemetryOf(d.OutputID)
		}
		out = append(out, d)
	}
	if why.all {
		for _, t := range o.tasks {
			out = append(out, event.TaskCompleted{TaskID: t.start.TaskID, Outcome: event.Interrupted})
		}
	}
	return out
}

// refusal is the end of a request nobody answered.
func refusal(request event.Data, by event.Decider, reason string) event.Data {
	if q, ok := request.(event.UserInputRequested); ok {
		return event.UserInputCompleted{RequestID: q.RequestID, By: by}
	}
	return event.PermissionCompleted{RequestID: questionID(request), Decision: event.Deny, Reason: reason, By: by}
}

package server

import (
	"cmp"
	"encoding/json"
	"strings"

	"webchat/internal/event"
)

// The data of the nine events. Durations are milliseconds.
type (
	autohandSessionStart struct { // an agent starts to work on the project
		SessionID string `json:"sessionId"`
		Project   string `json:"project"` // absolute path
	}
	autohandSessionEnd struct { // the agent's work on the session has ended
		SessionID string `json:"sessionId"`
		Duration  int64  `json:"duration"`
	}
	autohandTurnStart struct { // one call of the model
		Turn      int `json:"turn"`      // of the session, from 1
		Iteration int `json:"iteration"` // of the turn, from 1
	}
	autohandMessageUpdate struct { // a piece of the assistant's text, and all of it so far
		Delta     string `json:"delta"`
		Message   string `json:"message"`
		MessageID string `json:"messageId"`
	}
	autohandToolStart struct { // a tool is called
		ToolID   string          `json:"toolId"`
		ToolName string          `json:"toolName"`
		Args     json.RawMessage `json:"args"`
	}
	autohandToolEnd struct { // what came of the call
		ToolID   string `json:"toolId"`
		ToolName string `json:"toolName"`
		Result   string `json:"result"` // the text the model reads, or the error's
		Success  bool   `json:"success"`
		Duration int64  `json:"duration"`
	}
	autohandPermissionRequest struct { // an act is to be allowed
		RequestID string `json:"requestId"`
		Tool      string `json:"tool"`
		Action    string `json:"action"`
		Resource  string `json:"resource"`
	}
	autohandHookInvoked struct { // a hook's command ended
		Event    string `json:"event"`
		Command  string `json:"command"`
		ExitCode int    `json:"exitCode"`
	}
	autohandError struct { // a failure a person should read; the session goes on
		Message string               `json:"message"`
		Context autohandErrorContext `json:"context"`
	}
	autohandErrorContext struct { // what kind of failure it is and where it happened
		ErrorType  string `json:"errorType"`
		StatusCode int    `json:"statusCode,omitempty"`
		event.ErrorContext
	}
)

// dialectType is the name of one of the nine events.
type dialectType string

// dialectTypes has the data of each event.
var dialectTypes = map[dialectType]any{
	"session_start": autohandSessionStart{}, "session_end": autohandSessionEnd{},
	"turn_start":     autohandTurnStart{},
	"message_update": autohandMessageUpdate{}, "tool_start": autohandToolStart{},
	"tool_end":           autohandToolEnd{},
	"permission_request": autohandPermissionRequest{}, "hook_invoked": autohandHookInvoked{},
	"error": autohandError{},
}

// autohandDialect is a session's events in the words of the Autohand SDK: a fold over the events of
// one session, in their order, from the first of its log on. The same events always give the same
// frames, so a reader that resumes gets what one that stayed got. Its guarantees follow from those
// of the log:
//
//   - tool_start comes before the tool_end of the same call, and each has one.
//   - permission_request comes before the act and before its tool_end.
//   - hook_invoked comes after the hook's command ended.
//   - turns and their iterations count from 1.
//   - The deltas of a message, put together, are the message.
//
// A value belongs to one reader and one goroutine.
type autohandDialect struct {
	sessionID string
	turn      int
	iteration int               // of the turn; 0: none runs
	called    bool              // the iteration's model call has begun
	tools     map[string]string // names of the tools that run, by call
	messages  map[string]*dialectMessage
}

// newAutohandDialect returns the fold of no events.
func newAutohandDialect() *autohandDialect {
	return &autohandDialect{tools: map[string]string{}, messages: map[string]*dialectMessage{}}
}

// dialectFrame is one event in the words of a dialect.
type dialectFrame struct {
	// Seq is the place in the log up to which a reader knows everything once it has this frame; it
	// is the id to resume with.
	Seq int64
	// JSON is one line: id, timestamp, type and data.
	JSON []byte
}

// Project folds e in and returns what it means to a reader: usually nothing or one frame.
func (a *autohandDialect) Project(e event.Entry) []dialectFrame {
	t, data := a.data(e.Event.Data)
	if data == nil {
		return nil
	}
	b, err := json.Marshal(struct {
		ID        event.ID    `json:"id"`
		Timestamp event.Time  `json:"timestamp"`
		Type      dialectType `json:"type"`
		Data      any         `json:"data"`
	}{e.Event.ID, event.Time(e.Event.Timestamp), t, data})
	if err != nil {
		return nil // arguments that are not JSON, which none of our logs holds
	}
	return []dialectFrame{{Seq: e.Seq, JSON: b}}
}

// data is what an event means; nil means nothing in this dialect.
func (a *autohandDialect) data(d event.Data) (dialectType, any) {
	switch d := d.(type) {
	case event.SessionStart:
		a.sessionID = d.SessionID
		return "session_start", autohandSessionStart{d.SessionID, d.Context.Cwd}
	case event.SessionResume:
		a.sessionID = d.SessionID
		return "session_start", autohandSessionStart{d.SessionID, d.Context.Cwd}
	case event.SessionShutdown:
		return "session_end", autohandSessionEnd{a.sessionID, d.DurationMs}
	case event.TurnStart:
		a.turn, a.iteration, a.called = a.turn+1, 1, false
		return "turn_start", autohandTurnStart{a.turn, a.iteration}
	case event.AssistantTurnStart:
		if !a.called { // the turn itself opened the first iteration
			a.called = true
			return "", nil
		}
		a.iteration++
		return "turn_start", autohandTurnStart{max(a.turn, 1), a.iteration}
	case event.AssistantMessageDelta, event.AssistantMessage, event.AssistantMessageDiscarded:
		return a.update(d)
	case event.ToolExecutionStart:
		a.tools[d.ToolCallID] = d.ToolName
		args := d.Arguments
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		return "tool_start", autohandToolStart{d.ToolCallID, d.ToolName, args}
	case event.ToolExecutionComplete:
		return a.toolEnd(d)
	case event.PermissionRequested:
		return "permission_request", autohandPermissionRequest{d.RequestID, d.ToolName, d.Action,
			wholeRequest(d)}
	case event.HookEnd:
		return "hook_invoked", autohandHookInvoked{d.Event, d.Command, d.ExitCode}
	case event.SessionError:
		where := *cmp.Or(d.Context, &event.ErrorContext{})
		return "error", autohandError{d.Message, autohandErrorContext{d.ErrorType, d.StatusCode, where}}
	}
	return "", nil
}

// wholeRequest is all that a permission is about, a line each.
func wholeRequest(d event.PermissionRequested) string {
	if len(d.Resources) == 0 {
		return d.Resource
	}
	var all []string
	for _, r := range d.Resources {
		all = append(all, r.Action+": "+r.Resource)
	}
	return strings.Join(all, "\n")
}

// update is the growth of a message. The event that ends it brings the rest.
func (a *autohandDialect) update(d event.Data) (dialectType, any) {
	switch d := d.(type) {
	case event.AssistantMessageDiscarded:
		delete(a.messages, d.MessageID)
	case event.AssistantMessageDelta:
		m := a.messages[d.MessageID]
		if m == nil {
			m = &dialectMessage{}
			a.messages[d.MessageID] = m
		}
		if fresh := m.delta(d.Offset, d.DeltaContent); fresh != "" {
			return "message_update", autohandMessageUpdate{fresh, string(m.text), d.MessageID}
		}
	case event.AssistantMessage:
		m := a.messages[d.MessageID]
		delete(a.messages, d.MessageID)
		if d.Content == "" {
			break // it only calls tools
		}
		rest := d.Content
		if m != nil && m.sent <= len(d.Content) && string(m.text[:m.sent]) == d.Content[:m.sent] {
			rest = d.Content[m.sent:]
		}
		return "message_update", autohandMessageUpdate{rest, d.Content, d.MessageID}
	}
	return "", nil
}

func (a *autohandDialect) toolEnd(d event.ToolExecutionComplete) (dialectType, any) {
	end := autohandToolEnd{
		ToolID:   d.ToolCallID,
		ToolName: a.tools[d.ToolCallID],
		Success:  d.Success,
		Duration: d.DurationMs,
	}
	delete(a.tools, d.ToolCallID)
	switch {
	case d.Result != nil:
		end.Result = d.Result.Content
	case d.Error != nil:
		end.Result = d.Error.Message
	}
	return "tool_end", end
}

// dialectMessage is the text of a message in flight, as far as a reader has it.
type dialectMessage struct {
	text []byte // what is known
	sent int    // bytes of text that were sent
}

// delta puts text at offset, as [event.AssistantMessageDelta] has it, and returns what is to be
// sent. That waits until it is worth the whole text once more: with every piece a long message
// would be sent as often as it has pieces.
func (m *dialectMessage) delta(offset int64, text string) (fresh string) {
	// a hole cannot be sent; the whole message will be
	if offset >= 0 && offset <= int64(len(m.text)) {
		m.text = append(m.text[:offset], text...)
		m.sent = min(m.sent, int(offset))
	}
	if n := len(m.text) - m.sent; n == 0 || n < len(m.text)/32 {
		return ""
	}
	fresh = string(m.text[m.sent:])
	m.sent = len(m.text)
	return fresh
}

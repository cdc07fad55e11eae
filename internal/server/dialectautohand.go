package server

import (
	"encoding/json"
	"strings"

	"webchat/internal/event"
)

// The data of the nine events. Durations are milliseconds.
type (
	// autohandSessionStart says that an agent starts to work on the project.
	autohandSessionStart struct {
		SessionID string `json:"sessionId"`
		Project   string `json:"project"` // absolute path
	}

	// autohandSessionEnd says that the agent's work on the session has ended.
	autohandSessionEnd struct {
		SessionID string `json:"sessionId"`
		Duration  int64  `json:"duration"`
	}

	// autohandTurnStart opens one call of the model. Turn counts the session's turns,
	// Iteration the calls of a turn, both from 1.
	autohandTurnStart struct {
		Turn      int `json:"turn"`
		Iteration int `json:"iteration"`
	}

	// autohandMessageUpdate is a piece of the assistant's text, and all of the text so far.
	autohandMessageUpdate struct {
		Delta     string `json:"delta"`
		Message   string `json:"message"`
		MessageID string `json:"messageId"`
	}

	// autohandToolStart says that a tool is called.
	autohandToolStart struct {
		ToolID   string          `json:"toolId"`
		ToolName string          `json:"toolName"`
		Args     json.RawMessage `json:"args"`
	}

	// autohandToolEnd is what came of the call: the text the model reads, or the error's.
	autohandToolEnd struct {
		ToolID   string `json:"toolId"`
		ToolName string `json:"toolName"`
		Result   string `json:"result"`
		Success  bool   `json:"success"`
		Duration int64  `json:"duration"`
	}

	// autohandPermissionRequest asks to allow an act.
	autohandPermissionRequest struct {
		RequestID string `json:"requestId"`
		Tool      string `json:"tool"`
		Action    string `json:"action"`
		Resource  string `json:"resource"`
	}

	// autohandHookInvoked says that a hook's command ended.
	autohandHookInvoked struct {
		Event    string `json:"event"`
		Command  string `json:"command"`
		ExitCode int    `json:"exitCode"`
	}

	// autohandError is a failure a person should read; the session goes on.
	autohandError struct {
		Message string               `json:"message"`
		Context autohandErrorContext `json:"context"`
	}

	// autohandErrorContext says what kind of failure it is and where it happened.
	autohandErrorContext struct {
		ErrorType  string `json:"errorType"`
		StatusCode int    `json:"statusCode,omitempty"`
		event.ErrorContext
	}
)

// dialectType is the name of one of the nine events.
type dialectType string

// The types.
const (
	typeSessionStart      dialectType = "session_start"
	typeSessionEnd        dialectType = "session_end"
	typeTurnStart         dialectType = "turn_start"
	typeMessageUpdate     dialectType = "message_update"
	typeToolStart         dialectType = "tool_start"
	typeToolEnd           dialectType = "tool_end"
	typePermissionRequest dialectType = "permission_request"
	typeHookInvoked       dialectType = "hook_invoked"
	autohandTypeError     dialectType = "error"
)

// dialectTypes lists the data of each type, for the published schema.
func dialectTypes() map[dialectType]any {
	return map[dialectType]any{
		typeSessionStart: autohandSessionStart{}, typeSessionEnd: autohandSessionEnd{}, typeTurnStart: autohandTurnStart{}, typeMessageUpdate: autohandMessageUpdate{},
		typeToolStart: autohandToolStart{}, typeToolEnd: autohandToolEnd{}, typePermissionRequest: autohandPermissionRequest{}, typeHookInvoked: autohandHookInvoked{}, autohandTypeError: autohandError{},
	}
}

// dialectEnvelope is an event on the wire.
type dialectEnvelope struct {
	ID        event.ID    `json:"id"`
	Timestamp event.Time  `json:"timestamp"`
	Type      dialectType `json:"type"`
	Data      any         `json:"data"`
}

// autohandDialect is what the events of one session mean so far; see [newAutohandDialect].
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

// Project folds e in and returns what it means to a reader: usually nothing or
// one frame.
func (a *autohandDialect) Project(e event.Entry) []dialectFrame {
	t, data := a.data(e.Event.Data)
	if data == nil {
		return nil
	}
	b, err := json.Marshal(dialectEnvelope{e.Event.ID, event.Time(e.Event.Timestamp), t, data})
	if err != nil {
		return nil // dialectArguments that are no JSON, which no log of ours holds
	}
	return []dialectFrame{{Seq: e.Seq, JSON: b}}
}

// data is what an event means; nil: nothing in this dialect.
func (a *autohandDialect) data(d event.Data) (dialectType, any) {
	switch d := d.(type) {
	case event.SessionStart:
		a.sessionID = d.SessionID
		return typeSessionStart, autohandSessionStart{d.SessionID, d.Context.Cwd}
	case event.SessionResume:
		a.sessionID = d.SessionID
		return typeSessionStart, autohandSessionStart{d.SessionID, d.Context.Cwd}
	case event.SessionShutdown:
		return typeSessionEnd, autohandSessionEnd{a.sessionID, d.DurationMs}
	case event.TurnStart:
		a.turn, a.iteration, a.called = a.turn+1, 1, false
		return typeTurnStart, autohandTurnStart{a.turn, a.iteration}
	case event.AssistantTurnStart:
		return a.modelCall()
	case event.AssistantMessageDelta, event.AssistantMessage, event.AssistantMessageDiscarded:
		return a.update(d)
	case event.ToolExecutionStart:
		a.tools[d.ToolCallID] = d.ToolName
		return typeToolStart, autohandToolStart{d.ToolCallID, d.ToolName, dialectArguments(d.Arguments)}
	case event.ToolExecutionComplete:
		return a.toolEnd(d)
	case event.PermissionRequested:
		return typePermissionRequest, autohandPermissionRequest{d.RequestID, d.ToolName, d.Action, wholeRequest(d)}
	case event.HookEnd:
		return typeHookInvoked, autohandHookInvoked{d.Event, d.Command, d.ExitCode}
	case event.SessionError:
		where := event.ErrorContext{}
		if d.Context != nil {
			where = *d.Context
		}
		return autohandTypeError, autohandError{d.Message, autohandErrorContext{d.ErrorType, d.StatusCode, where}}
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

// modelCall opens another iteration: the turn itself opened the first.
func (a *autohandDialect) modelCall() (dialectType, any) {
	if !a.called {
		a.called = true
		return "", nil
	}
	a.iteration++
	return typeTurnStart, autohandTurnStart{max(a.turn, 1), a.iteration}
}

// updateDialect tells the growth of a message. The event that ends it tells the rest.
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
		m.delta(d.Offset, d.DeltaContent)
		if m.due() {
			return typeMessageUpdate, autohandMessageUpdate{m.take(), string(m.text), d.MessageID}
		}
	case event.AssistantMessage:
		m := a.messages[d.MessageID]
		delete(a.messages, d.MessageID)
		if d.Content == "" {
			break // it only calls tools
		}
		rest := d.Content
		if m != nil && m.told <= len(d.Content) && string(m.text[:m.told]) == d.Content[:m.told] {
			rest = d.Content[m.told:]
		}
		return typeMessageUpdate, autohandMessageUpdate{rest, d.Content, d.MessageID}
	}
	return "", nil
}

func (a *autohandDialect) toolEnd(d event.ToolExecutionComplete) (dialectType, any) {
	end := autohandToolEnd{ToolID: d.ToolCallID, ToolName: a.tools[d.ToolCallID], Success: d.Success, Duration: d.DurationMs}
	delete(a.tools, d.ToolCallID)
	switch {
	case d.Result != nil:
		end.Result = d.Result.Content
	case d.Error != nil:
		end.Result = d.Error.Message
	}
	return typeToolEnd, end
}

// dialectArguments are those of a call; a call without any has none.
func dialectArguments(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

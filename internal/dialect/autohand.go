package dialect

import (
	"encoding/json"
	"strings"

	"webchat/internal/event"
)

// The data of the nine events. Durations are milliseconds.
type (
	// SessionStart says that an agent starts to work on the project.
	SessionStart struct {
		SessionID string `json:"sessionId"`
		Project   string `json:"project"` // absolute path
	}

	// SessionEnd says that the agent's work on the session has ended.
	SessionEnd struct {
		SessionID string `json:"sessionId"`
		Duration  int64  `json:"duration"`
	}

	// TurnStart opens one call of the model. Turn counts the session's turns,
	// Iteration the calls of a turn, both from 1.
	TurnStart struct {
		Turn      int `json:"turn"`
		Iteration int `json:"iteration"`
	}

	// MessageUpdate is a piece of the assistant's text, and all of the text so far.
	MessageUpdate struct {
		Delta     string `json:"delta"`
		Message   string `json:"message"`
		MessageID string `json:"messageId"`
	}

	// ToolStart says that a tool is called.
	ToolStart struct {
		ToolID   string          `json:"toolId"`
		ToolName string          `json:"toolName"`
		Args     json.RawMessage `json:"args"`
	}

	// ToolEnd is what came of the call: the text the model reads, or the error's.
	ToolEnd struct {
		ToolID   string `json:"toolId"`
		ToolName string `json:"toolName"`
		Result   string `json:"result"`
		Success  bool   `json:"success"`
		Duration int64  `json:"duration"`
	}

	// PermissionRequest asks to allow an act.
	PermissionRequest struct {
		RequestID string `json:"requestId"`
		Tool      string `json:"tool"`
		Action    string `json:"action"`
		Resource  string `json:"resource"`
	}

	// HookInvoked says that a hook's command ended.
	HookInvoked struct {
		Event    string `json:"event"`
		Command  string `json:"command"`
		ExitCode int    `json:"exitCode"`
	}

	// Error is a failure a person should read; the session goes on.
	Error struct {
		Message string       `json:"message"`
		Context ErrorContext `json:"context"`
	}

	// ErrorContext says what kind of failure it is and where it happened.
	ErrorContext struct {
		ErrorType  string `json:"errorType"`
		StatusCode int    `json:"statusCode,omitempty"`
		event.ErrorContext
	}
)

// Type is the name of one of the nine events.
type Type string

// The types.
const (
	TypeSessionStart      Type = "session_start"
	TypeSessionEnd        Type = "session_end"
	TypeTurnStart         Type = "turn_start"
	TypeMessageUpdate     Type = "message_update"
	TypeToolStart         Type = "tool_start"
	TypeToolEnd           Type = "tool_end"
	TypePermissionRequest Type = "permission_request"
	TypeHookInvoked       Type = "hook_invoked"
	TypeError             Type = "error"
)

// Known lists the data of each type, for the published schema.
func Known() map[Type]any {
	return map[Type]any{
		TypeSessionStart: SessionStart{}, TypeSessionEnd: SessionEnd{}, TypeTurnStart: TurnStart{}, TypeMessageUpdate: MessageUpdate{},
		TypeToolStart: ToolStart{}, TypeToolEnd: ToolEnd{}, TypePermissionRequest: PermissionRequest{}, TypeHookInvoked: HookInvoked{}, TypeError: Error{},
	}
}

// envelope is an event on the wire.
type envelope struct {
	ID        event.ID   `json:"id"`
	Timestamp event.Time `json:"timestamp"`
	Type      Type       `json:"type"`
	Data      any        `json:"data"`
}

// Autohand is what the events of one session mean so far; see [NewAutohand].
type Autohand struct {
	sessionID string
	turn      int
	iteration int               // of the turn; 0: none runs
	called    bool              // the iteration's model call has begun
	tools     map[string]string // names of the tools that run, by call
	messages  map[string]*message
}

// NewAutohand returns the fold of no events.
func NewAutohand() *Autohand {
	return &Autohand{tools: map[string]string{}, messages: map[string]*message{}}
}

// Project folds e in and returns what it means to a reader: usually nothing or
// one frame.
func (a *Autohand) Project(e event.Entry) []Frame {
	t, data := a.data(e.Event.Data)
	if data == nil {
		return nil
	}
	b, err := json.Marshal(envelope{e.Event.ID, event.Time(e.Event.Timestamp), t, data})
	if err != nil {
		return nil // arguments that are no JSON, which no log of ours holds
	}
	return []Frame{{Seq: e.Seq, JSON: b}}
}

// data is what an event means; nil: nothing in this dialect.
func (a *Autohand) data(d event.Data) (Type, any) {
	switch d := d.(type) {
	case event.SessionStart:
		a.sessionID = d.SessionID
		return TypeSessionStart, SessionStart{d.SessionID, d.Context.Cwd}
	case event.SessionResume:
		a.sessionID = d.SessionID
		return TypeSessionStart, SessionStart{d.SessionID, d.Context.Cwd}
	case event.SessionShutdown:
		return TypeSessionEnd, SessionEnd{a.sessionID, d.DurationMs}
	case event.TurnStart:
		a.turn, a.iteration, a.called = a.turn+1, 1, false
		return TypeTurnStart, TurnStart{a.turn, a.iteration}
	case event.AssistantTurnStart:
		return a.modelCall()
	case event.AssistantMessageDelta, event.AssistantMessage, event.AssistantMessageDiscarded:
		return a.update(d)
	case event.ToolExecutionStart:
		a.tools[d.ToolCallID] = d.ToolName
		return TypeToolStart, ToolStart{d.ToolCallID, d.ToolName, arguments(d.Arguments)}
	case event.ToolExecutionComplete:
		return a.toolEnd(d)
	case event.PermissionRequested:
		return TypePermissionRequest, PermissionRequest{d.RequestID, d.ToolName, d.Action, whole(d)}
	case event.HookEnd:
		return TypeHookInvoked, HookInvoked{d.Event, d.Command, d.ExitCode}
	case event.SessionError:
		where := event.ErrorContext{}
		if d.Context != nil {
			where = *d.Context
		}
		return TypeError, Error{d.Message, ErrorContext{d.ErrorType, d.StatusCode, where}}
	}
	return "", nil
}

// whole is all that a permission is about, a line each.
func whole(d event.PermissionRequested) string {
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
func (a *Autohand) modelCall() (Type, any) {
	if !a.called {
		a.called = true
		return "", nil
	}
	a.iteration++
	return TypeTurnStart, TurnStart{max(a.turn, 1), a.iteration}
}

// update tells the growth of a message. The event that ends it tells the rest.
func (a *Autohand) update(d event.Data) (Type, any) {
	switch d := d.(type) {
	case event.AssistantMessageDiscarded:
		delete(a.messages, d.MessageID)
	case event.AssistantMessageDelta:
		m := a.messages[d.MessageID]
		if m == nil {
			m = &message{}
			a.messages[d.MessageID] = m
		}
		m.delta(d.Offset, d.DeltaContent)
		if m.due() {
			return TypeMessageUpdate, MessageUpdate{m.take(), string(m.text), d.MessageID}
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
		return TypeMessageUpdate, MessageUpdate{rest, d.Content, d.MessageID}
	}
	return "", nil
}

func (a *Autohand) toolEnd(d event.ToolExecutionComplete) (Type, any) {
	end := ToolEnd{ToolID: d.ToolCallID, ToolName: a.tools[d.ToolCallID], Success: d.Success, Duration: d.DurationMs}
	delete(a.tools, d.ToolCallID)
	switch {
	case d.Result != nil:
		end.Result = d.Result.Content
	case d.Error != nil:
		end.Result = d.Error.Message
	}
	return TypeToolEnd, end
}

// arguments are those of a call; a call without any has none.
func arguments(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

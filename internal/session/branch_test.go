package session_test

import (
	"encoding/json"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
)

// TestEvents takes over whole turns only, without what they cost, what was granted in
// them, and what was left behind.
func TestEvents(t *testing.T) {
	grant := &event.Grant{ID: "g"}
	log := []event.Data{
		event.SessionStart{SessionID: "s"},
		event.UserMessage{MessageID: "m1", Content: "left behind"}, event.TurnStart{TurnID: "t1", MessageID: "m1"}, event.TurnEnd{TurnID: "t1", MessageID: "m1"},
		event.SessionRewound{ToMessageID: "m1", After: 1},
		event.UserMessage{MessageID: "m2", Content: "kept"}, event.TurnStart{TurnID: "t2", MessageID: "m2"},
		event.PermissionCompleted{RequestID: "q", Grant: grant},
		event.ToolExecutionStart{ToolCallID: "c1", ToolName: "x"},
		event.ToolExecutionComplete{ToolCallID: "c1", OutputID: "o", ToolTelemetry: json.RawMessage(`{"outputId":"o","outputType":"file","tokensShown":9}`)},
		event.AssistantMessage{MessageID: "a", Content: "answer"},
		event.UserMessage{MessageID: "m3", Content: "waits"},
		event.TurnEnd{TurnID: "t2", MessageID: "m2", Usage: event.Usage{Calls: 1}},
		event.TurnStart{TurnID: "t3", MessageID: "m3"}, event.AssistantMessage{MessageID: "b", Content: "half"},
	}
	var entries []event.Entry
	for i, d := range log {
		entries = append(entries, event.Entry{Seq: int64(i + 1), Event: event.Event{Data: d}})
	}
	var types []string
	for _, d := range session.BranchEvents(entries, []eventlog.Stretch{{After: 1, Before: 5}}) {
		types = append(types, string(event.TypeOf(d)))
		switch d := d.(type) {
		case event.TurnEnd:
			if d.Usage.Calls != 0 {
				t.Errorf("a turn that was taken over counts %+v", d.Usage)
			}
		case event.ToolExecutionComplete:
			if got := string(d.ToolTelemetry); got != `{"outputId":"o","outputType":"file"}` {
				t.Errorf("the telemetry is %s", got)
			}
		}
	}
	want := "user.message turn.start tool.execution_start tool.execution_complete assistant.message turn.end"
	if got := strings.Join(types, " "); got != want {
		t.Errorf("taken over: %s\nwant %s", got, want)
	}
	var text session.BranchText
	if text.String() != "" {
		t.Error("a conversation in which nothing was said has a text")
	}
	for _, e := range entries[5:11] {
		text.Take(e)
	}
	if got := text.String(); !strings.Contains(got, "## User\n\nkept") || !strings.Contains(got, "## Assistant\n\nanswer") {
		t.Errorf("the text is %q", got)
	}
}

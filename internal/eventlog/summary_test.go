package eventlog

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"webchat/internal/event"
)

func TestSummarize(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var s Summary
	seq := int64(0)
	step := func(d event.Data, status event.Status, pending int) {
		t.Helper()
		at = at.Add(time.Second)
		e := event.Entry{Seq: seq, Event: event.New(d, "", at)}
		if event.Logged(d) {
			seq++
			e.Seq = seq
		}
		before := s
		s = Summarize(s, e)
		if !event.Logged(d) {
			equal(t, "after an ephemeral event", reflect.DeepEqual(s, before), true)
			return
		}
		equal(t, string(event.TypeOf(d))+": status", s.Status, status)
		equal(t, string(event.TypeOf(d))+": pending", s.Pending, pending)
		equal(t, "sequence", s.LastSeq, seq)
		equal(t, "last id", s.Open.LastID, e.Event.ID)
	}
	unfinished := func(want bool) {
		t.Helper()
		equal(t, "unfinished", s.Unfinished(), want)
	}
	step(event.SessionStart{SessionID: "s", Backend: "offline", Model: "m", Title: "t"}, event.Idle, 0)
	unfinished(false)
	step(event.UserMessage{MessageID: "1"}, event.Idle, 0)
	unfinished(true)
	step(event.UserMessage{MessageID: "2"}, event.Idle, 0)
	step(event.TurnStart{TurnID: "a", MessageID: "1"}, event.Running, 0)
	equal(t, "since", s.Open.Since, at.UnixMilli())
	step(event.AssistantUsage{InputTokens: 5}, event.Running, 0)
	step(event.ToolExecutionStart{ToolCallID: "c"}, event.Running, 0)
	step(event.PermissionRequested{RequestID: "p"}, event.Waiting, 1)
	step(event.UserInputRequested{RequestID: "q"}, event.Waiting, 2)
	step(event.PermissionCompleted{RequestID: "p"}, event.Waiting, 1)
	step(event.UserInputCompleted{RequestID: "q"}, event.Running, 0)
	step(event.ToolExecutionComplete{
		ToolCallID:    "c",
		ToolTelemetry: json.RawMessage(`{"tokensShown":400,"tokensSent":9}`),
	}, event.Running, 0)
	step(event.TurnEnd{
		TurnID:  "a",
		Steered: []string{"2"},
		Usage:   event.Usage{InputTokens: 7, OutputTokens: 1, Cost: 0.5, Calls: 1},
	}, event.Idle, 0)
	unfinished(false)
	for _, odd := range []string{`[]`, `{"tokensShown":"x"}`, `{"tokensShown":-5,"tokensSent":3}`,
		`{"tokensSent":3}`, ``} {
		step(event.ToolExecutionComplete{ToolTelemetry: json.RawMessage(odd)}, event.Idle, 0)
	}
	step(event.ToolExecutionComplete{ToolTelemetry: json.RawMessage(
		`{"tokensShown":4,"tokensSent":9}`)}, event.Idle, 0)
	step(event.PermissionCompleted{RequestID: "unknown"}, event.Idle, 0)
	step(event.SessionTitleChanged{Title: "new"}, event.Idle, 0)
	step(event.SessionModelChange{NewModel: "n"}, event.Idle, 0)
	updated, active := s.UpdatedAt, s.Open.Active
	equal(t, "the last activity", active, seq)
	step(event.SessionShutdown{}, event.Idle, 0)
	step(event.SessionResume{}, event.Idle, 0)
	equal(t, "a restart is no activity", s.UpdatedAt, updated)
	equal(t, "a restart is no news", s.Open.Active, active)
	equal(t, "title", s.Title, "new")
	equal(t, "model", s.Model, "n")
	equal(t, "usage", s.Usage, event.Usage{InputTokens: 7, OutputTokens: 1, Cost: 0.5, Calls: 1})
	equal(t, "tokens", s.Tokens, Tokens{Shown: 404, Sent: 18, Saved: 391})
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// What displays keep out of calls ends with what takes them out of the context.
func TestHolds(t *testing.T) {
	show := func(n string) event.Data {
		return event.ToolExecutionComplete{
			OutputID:      "o",
			ToolTelemetry: json.RawMessage(`{"tokensShown":` + n + `,"tokensSent":1}`),
		}
	}
	many := make([]event.Data, 0, 100)
	for range 100 {
		many = append(many, show("2"))
	}
	for name, c := range map[string]struct {
		data []event.Data
		want Held
	}{
		"displays": {[]event.Data{show("5"), show("7")}, Held{Shown: 12, Sent: 2}},
		"many":     {many, Held{Shown: 200, Sent: 100}},
		"summed up": {[]event.Data{show("5"), event.SessionCompactionComplete{}, show("7")},
			Held{Shown: 7, Sent: 1}},
		"truncated": {[]event.Data{show("5"), event.SessionTruncation{}}, Held{}},
		"forgotten": {[]event.Data{show("5"),
			event.SessionError{ErrorType: event.ErrorForgotten}}, Held{}},
		"rewound to the second": {[]event.Data{show("5"), show("7"), event.SessionRewound{After: 1}},
			Held{Shown: 5, Sent: 1}},
		"rewound behind the end": {[]event.Data{show("5"), event.SessionRewound{After: 1}, show("7")},
			Held{Shown: 12, Sent: 2}},
		"of many, the newest": {append(many[:99:99], event.SessionRewound{After: 90}),
			Held{Shown: 180, Sent: 90}},
		"in a helper": {[]event.Data{event.ToolExecutionComplete{
			ParentToolCallID: "h",
			ToolTelemetry:    json.RawMessage(`{"tokensShown":5}`),
		}}, Held{}},
		"nothing that counts": {[]event.Data{show("0"), show("-1")}, Held{}},
	} {
		var s Summary
		for i, d := range c.data {
			s = Summarize(s, event.Entry{Seq: int64(i + 1), Event: event.New(d, "", time.Now())})
		}
		equal(t, name, s.Open.Holds(), c.want)
	}
}

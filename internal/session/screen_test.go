package session

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"reflect"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// What an agent says is relayed, left out or refused, by what its session has begun.
func TestReport(t *testing.T) {
	now := time.Now()
	work := &eventlog.Work{}
	for i, d := range []event.Data{event.TurnStart{TurnID: "t"},
		event.ToolExecutionStart{ToolCallID: "own", By: event.ByAgent},
		event.ToolExecutionStart{ToolCallID: "inner", ParentToolCallID: "own", By: event.ByAgent},
		event.ToolExecutionStart{ToolCallID: "ours", By: event.ByAgent}} {
		work.Apply(event.Entry{Seq: int64(i + 1), Event: event.New(d, "", now)})
	}
	s := screening{
		work:    work,
		turn:    "t",
		sum:     eventlog.Summary{Title: "title", Model: "m"},
		named:   true,
		now:     now,
		log:     slog.New(slog.DiscardHandler),
		stopper: event.DecidedByUser,
		runs:    func(id string) bool { return id == "ours" },
	}
	forged := json.RawMessage(`{"outputId":"out_1","tokensShown":5,"exitCode":3}`)
	odd := json.RawMessage(
		`{"text":"secret","all":["secret"],"the secret":1,"none":null,"ok":true,"metrics":{"ms":1.5,"path":"secret","deeper":{"n":1}},"OutputType":{"x":1}}`)
	for name, c := range map[string]struct{ say, want event.Data }{
		"title of the user stays": {event.SessionTitleChanged{Title: "other"}, nil},
		"same model":              {event.SessionModelChange{NewModel: "m"}, nil},
		"other model": {event.SessionModelChange{NewModel: "n"},
			event.SessionModelChange{NewModel: "n"}},
		"start twice": {event.ToolExecutionStart{ToolCallID: "own", ToolName: "x"}, nil},
		"start": {event.ToolExecutionStart{
			ToolCallID: "new",
			ToolName:   "x",
			By:         event.ByUser,
		}, event.ToolExecutionStart{
			ToolCallID: "new",
			ToolName:   "x",
			By:         event.ByAgent,
			Arguments:  json.RawMessage("{}"),
		}},
		"progress of ours": {event.ToolExecutionProgress{ToolCallID: "ours", Lines: 3}, nil},
		"progress names an output": {event.ToolExecutionProgress{
			ToolCallID: "own",
			OutputID:   "out_1",
			Lines:      3,
		}, event.ToolExecutionProgress{ToolCallID: "own", Lines: 3}},
		"end of ours": {event.ToolExecutionComplete{ToolCallID: "ours", Success: true},
			nil},
		"end that names an output": {event.ToolExecutionComplete{
			ToolCallID:    "own",
			Success:       true,
			OutputID:      "out_1",
			ToolTelemetry: forged,
			DurationMs:    1,
		}, event.ToolExecutionComplete{
			ToolCallID:    "own",
			Success:       true,
			Result:        &event.ToolResult{},
			ToolTelemetry: json.RawMessage(`{"exitCode":3}`),
			DurationMs:    1,
		}},
		"end that says who stopped": {event.ToolExecutionComplete{
			ToolCallID: "own",
			Error:      &event.ToolError{Code: "aborted", By: event.DecidedByRule},
			DurationMs: 1,
		}, event.ToolExecutionComplete{
			ToolCallID: "own",
			Error:      &event.ToolError{Code: "aborted", Kind: event.KindAborted, By: event.DecidedByUser},
			DurationMs: 1,
		}},
		"end of a helper's call": {event.ToolExecutionComplete{
			ToolCallID: "inner",
			Success:    true,
			DurationMs: 1,
		}, event.ToolExecutionComplete{
			ToolCallID:       "inner",
			ParentToolCallID: "own",
			Success:          true,
			Result:           &event.ToolResult{},
			DurationMs:       1,
		}},
		"telemetry with contents": {event.ToolExecutionComplete{
			ToolCallID:    "inner",
			Success:       true,
			ToolTelemetry: odd,
			DurationMs:    1,
		}, event.ToolExecutionComplete{
			ToolCallID:       "inner",
			ParentToolCallID: "own",
			Success:          true,
			Result:           &event.ToolResult{},
			ToolTelemetry:    json.RawMessage(`{"metrics":{"ms":1.5},"ok":true}`),
			DurationMs:       1,
		}},
		"requests without a type": {event.AssistantMessage{
			MessageID: "q",
			ToolRequests: []event.ToolRequest{{Name: "x"}, {Name: "y", Type: "custom"},
				{Name: "z", Type: "odd"}},
		}, event.AssistantMessage{MessageID: "q", ToolRequests: []event.ToolRequest{{
			Name: "x",
			Type: "function",
		}, {Name: "y", Type: "custom"}, {Name: "z", Type: "function"}}}},
		"failure in a turn": {event.SessionError{Context: &event.ErrorContext{
			TurnID: "other",
			Code:   7,
		}}, event.SessionError{Kind: event.KindProvider, Context: &event.ErrorContext{
			TurnID: "t",
			Code:   7,
		}}},
		"discarded that never was": {event.AssistantMessageDiscarded{MessageID: "m"}, nil},
		"output of no task":        {event.TaskOutput{TaskID: "t", Text: "x"}, nil},
	} {
		if got, err := s.Report(c.say); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
	for name, d := range map[string]event.Data{
		"the session's own":   event.TurnEnd{TurnID: "t"},
		"a grant":             event.PermissionCompleted{RequestID: "r", Decision: event.Allow},
		"end without start":   event.ToolExecutionComplete{ToolCallID: "none"},
		"message without id":  event.AssistantMessage{Content: "x"},
		"delta with a hole":   event.AssistantMessageDelta{MessageID: "m", Offset: 7, DeltaContent: "x"},
		"task without a kind": event.TaskStarted{TaskID: "t"},
	} {
		if got, err := s.Report(d); err == nil {
			t.Errorf("%s was taken as %+v", name, got)
		}
	}
	s.named, s.prompt = false, "now read three files of it"
	for title, want := range map[string]event.Data{"now read three files…": nil,
		"now read three files of it": nil,
		"Reading files":              event.SessionTitleChanged{Title: "Reading files"}} {
		if got, err := s.Report(event.SessionTitleChanged{Title: title}); err != nil ||
			!reflect.DeepEqual(got, want) {
			t.Errorf("the title %q: %v, %v; want %v", title, got, err, want)
		}
	}
	if got, err := s.Report(event.AssistantMessageDelta{
		MessageID:    "m",
		DeltaContent: "x",
	}); err != nil || got == nil || string(work.Message(eventlog.MessageKey("m")).Text) != "x" {
		t.Errorf("the first delta: %v, %v", got, err)
	}
}

// What no call can take does not make sums that the log cannot hold: the turn ends all the same.
func TestUsageBeyondAllNumbers(t *testing.T) {
	play(t, func(r *rig, _ *Config) {
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			for range 3 {
				if err := errors.Join(
					h.Report(ctx, event.AssistantUsage{
						Model:            "m",
						InputTokens:      math.MaxInt64,
						OutputTokens:     math.MaxInt64,
						CacheReadTokens:  math.MaxInt64,
						Cost:             math.MaxFloat64,
						DefinitionTokens: math.MinInt64,
					}),
					h.Report(ctx, event.SessionUsageInfo{
						TokenLimit:    math.MaxInt64,
						CurrentTokens: math.MaxInt64,
					})); err != nil {
					return err
				}
			}
			return say(ctx, h, "m-"+p.MessageID, "done")
		}
	}, func(r *rig) {
		r.ask("hello")
		r.ask("hello again")
		u := r.s.Summary().Usage
		if equal(t, "calls", u.Calls, 6); u.InputTokens <= 0 || u.OutputTokens <= 0 ||
			u.CacheReadTokens <= 0 || u.Cost <= 0 || u.DefinitionTokens < 0 || u.OwnTokens < 0 ||
			u.KeptTokens < 0 {
			t.Errorf("%+v", u)
		}
	})
}

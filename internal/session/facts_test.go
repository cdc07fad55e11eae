package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/tokens"
)

// What went wrong, and what a result costs the model, is in the log as facts,
// whichever tool was called.
func TestErrorsAreFacts(t *testing.T) {
	long := strings.Repeat("one two three ", 100)
	play(t, func(r *rig, c *Config) {
		r.tools.tools = []agent.Tool{
			acts("look", nil, func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
				return agent.Result{}, &agent.Fault{
					Kind:    event.KindNotFound,
					Text:    "There is no a.",
					Nearest: []string{"b", "c"},
				}
			}),
			acts("run", asked(), func(context.Context, json.RawMessage, agent.Progress) (agent.Result,
				error) {
				return agent.Result{TextForModel: "ran it", Type: agent.Success}, nil
			}),
			acts("slow", nil, func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
				r := agent.Failure(event.KindTimeout, "Too slow.")
				r.Limit = event.LimitCommandTime
				return r, nil
			}),
		}
		r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
			for _, call := range []agent.ToolCall{{ID: "look", Name: "look"}, {ID: "slow", Name: "slow"},
				{ID: "none", Name: "none"},
				{ID: "args", Name: "look", Arguments: []byte(`{"a":1,"a":2}`)}, {ID: "run", Name: "run"}} {
				if _, err := h.CallTool(ctx, call); err != nil {
					return err
				}
			}
			for _, d := range []event.Data{
				event.ToolExecutionStart{ToolCallID: "own", ToolName: "view"},
				event.ToolExecutionComplete{
					ToolCallID:   "own",
					Success:      true,
					Result:       &event.ToolResult{Content: long},
					ResultTokens: 7,
				},
				event.ToolExecutionStart{ToolCallID: "bad", ToolName: "view"},
				event.ToolExecutionComplete{
					ToolCallID: "bad",
					Error: &event.ToolError{
						Message: "no",
						Code:    "denied",
						Kind:    "of its own",
						Nearest: []string{"x"},
						By:      event.DecidedByUser,
					},
				},
				event.SessionError{
					Message:    "slow down",
					ErrorType:  "query",
					Kind:       "of its own",
					StatusCode: 429,
				},
			} {
				if err := h.Report(ctx, d); err != nil {
					return err
				}
			}
			return nil
		}
	}, func(r *rig) {
		done := make(chan eventlog.TurnResult)
		go func() { done <- r.ask("go") }()
		if err := r.s.Decide(r.Context(), r.request(),
			consent.Decision{Decision: event.Deny, Reason: "tests first"}); err != nil {
			t.Fatal(err)
		}
		<-done
		got := map[string]event.ToolExecutionComplete{}
		for _, d := range all[event.ToolExecutionComplete](r) {
			got[d.ToolCallID] = d
		}
		for id, want := range map[string]event.ToolError{
			"look": {
				Message: "There is no a.",
				Code:    "failure",
				Kind:    event.KindNotFound,
				Nearest: []string{"b", "c"},
			},
			"slow": {
				Message: "Too slow.",
				Code:    "timeout",
				Kind:    event.KindTimeout,
				Limit:   event.LimitCommandTime,
			},
			"none": {Message: "Tool 'none' does not exist", Code: "failure", Kind: event.KindUnknownTool},
			"args": {Message: got["args"].Error.Message, Code: "failure", Kind: event.KindBadArguments},
			"run": {
				Message: "The user said no: tests first",
				Code:    "denied",
				Kind:    event.KindDenied,
				By:      event.DecidedByUser,
			},
			"bad": {Message: "no", Code: "denied", Kind: event.KindDenied},
		} {
			e := got[id].Error
			if e == nil || e.Message != want.Message || e.Code != want.Code || e.Kind != want.Kind ||
				e.By != want.By || e.Limit != want.Limit || !slices.Equal(e.Nearest, want.Nearest) {
				t.Errorf("%s: %+v, want %+v", id, e, want)
			}
		}
		for id, text := range map[string]string{"own": long,
			"look": "There is no a. The nearest are: b, c", "bad": "no"} {
			if n, _ := tokens.Count(text); got[id].ResultTokens != int64(n) {
				t.Errorf("%s: %d tokens, want %d", id, got[id].ResultTokens, n)
			}
		}
		equal(t, "what the user wrote", all[event.PermissionCompleted](r)[0].Reason, "tests first")
		equal(t, "the kind of an error of the session", all[event.SessionError](r)[0].Kind,
			event.KindLimit)
	})
}

// A stop says who stopped, the turn and what ran in it.
func TestStopsAreFacts(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		r.tools.tools = []agent.Tool{acts("wait", nil,
			func(ctx context.Context, _ json.RawMessage, _ agent.Progress) (agent.Result, error) {
				<-ctx.Done()
				return agent.Result{}, ctx.Err()
			})}
		r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
			_, err := h.CallTool(ctx, agent.ToolCall{ID: "c1", Name: "wait"})
			return err
		}
	}, func(r *rig) {
		id := r.send("go")
		synctest.Wait()
		if err := r.s.Abort(r.Context(), ""); err != nil {
			t.Fatal(err)
		}
		r.wait(id)
		equal(t, "who stopped the turn", all[event.Abort](r)[0].By, event.DecidedByUser)
		e := all[event.ToolExecutionComplete](r)[0].Error
		if e == nil || e.Kind != event.KindAborted || e.By != event.DecidedByUser {
			t.Errorf("%+v", e)
		}
	})
}

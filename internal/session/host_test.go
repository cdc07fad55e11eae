package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// during runs f as the agent's work on a prompt.
func during(r *rig, f func(ctx context.Context, h agent.Host)) eventlog.TurnResult {
	r.Helper()
	r.backend.mu.Lock()
	r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
		f(ctx, h)
		return ctx.Err()
	}
	r.backend.mu.Unlock()
	return r.ask("go")
}

func TestReportsByAllowList(t *testing.T) {
	play(t, nil, func(r *rig) {
		during(r, func(ctx context.Context, h agent.Host) {
			refused := []event.Data{
				event.SessionStart{}, event.SessionResume{}, event.SessionShutdown{}, event.SessionIdle{},
				event.TurnStart{}, event.TurnEnd{},
				event.UserMessage{}, event.PermissionRequested{}, event.PermissionCompleted{},
				event.UserInputRequested{}, event.UserInputCompleted{},
				event.HookStart{}, event.HookEnd{}, event.Abort{}, event.StreamResync{}, event.StreamClosing{},
				event.SessionChanged{},
				event.Unknown{Name: "x", JSON: []byte(`{}`)}, &event.SessionError{}, nil,
				event.AssistantMessage{Content: "no id"},
				event.AssistantMessageDelta{MessageID: "d", Offset: 5, DeltaContent: "x"},
				event.AssistantMessageDelta{MessageID: "d", DeltaContent: "\xff"},
				event.ToolExecutionStart{ToolCallID: "x"},
				event.ToolExecutionComplete{ToolCallID: "never started"},
			}
			for _, d := range refused {
				is(t, h.Report(ctx, d), eventlog.ErrInvalid)
			}
			allowed := []event.Data{
				event.SessionError{Message: "m"}, event.SessionTitleChanged{Title: "\u202et\u2069\n"},
				event.SessionModelChange{NewModel: "x"},
				event.SessionUsageInfo{}, event.SessionTruncation{}, event.SessionCompactionStart{},
				event.SessionCompactionComplete{},
				event.AssistantTurnStart{}, event.AssistantTurnEnd{},
				event.AssistantMessageDelta{MessageID: "m", DeltaContent: "hé"},
				event.AssistantReasoningDelta{ReasoningID: "r", DeltaContent: "x"},
				event.AssistantMessageDiscarded{MessageID: "m"},
				event.AssistantMessage{MessageID: "m2"}, event.AssistantReasoning{ReasoningID: "r"},
				event.AssistantUsage{},
				event.ToolExecutionStart{ToolCallID: "b", ToolName: "bash"},
				event.ToolExecutionProgress{ToolCallID: "b"},
				event.ToolExecutionPartialResult{ToolCallID: "b"}, event.ToolExecutionComplete{ToolCallID: "b"},
				event.SubagentSelected{}, event.SubagentStarted{}, event.SubagentCompleted{},
				event.SubagentFailed{},
			}
			for _, d := range allowed {
				if err := h.Report(ctx, d); err != nil {
					t.Errorf("%s: %v", event.TypeOf(d), err)
				}
			}
		})
		equal(t, "title", r.s.Summary().Title, "t")
		equal(t, "model", r.s.Summary().Model, "x")
	})
}

func TestReportsBetweenTurns(t *testing.T) {
	play(t, nil, func(r *rig) {
		r.ask("go")
		h := r.backend.host
		is(t, h.Report(r.Context(), event.AssistantMessageDelta{MessageID: "m", DeltaContent: "x"}),
			ErrNoTurn)
		is(t, h.Report(r.Context(), event.ToolExecutionStart{ToolCallID: "b", ToolName: "bash"}),
			ErrNoTurn)
		_, err := h.CallTool(r.Context(), agent.ToolCall{Name: "x"})
		is(t, err, ErrNoTurn)
		_, err = h.AskPermission(r.Context(), agent.Permission{})
		is(t, err, ErrNoTurn)
		_, err = h.AskUser(r.Context(), agent.Question{})
		is(t, err, ErrNoTurn)
		if err := h.Report(r.Context(), event.SessionUsageInfo{}); err != nil {
			t.Error(err)
		}
		v, err := h.RunHook(r.Context(), agent.HookCall{Event: "error"})
		if err != nil || !v.Allow {
			t.Error(v, err)
		}
	})
}

func TestDeltas(t *testing.T) {
	play(t, nil, func(r *rig) {
		during(r, func(ctx context.Context, h agent.Host) {
			ok := func(offset int64, text string) {
				t.Helper()
				if err := h.Report(ctx, event.AssistantMessageDelta{
					MessageID:    "m",
					Offset:       offset,
					DeltaContent: text,
				}); err != nil {
					t.Error(err)
				}
			}
			ok(0, "né")
			ok(3, "tre")
			ok(0, "né") // said again: what followed is void
			ok(3, "ant")
			// inside é
			is(t, h.Report(ctx, event.AssistantMessageDelta{MessageID: "m", Offset: 2, DeltaContent: "x"}),
				eventlog.ErrInvalid)
			// a hole
			is(t, h.Report(ctx, event.AssistantMessageDelta{MessageID: "m", Offset: 7, DeltaContent: "x"}),
				eventlog.ErrInvalid)
			silent := 9 * time.Second
			time.Sleep(silent) // in the bubble's time
			snap, err := r.s.Join(ctx)
			if err != nil {
				t.Error(err)
			}
			equal(t, "silent for", time.Since(snap.InFlight[0].Event.Timestamp), silent)
			d := snap.InFlight[0].Event.Data.(event.AssistantMessageDelta)
			equal(t, "in flight", d.DeltaContent, "néant")
			equal(t, "offset", d.Offset, 0)
			if err := h.Report(ctx, event.AssistantMessage{MessageID: "m", Content: "néant"}); err != nil {
				t.Error(err)
			}
			ok(0, "late")
			if err := h.Report(ctx, event.AssistantMessage{MessageID: "m", Content: "again"}); err != nil {
				t.Error(err)
			}
		})
		equal(t, "messages", len(all[event.AssistantMessage](r)), 1)
	})
}

// THREATS 23 and 35: an output of another call is not relayed, and the log of the
// server says so, without the control characters the agent put into it.
func TestThreat23ForeignOutputsAreNotBelieved(t *testing.T) {
	var log bytes.Buffer
	const odd = "c\x1b]52;c;aGk=\x07\u202e\n2"
	play(t, func(_ *rig, c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	}, func(r *rig) {
		live := r.s.Subscribe()
		during(r, func(ctx context.Context, h agent.Host) {
			h.Report(ctx, event.ToolExecutionStart{ToolCallID: "b", ToolName: "bash", By: event.ByUser})
			h.Report(ctx, event.ToolExecutionProgress{ToolCallID: "b", OutputID: "out_other"})
			h.Report(ctx, event.ToolExecutionComplete{ToolCallID: "b", Success: true, OutputID: "out_other",
				ToolTelemetry: json.RawMessage(
					`{"outputId":"out_other","OutputID":"out_more","tokensShown":1000,"n":3}`)})
			h.Report(ctx, event.ToolExecutionComplete{ToolCallID: "b", Success: true})
			h.Report(ctx, event.ToolExecutionStart{ToolCallID: odd, ToolName: "bash"})
			h.Report(ctx, event.ToolExecutionComplete{ToolCallID: odd, Success: true, OutputID: "out_other"})
			h.Report(ctx, event.ToolExecutionStart{ToolCallID: "honest", ToolName: "bash"})
			h.Report(ctx, event.ToolExecutionComplete{ToolCallID: "honest", Success: true})
		})
		done := all[event.ToolExecutionComplete](r)
		equal(t, "completions", len(done), 3)
		equal(t, "output", done[0].OutputID, "")
		equal(t, "telemetry", string(done[0].ToolTelemetry), `{"n":3}`)
		equal(t, "by", all[event.ToolExecutionStart](r)[0].By, event.ByAgent)
		equal(t, "ledger", r.s.Summary().Tokens, eventlog.Tokens{})
		live.Close()
		for {
			entries, err := live.Next(r.Context())
			if err != nil {
				break
			}
			for _, e := range entries {
				if strings.Contains(string(e.JSON), "out_other") {
					t.Errorf("relayed %s", e.JSON)
				}
			}
		}
	})
	equal(t, "warnings", strings.Count(log.String(), "an agent named an output it did not make"), 2)
	if i := strings.IndexFunc(log.String(), func(r rune) bool {
		return r != '\n' && !unicode.IsPrint(r)
	}); i >= 0 || strings.Contains(log.String(), "honest") {
		t.Errorf("the log of the server has %q", log.String())
	}
}

func TestCallToolRefuses(t *testing.T) {
	ran := 0
	play(t, func(r *rig, c *Config) {
		r.tools.tools = []agent.Tool{
			acts("run", nil, func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
				ran++
				return agent.Result{}, nil
			}),
			tool{"plan-fails", func(context.Context, json.RawMessage) (agent.Action, error) {
				return agent.Action{}, errors.New("path is outside the workspace")
			}},
			tool{"plan-panics", func(context.Context, json.RawMessage) (agent.Action, error) { panic("x") }},
			acts("run-panics", nil, func(context.Context, json.RawMessage, agent.Progress) (agent.Result,
				error) {
				panic("x")
			}),
			acts("run-fails", nil, func(context.Context, json.RawMessage, agent.Progress) (agent.Result,
				error) {
				return agent.Result{}, errors.New("disk on fire")
			}),
		}
	}, func(r *rig) {
		during(r, func(ctx context.Context, h agent.Host) {
			for i, c := range []struct{ name, args, says string }{
				{"view", `{}`, "Tool 'view' does not exist"},
				{"run", `{"command":"ls","Command":"rm -rf ~"}`, "twice"},
				{"run", `{"command":"ls","command":"rm"}`, "twice"},
				{"run", `{"a":[{"x":{"k":1,"K":2}}]}`, "twice"},
				{"run", `{"ſ":1,"s":2}`, "twice"},
				{"run", `{"\u0063ommand":1,"command":2}`, "twice"},
				{"run", `[]`, "must be a JSON object"},
				{"run", `"x"`, "must be a JSON object"},
				{"run", `{} {}`, "something follows the object"},
				{"run", `{"a":`, "are not JSON"},
				{"run", `{"a":"` + strings.Repeat("x", MaxArguments) + `"}`, "limit"},
				{"plan-fails", `{}`, "path is outside the workspace"},
				{"plan-panics", `{}`, "failed"},
				{"run-panics", `{}`, "failed"},
				{"run-fails", `{}`, "disk on fire"},
			} {
				res, err := h.CallTool(ctx, agent.ToolCall{
					ID:        fmt.Sprint("c", i),
					Name:      c.name,
					Arguments: []byte(c.args),
				})
				if err != nil || res.Type != agent.Failed || !strings.Contains(res.TextForModel, c.says) {
					t.Errorf("%s %.40s: %+v, %v", c.name, c.args, res, err)
				}
			}
			equal(t, "ran", ran, 0)
			for i, args := range []string{``, `null`, `{}`, `{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}`} {
				res, err := h.CallTool(ctx, agent.ToolCall{
					ID:        fmt.Sprint("ok", i),
					Name:      "run",
					Arguments: []byte(args),
				})
				if err != nil || res.Type != agent.Success {
					t.Errorf("%s: %+v, %v", args, res, err)
				}
			}
			equal(t, "ran", ran, 4)
			_, err := h.CallTool(ctx, agent.ToolCall{ID: "ok1", Name: "run"})
			is(t, err, eventlog.ErrInvalid)
		})
	})
}

// An agent may report its side of a call that it also makes: the log has one start
// and one end.
func TestCallToolDeduplicates(t *testing.T) {
	play(t, func(r *rig, c *Config) { r.tools.tools = []agent.Tool{shows("show")} }, func(r *rig) {
		during(r, func(ctx context.Context, h agent.Host) {
			start := event.ToolExecutionStart{
				ToolCallID: "c1",
				ToolName:   "show",
				Arguments:  []byte(`{"path":"a"}`),
			}
			for range 2 {
				if err := h.Report(ctx, start); err != nil {
					t.Error(err)
				}
			}
			if _, err := h.CallTool(ctx, agent.ToolCall{
				ID:        "c1",
				Name:      "show",
				Arguments: start.Arguments,
			}); err != nil {
				t.Error(err)
			}
			if err := h.Report(ctx, event.ToolExecutionComplete{
				ToolCallID: "c1",
				Success:    true,
				Result:     &event.ToolResult{Content: "mine"},
			}); err != nil {
				t.Error(err)
			}
			if err := h.Report(ctx, start); err != nil {
				t.Error(err)
			}
		})
		equal(t, "starts", len(all[event.ToolExecutionStart](r)), 1)
		done := all[event.ToolExecutionComplete](r)
		equal(t, "ends", len(done), 1)
		equal(t, "content", done[0].Result.Content, "Displayed go.mod to user (50 lines)")
	})
}

func TestParallelCalls(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		r.tools.tools = []agent.Tool{acts("slow", nil,
			func(ctx context.Context, args json.RawMessage, p agent.Progress) (agent.Result, error) {
				p(event.ToolExecutionProgress{ToolCallID: "forged", OutputID: "out_1", Lines: 3})
				select {
				case <-time.After(time.Second):
					return agent.Result{TextForModel: string(args)}, nil
				case <-ctx.Done():
					return agent.Result{Type: agent.Failed}, nil
				}
			})}
	}, func(r *rig) {
		before := time.Now()
		during(r, func(ctx context.Context, h agent.Host) {
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					args := fmt.Sprintf(`{"n":%d}`, i)
					res, err := h.CallTool(ctx, agent.ToolCall{
						ID:        fmt.Sprint("c", i),
						Name:      "slow",
						Arguments: []byte(args),
					})
					if err != nil || res.TextForModel != args {
						t.Error(res, err)
					}
				})
			}
			synctest.Wait()
			snap, _ := r.s.Join(ctx)
			equal(t, "running tools with progress", len(snap.Progress), 20)
			wg.Wait()
		})
		equal(t, "time", time.Since(before), time.Second)
	})
}

func TestStopOneCall(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		r.tools.tools = []agent.Tool{acts("forever", nil,
			func(ctx context.Context, _ json.RawMessage, p agent.Progress) (agent.Result, error) {
				<-ctx.Done()
				return agent.Result{TextForModel: "Command stopped", Type: agent.Failed}, nil
			}), acts("stubborn", nil, func(context.Context, json.RawMessage, agent.Progress) (agent.Result,
			error) {
			time.Sleep(5 * time.Second)
			return agent.Result{TextForModel: "late"}, nil
		})}
	}, func(r *rig) {
		during(r, func(ctx context.Context, h agent.Host) {
			for _, name := range []string{"forever", "stubborn"} {
				time.AfterFunc(time.Second, func() {
					if err := r.s.AbortTool(ctx, name); err != nil {
						t.Error(err)
					}
				})
				before := time.Now()
				res, err := h.CallTool(ctx, agent.ToolCall{ID: name, Name: name})
				if err != nil || res.Kind != event.KindAborted {
					t.Errorf("%s: %+v, %v", name, res, err)
				}
				if d := time.Since(before); d > 3*time.Second {
					t.Errorf("%s took %v", name, d)
				}
			}
			is(t, r.s.AbortTool(ctx, "forever"), consent.ErrGone)
			is(t, r.s.AbortTool(ctx, "nobody"), eventlog.ErrNotFound)
			h.Report(ctx, event.ToolExecutionStart{ToolCallID: "own", ToolName: "bash"})
			is(t, r.s.AbortTool(ctx, "own"), agent.ErrUnsupported)
		})
		equal(t, "outcome", all[event.TurnEnd](r)[0].Outcome, event.Completed)
	})
}

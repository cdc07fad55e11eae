package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

func TestATurn(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		r.tools.tools = []agent.Tool{shows("show")}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			res, err := h.CallTool(ctx, agent.ToolCall{
				ID:        "c1",
				Name:      "show",
				Arguments: []byte(`{"path":"go.mod"}`),
			})
			if err != nil {
				return err
			}
			if err := h.Report(ctx, event.AssistantUsage{InputTokens: 10, OutputTokens: 2}); err != nil {
				return err
			}
			return say(ctx, h, "m1", "I was told: "+res.TextForModel)
		}
	}, func(r *rig) {
		res := r.ask("show me go.mod")
		equal(t, "content", res.Content, "I was told: Displayed go.mod to user (50 lines)")
		equal(t, "outputs", fmt.Sprint(res.Outputs), "[{out_c1 c1 file}]")
		equal(t, "outcome", res.Outcome, event.Completed)
		equal(t, "log", r.types(),
			"session.start user.message session.title_changed turn.start tool.execution_start "+
				"tool.execution_complete assistant.message turn.end")
		sum := r.s.Summary()
		equal(t, "title", sum.Title, "show me go.mod")
		equal(t, "status", sum.Status, event.Idle)
		equal(t, "tokens", sum.Tokens, eventlog.Tokens{Shown: 400, Sent: 9, Saved: 391})
		equal(t, "usage", sum.Usage, event.Usage{InputTokens: 10, OutputTokens: 2, Calls: 1})
		row, err := r.mem.Summary(r.Context(), r.s.ID())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "the row written with the events", reflect.DeepEqual(row, sum), true)
		done := all[event.ToolExecutionComplete](r)[0]
		equal(t, "output", done.OutputID, "out_c1")
	})
}

func TestPromptsAreRefused(t *testing.T) {
	play(t, nil, func(r *rig) {
		for _, c := range []struct {
			msg  Message
			want error
		}{
			{Message{}, ErrEmpty},
			{Message{Content: " \n\t"}, ErrEmpty},
			{Message{Content: strings.Repeat("x", MaxPrompt+1)}, ErrTooLong},
			{Message{Content: "\xff"}, eventlog.ErrInvalid},
			{Message{Content: "a", Mode: "shout"}, eventlog.ErrInvalid},
			{Message{Content: "a", Attachments: []event.Attachment{{ID: "a", Path: "b"}}},
				eventlog.ErrInvalid},
			{Message{Content: "a", Attachments: []event.Attachment{{ID: "a"}}}, eventlog.ErrNotFound},
			{Message{Content: "a", Attachments: []event.Attachment{{Path: "../x"}}}, eventlog.ErrInvalid},
			{Message{Content: "a", Attachments: []event.Attachment{{Path: "missing"}}},
				eventlog.ErrNotFound},
		} {
			_, err := r.s.Send(r.Context(), c.msg)
			is(t, err, c.want)
		}
		equal(t, "log", r.types(), "session.start")
		_, err := r.s.WaitTurn(r.Context(), "nobody")
		is(t, err, eventlog.ErrNotFound)
	})
}

func TestQueueKeepsOrder(t *testing.T) {
	play(t, nil, func(r *rig) {
		gate := make(chan struct{})
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			<-gate
			return say(ctx, h, "m-"+p.MessageID, p.Content)
		}
		var ids []string
		for i := range 5 {
			ids = append(ids, r.send(fmt.Sprint("prompt ", i)))
		}
		synctest.Wait()
		equal(t, "user messages accepted at once", strings.Count(r.types(), "user.message"), 5)
		equal(t, "turns", strings.Count(r.types(), "turn.start"), 1)
		for range ids {
			gate <- struct{}{}
		}
		for i, id := range ids {
			equal(t, "content", r.wait(id).Content, fmt.Sprint("prompt ", i))
		}
		equal(t, "opened", len(r.backend.opened), 1)
	})
}

func TestQueueIsBounded(t *testing.T) {
	play(t, nil, func(r *rig) {
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			<-ctx.Done()
			return ctx.Err()
		}
		for range MaxQueue + 1 {
			r.send("x")
		}
		_, err := r.s.Send(r.Context(), Message{Content: "x"})
		is(t, err, ErrBusy)
		if err := r.s.Abort(r.Context(), ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		equal(t, "turns", len(all[event.TurnEnd](r)), 1)
		equal(t, "waiting", r.s.Summary().Open.Queued, MaxQueue)
	})
}

func TestSteer(t *testing.T) {
	play(t, nil, func(r *rig) {
		joined := make(chan agent.Prompt)
		r.backend.steer = func(ctx context.Context, p agent.Prompt) error { joined <- p; return nil }
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			more := <-joined
			return say(ctx, h, "m1", p.Content+" and "+more.Content)
		}
		first := r.send("one")
		synctest.Wait()
		second, err := r.s.Send(r.Context(), Message{Content: "two", Mode: SendSteer})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "first", r.wait(first).Content, "one and two")
		equal(t, "second", r.wait(second).Content, "one and two")
		end := all[event.TurnEnd](r)[0]
		equal(t, "steered", fmt.Sprint(end.Steered), fmt.Sprint([]string{second}))
	})
}

func TestSteerFallsBackToTheQueue(t *testing.T) {
	play(t, nil, func(r *rig) {
		gate := make(chan struct{})
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			<-gate
			return say(ctx, h, "m-"+p.MessageID, p.Content)
		}
		first := r.send("one")
		synctest.Wait()
		queued := r.send("three")
		second, err := r.s.Send(r.Context(), Message{Content: "two", Mode: SendSteer})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		close(gate)
		equal(t, "second", r.wait(second).Content, "two")
		r.wait(first)
		r.wait(queued)
		var order []string
		for _, p := range r.backend.prompts {
			order = append(order, p.Content)
		}
		equal(t, "order", strings.Join(order, " "), "one two three")
	})
}

// A turn that is stopped while an agent thinks about a steer loses no message.
func TestStopDuringSteer(t *testing.T) {
	play(t, nil, func(r *rig) {
		r.backend.steer = func(ctx context.Context, p agent.Prompt) error {
			<-ctx.Done()
			return ctx.Err()
		}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			<-ctx.Done()
			return ctx.Err()
		}
		r.send("one")
		synctest.Wait()
		second, err := r.s.Send(r.Context(), Message{Content: "two", Mode: SendSteer})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r.s.Abort(r.Context(), "stop")
		synctest.Wait()
		is(t, r.s.Withdraw(r.Context(), second), nil)
		equal(t, "outcome", r.wait(second).Outcome, event.Aborted)
	})
}

func TestAbortClosesEverything(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		r.tools.tools = []agent.Tool{
			acts("wait", nil, func(ctx context.Context, _ json.RawMessage, _ agent.Progress) (agent.Result,
				error) {
				<-ctx.Done()
				return agent.Result{
					TextForModel: "Command stopped",
					Type:         agent.Failed,
					Kind:         event.KindAborted,
					Telemetry:    &agent.Telemetry{OutputID: "out_1", OutputType: "terminal"},
				}, nil
			}),
		}
	}, func(r *rig) {
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			_ = stream(ctx, h, "m1", "half a sen")
			_ = h.Report(ctx, event.AssistantReasoningDelta{ReasoningID: "r1", DeltaContent: "hm"})
			_ = h.Report(ctx, event.ToolExecutionStart{
				ToolCallID: "own",
				ToolName:   "bash",
				Arguments:  []byte(`{}`),
			})
			go h.CallTool(ctx, agent.ToolCall{ID: "c1", Name: "wait"})
			go h.AskUser(ctx, agent.Question{Question: "Why?"})
			_, err := h.AskPermission(ctx, agent.Permission{
				ToolCallID: "own",
				ToolName:   "bash",
				Kind:       agent.KindShell,
			})
			if err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}
		first := r.send("go")
		synctest.Wait()
		equal(t, "status", r.s.Summary().Status, event.Waiting)
		second := r.send("and then")
		before := time.Now()
		if err := r.s.Abort(r.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		res := r.wait(first)
		if d := time.Since(before); d > stopGrace+100*time.Millisecond {
			t.Errorf("the stop took %v", d)
		}
		equal(t, "outcome", res.Outcome, event.Aborted)
		equal(t, "partial text", res.Content, "half a sen")
		equal(t, "partial", all[event.AssistantMessage](r)[0].Partial, true)
		equal(t, "reasoning", all[event.AssistantReasoning](r)[0].Content, "hm")
		for _, d := range all[event.ToolExecutionComplete](r) {
			equal(t, "code of "+d.ToolCallID, d.Error.Code, "aborted")
		}
		equal(t, "decision", all[event.PermissionCompleted](r)[0].By, event.DecidedByAbort)
		equal(t, "answer", all[event.UserInputCompleted](r)[0].By, event.DecidedByAbort)
		equal(t, "reason", all[event.Abort](r)[0].Reason, "enough")
		equal(t, "status", r.s.Summary().Status, event.Idle)
		// The session is ready for more.
		r.backend.prompt = nil
		equal(t, "next", r.ask("hello").Content, "You said hello")
		equal(t, "what waited", r.wait(second).Content, "You said and then")
		equal(t, "conversations", len(r.backend.opened), 1)
	})
}

func TestAbortLeavesAStubbornAgentBehind(t *testing.T) {
	play(t, nil, func(r *rig) {
		release := make(chan struct{})
		var late error
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			<-release
			late = h.Report(context.Background(), event.AssistantMessage{
				MessageID: "late",
				Content:   "too late",
			})
			return nil
		}
		id := r.send("go")
		synctest.Wait()
		before := time.Now()
		r.s.Abort(r.Context(), "")
		equal(t, "outcome", r.wait(id).Outcome, event.Aborted)
		if d := time.Since(before); d > 2*stopGrace {
			t.Errorf("the stop took %v", d)
		}
		r.backend.mu.Lock()
		r.backend.prompt = nil
		r.backend.mu.Unlock()
		equal(t, "next", r.ask("again").Content, "You said again")
		close(release)
		synctest.Wait()
		is(t, late, eventlog.ErrClosed)
		equal(t, "conversations", len(r.backend.opened), 2)
		equal(t, "closed", r.backend.closed, 1)
	})
}

func TestFaultsStayInTheirTurn(t *testing.T) {
	boom := func(context.Context, agent.Host, agent.Prompt) error { panic("a whole prompt") }
	for name, c := range map[string]struct {
		prompt    func(context.Context, agent.Host, agent.Prompt) error
		open      func(agent.Options) error
		errorType string
		reopened  bool
	}{
		"panic": {prompt: boom, errorType: "panic", reopened: true},
		"died": {prompt: func(context.Context, agent.Host, agent.Prompt) error {
			return fmt.Errorf("exit status 9: %w", agent.ErrDied)
		}, errorType: "died", reopened: true},
		"error": {prompt: func(context.Context, agent.Host, agent.Prompt) error {
			return errors.New("the model is overloaded")
		}, errorType: "backend"},
		"not found": {open: func(agent.Options) error {
			return fmt.Errorf("%w: copilot is not installed", agent.ErrUnavailable)
		}, errorType: "unavailable", reopened: true},
		"panic opens": {open: func(agent.Options) error {
			panic("x")
		}, errorType: "panic", reopened: true},
		"told already": {prompt: func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
			h.Report(ctx, event.SessionError{Message: "quota", ErrorType: "quota"})
			return errors.New("quota")
		}, errorType: "quota"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, nil, func(r *rig) {
				r.backend.prompt, r.backend.open = c.prompt, c.open
				res := r.ask("go")
				equal(t, "outcome", res.Outcome, event.Failed)
				errs := all[event.SessionError](r)
				equal(t, "errors", len(errs), 1)
				equal(t, "type", errs[0].ErrorType, c.errorType)
				equal(t, "result", res.Error, errs[0].Message)
				if strings.Contains(errs[0].Message, "whole prompt") {
					t.Error("the panic's value is shown")
				}
				r.backend.prompt, r.backend.open = nil, nil
				equal(t, "next", r.ask("again").Content, "You said again")
				equal(t, "reopened", len(r.backend.opened) == 2, c.reopened)
			})
		})
	}
}

func TestOpeningHasALimit(t *testing.T) {
	play(t, nil, func(r *rig) {
		release := make(chan struct{})
		r.backend.open = func(agent.Options) error { <-release; return nil }
		res := r.ask("go")
		if !strings.Contains(res.Error, "did not answer") {
			t.Errorf("error %q", res.Error)
		}
		close(release)
		synctest.Wait()
		equal(t, "the late conversation is closed", r.backend.closed, 1)
	})
}

// slowDrafts hold the worker of a turn back after the turn has ended.
type slowDrafts struct {
	*memory
	saving, release chan struct{}
}

func (d slowDrafts) SaveDrafts(ctx context.Context, id eventlog.ID, drafts []eventlog.Draft) error {
	if drafts == nil {
		d.saving <- struct{}{}
		<-d.release
	}
	return d.memory.SaveDrafts(ctx, id, drafts)
}

// A prompt that comes between the end of a turn and the end of its worker has one
// turn, too.
func TestPromptBetweenTurnAndWorker(t *testing.T) {
	d := slowDrafts{}
	play(t, func(r *rig, c *Config) {
		d = slowDrafts{r.mem, make(chan struct{}), make(chan struct{})}
		c.Drafts = d
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			h.Report(ctx, event.AssistantMessageDelta{MessageID: "m" + p.MessageID, DeltaContent: "x"})
			time.Sleep(time.Second)
			return h.Report(ctx, event.AssistantMessage{MessageID: "m" + p.MessageID, Content: "x"})
		}
	}, func(r *rig) {
		first := r.send("one")
		<-d.saving // the first turn is over
		second := r.send("two")
		synctest.Wait()
		close(d.release)
		go func() {
			for range d.saving {
			}
		}()
		r.wait(first)
		equal(t, "content", r.wait(second).Content, "x")
		equal(t, "turns", len(all[event.TurnStart](r)), 2)
		r.stop()
		close(d.saving)
	})
}

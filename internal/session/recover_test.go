package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// busy is a script with something of everything.
func busy(r *rig) {
	r.tools.tools = []agent.Tool{shows("show"), acts("run", asked(),
		func(ctx context.Context, _ json.RawMessage, p agent.Progress) (agent.Result, error) {
			return agent.Result{TextForModel: "ran"}, nil
		})}
	r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
		h.Report(ctx, event.AssistantTurnStart{TurnID: "x"})
		h.Report(ctx, event.ToolExecutionStart{ToolCallID: "own" + p.MessageID, ToolName: "bash"})
		h.CallTool(ctx, agent.ToolCall{Name: "run"})
		h.AskUser(ctx, agent.Question{Question: "Why?"})
		if err := say(ctx, h, "m"+p.MessageID, "some words to say"); err != nil {
			return err
		}
		return h.Report(ctx, event.ToolExecutionComplete{ToolCallID: "own" + p.MessageID, Success: true})
	}
}

// Killed after any event of its log, a session is whole after the next start.
func TestRecoveryFromEveryPrefix(t *testing.T) {
	var mem *memory
	var id eventlog.ID
	play(t, func(r *rig, _ *Config) { busy(r) }, func(r *rig) {
		mem, id = r.mem, r.s.ID()
		r.send("one")
		last := r.send("two")
		go r.s.Display(context.Background(), "show", nil)
		for range 2 {
			if err := r.s.Decide(r.Context(), r.request(),
				consent.Decision{Decision: event.Allow}); err != nil {
				t.Error(err)
			}
			if err := r.s.Answer(r.Context(), r.request(), "because"); err != nil {
				t.Error(err)
			}
		}
		r.wait(last)
	})
	n := len(mem.entries(id))
	for cut := 1; cut <= n; cut++ {
		synctest.Test(t, func(t *testing.T) {
			<-time.After(24 * time.Hour) // of fake time, from the kill to the next start
			r := newRig(t, mem.prefix(id, cut), nil)
			s, err := r.load(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			r.s = s
			checkLog(t, r.mem.entries(id), true)
			equal(t, "status", s.Summary().Status, event.Idle)
			for _, d := range all[event.ToolExecutionComplete](r) {
				if d.Error != nil {
					equal(t, "code", d.Error.Code, "interrupted")
				}
			}
			open := all[event.PermissionRequested](r)
			for i, d := range all[event.PermissionCompleted](r) {
				if d.By == event.DecidedByAbort {
					is(t, s.Decide(t.Context(), open[i].RequestID, consent.Decision{Decision: event.Allow}),
						consent.ErrGone)
				} else {
					is(t, s.Decide(t.Context(), open[i].RequestID, consent.Decision{Decision: event.Allow}),
						consent.ErrAnswered)
				}
			}
			equal(t, "next", r.ask("hello").Content, "You said hello")
			for _, m := range all[event.UserMessage](r) {
				res, err := s.WaitTurn(t.Context(), m.MessageID)
				if err != nil || res.Outcome != event.Completed && res.Outcome != event.Interrupted {
					t.Errorf("cut %d: %+v, %v", cut, res, err)
				}
			}
			if !strings.Contains(r.types(), "session.shutdown session.resume user.message") {
				t.Errorf("cut %d: no session.resume behind the end of what was cut in %s", cut, r.types())
			}
			if ends := all[event.SessionShutdown](r); ends[0].DurationMs > time.Hour.Milliseconds() {
				t.Errorf("cut %d: %+v", cut, ends)
			}
			r.stop()
			checkLog(t, r.mem.entries(id), true)
		})
	}
}

func TestDraftsSurviveAKill(t *testing.T) {
	var mem *memory
	var id eventlog.ID
	play(t, func(r *rig, c *Config) { c.Drafts = r.mem }, func(r *rig) {
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			if err := say(ctx, h, "m1", "a whole message"); err != nil {
				return err
			}
			h.Report(ctx, event.AssistantUsage{InputTokens: 70, OutputTokens: 3})
			h.Report(ctx, event.AssistantReasoningDelta{ReasoningID: "r", DeltaContent: "hm"})
			if err := stream(ctx, h, "m2", "half a "); err != nil {
				return err
			}
			time.Sleep(300 * time.Millisecond) // of fake time
			mem, id = r.mem.prefix(r.s.ID(), len(r.mem.entries(r.s.ID()))), r.s.ID()
			mem.drafts[id], _ = r.mem.LoadDrafts(ctx, id)
			return say(ctx, h, "m2", "half a message")
		}
		r.ask("go")
		synctest.Wait()
		equal(t, "drafts after the turn", len(r.mem.drafts[r.s.ID()]), 0)
	})
	equal(t, "drafts", len(mem.drafts[id]), 3)
	mem.drafts[id] = append(mem.drafts[id], eventlog.Draft{
		MessageID: "m1",
		Content:   "older than the log",
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, mem, func(r *rig, c *Config) { c.Drafts = mem })
		s, err := r.load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		r.s = s
		checkLog(t, mem.entries(id), true)
		got := fmt.Sprint(all[event.AssistantMessage](r))
		equal(t, "messages", got, "[{m1 a whole message [] false  map[]} {m2 half a  [] true  map[]}]")
		equal(t, "reasoning", all[event.AssistantReasoning](r)[0].Content, "hm")
		equal(t, "drafts", len(mem.drafts[id]), 0)
		equal(t, "what the cut turn took", s.Summary().Usage,
			event.Usage{InputTokens: 70, OutputTokens: 3, Calls: 1})
		r.stop()
	})
}

func TestShutdownInterrupts(t *testing.T) {
	play(t, func(r *rig, _ *Config) { busy(r) }, func(r *rig) {
		first := r.send("one")
		r.send("two") // it waits for the next process
		live := r.s.Subscribe()
		synctest.Wait()
		r.stop()
		equal(t, "outcome", r.wait(first).Outcome, event.Interrupted)
		equal(t, "waiting", r.s.Summary().Open.Queued, 1)
		if !strings.HasSuffix(r.types(), "turn.end session.shutdown") {
			t.Errorf("log %s", r.types())
		}
		equal(t, "conversations closed", r.backend.closed, 1)
		equal(t, "tools closed", r.tools.closed, 1)
		_, err := r.s.Send(r.Context(), Message{Content: "x"})
		is(t, err, eventlog.ErrClosed)
		_, err = r.s.Display(r.Context(), "show", nil)
		is(t, err, eventlog.ErrClosed)
		_, err = r.s.Join(r.Context())
		is(t, err, eventlog.ErrClosed)
		for err = nil; err == nil; {
			_, err = live.Next(r.Context())
		}
		is(t, err, eventlog.ErrClosed)
		_, err = r.s.Subscribe().Next(r.Context())
		is(t, err, eventlog.ErrClosed)
	})
}

// A log that never comes back does not keep the program from ending, and the next
// start closes what it could not.
func TestShutdownWithoutALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newMemory(), nil)
		r.s, _ = r.create(t.Context())
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			<-ctx.Done()
			return ctx.Err()
		}
		r.send("one")
		r.send("two")
		synctest.Wait()
		r.mem.broken(errDisk)
		r.stop()
		checkLog(t, r.mem.entries(r.s.ID()), false)
		r.mem.broken(nil)
		next := newRig(t, r.mem, nil)
		if _, err := next.load(t.Context(), r.s.ID()); err != nil {
			t.Fatal(err)
		}
		next.stop()
		checkLog(t, r.mem.entries(r.s.ID()), true)
	})
}

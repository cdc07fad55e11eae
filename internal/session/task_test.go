package session

import (
	"context"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// A task is beside the turns: what is done for it runs and is asked about while no
// turn does, a stop leaves it alone, and its end closes what it left open.
func TestTaskBesideTurns(t *testing.T) {
	play(t, nil, func(r *rig) {
		left := event.TaskStarted{TaskID: "t1", Kind: event.AgentTask, Title: "look", ToolCallID: "c1"}
		during(r, func(ctx context.Context, h agent.Host) {
			for _, d := range []event.Data{
				event.ToolExecutionStart{ToolCallID: "c1", ToolName: "task"},
				event.ToolExecutionComplete{ToolCallID: "c1", Success: true}, left, left,
				event.ToolExecutionStart{ToolCallID: "c2", ToolName: "grep", ParentToolCallID: "c1"},
			} {
				if err := h.Report(ctx, d); err != nil {
					t.Errorf("%s: %v", event.TypeOf(d), err)
				}
			}
		})
		h := r.backend.host
		equal(t, "status", r.s.Summary().Status, event.Idle)
		equal(t, "calls that are open behind the turn", len(r.s.events.Open().Tools), 1)
		for _, d := range []event.Data{
			event.TaskOutput{TaskID: "t1", Text: "so far "}, event.TaskOutput{TaskID: "none", Text: "x"},
			event.TaskOutput{TaskID: "t1", Text: "so good"},
			event.AssistantMessageDelta{MessageID: "m9", DeltaContent: "inner", ParentToolCallID: "c1"},
			event.AssistantUsage{InputTokens: 7}, event.ToolExecutionStart{
				ToolCallID:       "c3",
				ToolName:         "bash",
				ParentToolCallID: "c1",
			},
		} {
			if err := h.Report(r.Context(), d); err != nil {
				t.Errorf("between turns, %s: %v", event.TypeOf(d), err)
			}
		}
		equal(t, "printed", r.s.Tasks()[0].Output, "so far so good")
		if err := r.s.Abort(r.Context(), ""); err != nil {
			t.Error(err)
		}
		r.backend.mu.Lock()
		r.backend.prompt = nil
		r.backend.mu.Unlock()
		r.ask("another turn")
		equal(t, "calls that are open behind another turn", len(r.s.events.Open().Tools), 2)
		go func() {
			_, err := h.AskPermission(r.Context(), agent.Permission{
				ToolCallID: "c3",
				ToolName:   "bash",
				Kind:       agent.KindShell,
				Action:     "run",
				Resource:   "ls",
			})
			if err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		equal(t, "open questions", r.s.Summary().Pending, 1)
		is(t, r.s.AbortTask(r.Context(), "none"), eventlog.ErrNotFound)
		if err := h.Report(r.Context(), event.TaskCompleted{TaskID: "t1"}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		is(t, r.s.AbortTask(r.Context(), "t1"), consent.ErrGone)
		is(t, h.Report(r.Context(), event.ToolExecutionStart{
			ToolCallID:       "c4",
			ToolName:         "bash",
			ParentToolCallID: "c1",
		}), ErrNoTurn)
		equal(t, "open questions", r.s.Summary().Pending, 0)
		equal(t, "open calls", len(r.s.events.Open().Tools)+len(r.s.events.Open().Messages)+
			len(r.s.events.Open().Requests), 0)
		equal(t, "tokens between turns", r.s.Summary().Usage.InputTokens, 7)
		equal(t, "unfinished", r.s.Summary().Unfinished(), false)
	})
}

// The agent may begin a turn by itself: after the one that runs, before prompts that
// wait, with tools; and a prompt waits for it.
func TestOwnTurn(t *testing.T) {
	play(t, nil, func(r *rig) {
		r.ask("go")
		h := r.backend.host
		begun, end := make(chan bool), make(chan bool)
		ended := make(chan error, 1)
		go func() {
			ended <- h.RunTurn(r.Context(), "A task ended.", func(ctx context.Context) error {
				close(begun)
				<-end
				return h.Report(ctx, event.AssistantMessage{MessageID: "own", Content: "By myself."})
			})
		}()
		<-begun
		equal(t, "status", r.s.Summary().Status, event.Running)
		id, err := r.s.Send(r.Context(), Message{Content: "next"})
		if err != nil {
			t.Fatal(err)
		}
		gone, stop := context.WithCancel(r.Context())
		stop()
		is(t, h.RunTurn(gone, "too late", func(context.Context) error {
			t.Error("it ran")
			return nil
		}), context.Canceled)
		close(end)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if _, err := r.s.WaitTurn(r.Context(), id); err != nil {
			t.Error(err)
		}
		var turns []string
		for _, e := range r.mem.entries(r.s.ID()) {
			if d, ok := e.Event.Data.(event.TurnStart); ok {
				turns = append(turns, string(d.By)+" "+d.Cause)
			}
		}
		equal(t, "turns", len(turns), 3)
		equal(t, "the second", turns[1], "agent A task ended.")
		equal(t, "queued", r.s.Summary().Open.Queued, 0)
	})
}

// A stop ends a turn of the agent's own like any other.
func TestOwnTurnIsStopped(t *testing.T) {
	play(t, nil, func(r *rig) {
		r.ask("go")
		begun := make(chan bool)
		ended := make(chan error, 1)
		go func() {
			ended <- r.backend.host.RunTurn(r.Context(), "A task ended.", func(ctx context.Context) error {
				close(begun)
				<-ctx.Done()
				return ctx.Err()
			})
		}()
		<-begun
		if err := r.s.Abort(r.Context(), ""); err != nil {
			t.Fatal(err)
		}
		is(t, <-ended, context.Canceled)
		synctest.Wait()
		events := r.mem.entries(r.s.ID())
		last, ok := events[len(events)-1].Event.Data.(event.TurnEnd)
		if !ok || last.Outcome != event.Aborted || last.MessageID != "" {
			t.Errorf("the log ends with %+v", events[len(events)-1].Event.Data)
		}
	})
}

// What models take behind the last turn is counted when the session ends.
func TestUsageBehindTheLastTurn(t *testing.T) {
	play(t, nil, func(r *rig) {
		r.ask("go")
		if err := r.backend.host.Report(r.Context(), event.AssistantUsage{InputTokens: 9}); err != nil {
			t.Error(err)
		}
		r.s.Close()
		equal(t, "usage", r.s.Summary().Usage.InputTokens, 9)
	})
}

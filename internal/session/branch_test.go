package session

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// TestBranchEvents takes over whole turns only, without what they cost, what was granted in
// them, and what was left behind.
func TestBranchEvents(t *testing.T) {
	grant := &event.Grant{ID: "g"}
	log := []event.Data{
		event.SessionStart{SessionID: "s"},
		event.UserMessage{MessageID: "m1", Content: "left behind"},
		event.TurnStart{TurnID: "t1", MessageID: "m1"}, event.TurnEnd{TurnID: "t1", MessageID: "m1"},
		event.SessionRewound{ToMessageID: "m1", After: 1},
		event.UserMessage{MessageID: "m2", Content: "kept"},
		event.TurnStart{TurnID: "t2", MessageID: "m2"},
		event.PermissionCompleted{RequestID: "q", Grant: grant},
		event.ToolExecutionStart{ToolCallID: "c1", ToolName: "x"},
		event.ToolExecutionComplete{
			ToolCallID:    "c1",
			OutputID:      "o",
			ToolTelemetry: json.RawMessage(`{"outputId":"o","outputType":"file","tokensShown":9}`),
		},
		event.AssistantMessage{MessageID: "a", Content: "answer"},
		event.UserMessage{MessageID: "m3", Content: "waits"},
		event.UserMessage{MessageID: "m4", Content: "waits longer"},
		event.UserMessage{MessageID: "m5", Content: "joins"},
		event.TurnEnd{
			TurnID:    "t2",
			MessageID: "m2",
			Usage:     event.Usage{Calls: 1},
			Steered:   []string{"m5"},
		},
		event.TurnStart{TurnID: "t3", MessageID: "m3"}, event.TurnEnd{TurnID: "t3", MessageID: "m3"},
		event.TurnStart{TurnID: "t4", MessageID: "m4"},
		event.AssistantMessage{MessageID: "b", Content: "half"},
	}
	var entries []event.Entry
	for i, d := range log {
		entries = append(entries, event.Entry{Seq: int64(i + 1), Event: event.Event{Data: d}})
	}
	var types []string
	data := BranchEvents(entries, []eventlog.Stretch{{After: 1, Before: 5}})
	for _, d := range data {
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
	want := "user.message turn.start tool.execution_start tool.execution_complete assistant.message " +
		"user.message turn.end user.message turn.start turn.end"
	if got := strings.Join(types, " "); got != want {
		t.Errorf("taken over: %s\nwant %s", got, want)
	}
	if got := branchText("head\n\n", nil); got != "" {
		t.Errorf("a conversation in which nothing was said has the text %q", got)
	}
	_, text, _ := strings.Cut(branchText("head\n\n", data), "\n\n")
	equal(t, "text", text,
		"## User\n\nkept\n\n## Tool call\n\nx \n\n## Assistant\n\nanswer\n\n## User\n\njoins\n\n## "+
			"User\n\nwaits\n\n")
}

// TestBranchIsGivenOnce gives the agent of a branch what was said before, and not the prompt it
// comes with or those that wait.
func TestBranchIsGivenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		r := newRig(t, newMemory(), func(r *rig, _ *Config) {
			r.backend.prompt = func(_ context.Context, h agent.Host, p agent.Prompt) error {
				<-hold
				return nil
			}
			r.backend.open = func(agent.Options) error { <-hold; return nil }
		})
		start := event.SessionStart{SessionID: string(event.NewID()), Backend: r.cfg.Backend.Name()}
		s, err := r.keep(Create(t.Context(), r.cfg, start, "",
			event.UserMessage{MessageID: "m1", Content: "before"},
			event.TurnStart{TurnID: "t1", MessageID: "m1"}, event.TurnEnd{TurnID: "t1", MessageID: "m1"},
			event.SessionBranched{From: "s0"}))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"now", "later"} {
			if _, err := s.Send(t.Context(), Message{Content: text}); err != nil {
				t.Fatal(err)
			}
		}
		close(hold)
		synctest.Wait()
		r.stop()
		for i, want := range []int{1, 0} {
			equal(t, "attachments", len(r.backend.prompts[i].Attachments), want)
		}
		given := string(r.backend.prompts[0].Attachments[0].Data)
		if !strings.HasSuffix(given, "\n\n## User\n\nbefore\n\n") {
			t.Errorf("the agent is given %q", given)
		}
	})
}

package session

import (
	"context"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// What came of a call is to be had whole, from its turn on: ids may return in a later one.
func TestResultOfACall(t *testing.T) {
	long := strings.Repeat("a line of many\n", 50_000)
	const cut = "a line of many\n… cut for the user"
	ends := map[string]event.ToolExecutionComplete{
		"long": {Success: true, Result: &event.ToolResult{Content: long, DetailedContent: cut}},
		"detail": {Success: true, Result: &event.ToolResult{
			Content:         "3 lines",
			DetailedContent: "one\ntwo\nthree",
		}},
		"failed": {Error: &event.ToolError{Message: "exit status 2", Code: "failure"}},
		"silent": {Success: true},
	}
	play(t, func(r *rig, _ *Config) {
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			if err := h.Report(ctx, event.ToolExecutionStart{
				ToolCallID: p.Content,
				ToolName:   "bash",
				Arguments:  []byte(`{"command":"make"}`),
			}); err != nil {
				return err
			}
			if err := h.Report(ctx, event.ToolExecutionPartialResult{
				ToolCallID:    p.Content,
				PartialOutput: "a part",
			}); err != nil {
				return err
			}
			end := ends[p.Content]
			end.ToolCallID = p.Content
			return h.Report(ctx, end)
		}
	}, func(r *rig) {
		for prompt, want := range map[string]string{"long": long, "detail": "one\ntwo\nthree",
			"failed": "exit status 2", "silent": ""} {
			from := r.s.Summary().LastSeq + 1
			r.ask(prompt)
			got, err := r.s.Result(r.Context(), prompt, from)
			if got.Text != want || string(got.Arguments) != `{"command":"make"}` || got.Secret != "" {
				t.Errorf("%s: %.80q of %s", prompt, got.Text, got.Arguments)
			}
			if want == "" {
				is(t, err, eventlog.ErrNotFound)
			} else if err != nil {
				t.Errorf("%s: %v", prompt, err)
			}
		}
		_, err := r.s.Result(r.Context(), "another", 1)
		is(t, err, eventlog.ErrNotFound)
		_, err = r.s.Result(r.Context(), "long", r.s.Summary().LastSeq+1)
		is(t, err, eventlog.ErrNotFound)
	})
}

// That the user was asked about a file of keys is known of what came of it.
func TestResultOfASecret(t *testing.T) {
	play(t, func(r *rig, _ *Config) {
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			if err := h.Report(ctx, event.ToolExecutionStart{
				ToolCallID: "b",
				ToolName:   "bash",
				Arguments:  []byte(`{"command":"cat keys"}`),
			}); err != nil {
				return err
			}
			_, err := h.AskPermission(ctx, agent.Permission{
				ToolCallID: "b",
				ToolName:   "bash",
				Kind:       agent.KindShell,
				Action:     "run",
				Resource:   "cat keys",
				Sensitive:  true,
			})
			if err != nil {
				return err
			}
			return h.Report(ctx, event.ToolExecutionComplete{
				ToolCallID: "b",
				Success:    true,
				Result:     &event.ToolResult{Content: "k"},
			})
		}
	}, func(r *rig) {
		id := r.send("look")
		r.decide(consent.Decision{Decision: event.Allow})
		r.wait(id)
		got, err := r.s.Result(r.Context(), "b", 1)
		if err != nil || got.Text != "k" || got.Secret != "cat keys" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

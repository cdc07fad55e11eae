package session

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

func TestDisplayByTheUser(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		secret := asked()
		secret.Sensitive = true
		exit := 1
		r.tools.tools = []agent.Tool{shows("show"),
			acts("run", asked(), func(context.Context, json.RawMessage, agent.Progress) (agent.Result,
				error) {
				return agent.Result{
					TextForModel: "Command completed",
					Telemetry:    &agent.Telemetry{ExitCode: &exit, Lines: 1},
				}, nil
			}),
			acts("fails", nil, func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
				return agent.Failure(event.KindNotFound, "no such file"), nil
			}),
			acts("secret", secret, func(context.Context, json.RawMessage, agent.Progress) (agent.Result,
				error) {
				return agent.Result{}, nil
			}),
		}
	}, func(r *rig) {
		res, err := r.s.Display(r.Context(), "show", []byte(`{"path":"go.mod"}`))
		if err != nil || res.Output == nil || res.Output.ID != "out_"+res.ToolCallID ||
			res.Output.Type != "file" {
			t.Fatal(res, err)
		}
		equal(t, "by", all[event.ToolExecutionStart](r)[0].By, event.ByUser)
		equal(t, "title", r.s.Summary().Title, "go.mod")
		equal(t, "tokens of the line", all[event.ToolExecutionComplete](r)[0].ResultTokens, 0)
		equal(t, "tokens", r.s.Summary().Tokens, eventlog.Tokens{Shown: 400, Saved: 400})
		if res, err = r.s.Display(r.Context(), "fails", nil); err != nil ||
			res.Error.Message != "no such file" || res.Output != nil {
			t.Error(res, err)
		}
		for name, args := range map[string]string{"view": `{}`, "show": `{"path":"a","Path":"b"}`} {
			_, err = r.s.Display(r.Context(), name, []byte(args))
			is(t, err, eventlog.ErrInvalid)
		}
		if _, err = r.s.Display(r.Context(), "run",
			[]byte(`{"command":"go test ./... -run a/very/long/name"}`)); err != nil {
			t.Error(err)
		}
		equal(t, "asked", len(all[event.PermissionRequested](r)), 0)
		r.ask("what now?") // of all that the agent is told nothing
		equal(t, "prompt", r.backend.prompts[0].Content, "what now?")
		equal(t, "title, after the first prompt", r.s.Summary().Title, "what now?")
		equal(t, "attachments", len(r.backend.prompts[0].Attachments), 0)

		// What is sensitive asks the user, too, and outlives turns.
		done := make(chan DisplayResult)
		go func() { res, _ := r.s.Display(context.Background(), "secret", nil); done <- res }()
		req := r.request()
		equal(t, "status", r.s.Summary().Status, event.Waiting)
		r.ask("a turn")
		if err := r.s.Decide(r.Context(), req, consent.Decision{
			Decision: event.Allow,
			Scope:    event.ForSession,
		}); err != nil {
			t.Fatal(err)
		}
		if res := <-done; res.Error != nil {
			t.Error(res.Error)
		}
		go func() { res, _ := r.s.Display(context.Background(), "secret", nil); done <- res }()
		if err := r.s.Decide(r.Context(), r.request(),
			consent.Decision{Decision: event.Deny}); err != nil {
			t.Fatal(err)
		}
		equal(t, "denied", (<-done).Error.Code, "denied")
	})
}

// A display goes on without its request and beside turns, until it is stopped.
func TestDisplayOutlivesItsRequest(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		r.tools.tools = []agent.Tool{acts("run", asked(),
			func(ctx context.Context, _ json.RawMessage, p agent.Progress) (agent.Result, error) {
				p(event.ToolExecutionProgress{OutputID: "out_1"})
				<-ctx.Done()
				return agent.Result{
					TextForModel: "Command stopped",
					Type:         agent.Failed,
					Telemetry:    &agent.Telemetry{OutputID: "out_1"},
				}, nil
			})}
	}, func(r *rig) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
		defer cancel()
		res, err := r.s.Display(ctx, "run", []byte(`{"command":"sleep inf"}`))
		is(t, err, context.DeadlineExceeded)
		equal(t, "turn beside it", r.ask("hi").Outcome, event.Completed)
		if err := r.s.AbortTool(r.Context(), res.ToolCallID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		d := all[event.ToolExecutionComplete](r)[0]
		equal(t, "code", d.Error.Code, "aborted")
		equal(t, "output", d.OutputID, "out_1")

		// Without a turn, stop means the displays.
		go r.s.Display(context.Background(), "run", nil)
		synctest.Wait()
		if err := r.s.Abort(r.Context(), "stop"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		equal(t, "stopped", len(all[event.ToolExecutionComplete](r)), 2)
		// Nothing to stop is nothing to log.
		if err := r.s.Abort(r.Context(), "stop"); err != nil {
			t.Fatal(err)
		}
		equal(t, "aborts", len(all[event.Abort](r)), 1)
	})
}

// What an agent asked for is not what the user typed, no matter who runs it and after a
// restart, too.
func TestThreat84RepeatingIsNotTyping(t *testing.T) {
	var typed []string
	tools := func(r *rig) {
		r.tools.tools = []agent.Tool{acts("run", asked(),
			func(ctx context.Context, args json.RawMessage, _ agent.Progress) (agent.Result, error) {
				if agent.CallFrom(ctx).Typed {
					typed = append(typed, subject(args))
				}
				return agent.Result{TextForModel: "ran"}, nil
			})}
		r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
			if err := h.Report(ctx, event.ToolExecutionStart{
				ToolCallID: "own",
				ToolName:   "bash",
				Arguments:  []byte(`{"command":"make own"}`),
			}); err != nil {
				return err
			}
			_, err := h.CallTool(ctx, agent.ToolCall{
				Name:      "run",
				Arguments: []byte(`{"command":"make agents"}`),
			})
			return err
		}
	}
	display := func(r *rig, commands ...string) {
		r.Helper()
		for _, command := range commands {
			args, _ := json.Marshal(map[string]string{"command": command})
			if _, err := r.s.Display(r.Context(), "run", args); err != nil {
				r.Error(err)
			}
		}
	}
	var mem *memory
	var id eventlog.ID
	play(t, func(r *rig, c *Config) { c.Permissions = consent.ModeAllow; tools(r) }, func(r *rig) {
		display(r, "make agents")
		r.ask("go")
		display(r, "make agents", " make agents\n", "make own", "make mine", "make mine")
		mem, id = r.mem, r.s.ID()
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, mem, nil)
		tools(r)
		var err error
		if r.s, err = r.load(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		display(r, "make own", "make again")
	})
	equal(t, "typed", fmt.Sprintf("%q", typed), `["make agents" "make mine" "make mine" "make again"]`)
}

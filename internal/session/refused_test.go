package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// What the sandbox refused a call is logged behind its end, each thing once a turn: of our own
// command as the tool says, of the agent's own by its text and exit code.
func TestRefusedIsLoggedOnceATurn(t *testing.T) {
	var asked []string
	play(t, func(r *rig, c *Config) {
		one := func(what string) event.SandboxRefused {
			return event.SandboxRefused{
				What:   what,
				Kind:   event.RefusedPath,
				Offers: []event.Offer{event.OfferOutside},
			}
		}
		c.Refused = func(command string, exit int, text string) []event.SandboxRefused {
			asked = append(asked, fmt.Sprintln(command == "cat x", exit, strings.TrimSpace(text)))
			return []event.SandboxRefused{one("/h/.bashrc"), one("/h/x")}
		}
		r.tools.tools = []agent.Tool{acts("run", nil,
			func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
				return agent.Result{
					TextForModel: "Command completed (exit 1, 1 line)",
					Refused:      []event.SandboxRefused{one("/h/.bashrc"), one("/h/.bashrc")},
				}, nil
			})}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			if _, err := h.CallTool(ctx, agent.ToolCall{
				ID:   string(event.NewID()),
				Name: "run",
			}); err != nil {
				return err
			}
			for i, end := range []event.ToolExecutionComplete{
				{
					Success:       true,
					Result:        &event.ToolResult{Content: "cat: no"},
					ToolTelemetry: []byte(`{"exitCode":2}`),
				},
				{Success: true, Result: &event.ToolResult{Content: "cat: no\n(exit 3)"}},
				{Error: &event.ToolError{Message: "failed"}},
			} {
				end.ToolCallID = fmt.Sprint("c", i, p.MessageID)
				if err := h.Report(ctx, event.ToolExecutionStart{
					ToolCallID: end.ToolCallID,
					ToolName:   "bash",
					Arguments:  []byte(`{"command":"cat x"}`),
				}); err != nil {
					return err
				}
				if err := h.Report(ctx, end); err != nil {
					return err
				}
			}
			if err := h.Report(ctx, event.ToolExecutionStart{
				ToolCallID: "v" + p.MessageID,
				ToolName:   "view",
				Arguments:  []byte(`{"path":"x"}`),
			}); err != nil {
				return err
			}
			return h.Report(ctx, event.ToolExecutionComplete{
				ToolCallID: "v" + p.MessageID,
				Error:      &event.ToolError{Message: "no"},
			})
		}
	}, func(r *rig) {
		for range 2 { // a turn does not know what another was refused
			from := len(all[event.SandboxRefused](r))
			r.ask("go")
			var got []string
			for _, d := range all[event.SandboxRefused](r)[from:] {
				got = append(got, d.What)
			}
			equal(t, "refused", strings.Join(got, ", "), "/h/.bashrc, /h/x")
		}
		if wanted := []string{"true 2 cat: no\n", "true 3 cat: no\n(exit 3)\n",
			"true 1 failed\n"}; !slices.Equal(asked[:3], wanted) || len(asked) != 6 {
			t.Errorf("looked at %q, not %q", asked, wanted)
		}
		types := r.types()
		if !strings.Contains(types, "tool.execution_complete sandbox.refused") {
			t.Errorf("not behind the end of the call: %s", types)
		}
	})
}

// A host that the user denied is not offered again behind the end of the call; one without an
// answer is.
func TestDeniedHostIsNotOfferedAgain(t *testing.T) {
	play(t, func(r *rig, _ *Config) {
		r.tools.tools = []agent.Tool{acts("run", nil,
			func(ctx context.Context, _ json.RawMessage, _ agent.Progress) (agent.Result, error) {
				go func() {
					synctest.Wait()
					asked := all[event.PermissionRequested](r)
					if err := r.s.Decide(ctx, asked[len(asked)-1].RequestID,
						consent.Decision{Decision: event.Deny}); err != nil {
						t.Error(err)
					}
				}()
				res := agent.Result{TextForModel: "Command completed (exit 1, 1 line)"}
				for _, host := range []string{"denied.example", "unanswered.example"} {
					if r.s.AskHost(ctx, host, "").Allowed {
						t.Errorf("%s is open", host)
					}
					res.Refused = append(res.Refused, event.SandboxRefused{
						Kind:   event.RefusedHost,
						What:   host,
						Offers: []event.Offer{event.OfferHost},
					})
				}
				return res, nil
			})}
		r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
			_, err := h.CallTool(ctx, agent.ToolCall{ID: "c1", Name: "run"})
			return err
		}
	}, func(r *rig) {
		r.ask("go")
		var got []string
		for _, d := range all[event.SandboxRefused](r) {
			got = append(got, d.What)
		}
		equal(t, "offered", strings.Join(got, ", "), "unanswered.example")
	})
}

// What a call was refused runs once outside for the user, after a question about the whole command,
// which no rule and no mode answers.
func TestRunOutside(t *testing.T) {
	var ran []string
	play(t, func(r *rig, c *Config) {
		c.Permissions = consent.ModeAllow
		c.Refused = func(string, int, string) []event.SandboxRefused {
			return []event.SandboxRefused{{
				What:   "/h/.netrc",
				Kind:   event.RefusedPath,
				Offers: []event.Offer{event.OfferOutside},
			}}
		}
		r.tools.tools = []agent.Tool{acts("run_and_display", asked(),
			func(ctx context.Context, args json.RawMessage, _ agent.Progress) (agent.Result, error) {
				call := agent.CallFrom(ctx)
				ran = append(ran, fmt.Sprint(string(args), call.By, call.Outside, call.Typed))
				return agent.Result{
					TextForModel: "Command completed (exit 0, 1 line)",
					Telemetry:    &agent.Telemetry{OutputID: "out_A", OutputType: "terminal"},
				}, nil
			})}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			for id, args := range map[string]string{"c1": `{"command":"git push","workdir":"sub"}`,
				"c2": `{"command":["bash","-lc","git push"]}`, "c3": `{"command":["git","push"]}`} {
				if id != p.Content {
					continue
				}
				if err := h.Report(ctx, event.ToolExecutionStart{
					ToolCallID: id,
					ToolName:   "bash",
					Arguments:  []byte(args),
				}); err != nil {
					return err
				}
				if err := h.Report(ctx, event.ToolExecutionComplete{
					ToolCallID: id,
					Error:      &event.ToolError{Message: "no"},
				}); err != nil {
					return err
				}
			}
			return nil
		}
	}, func(r *rig) {
		for _, id := range []string{"c1", "c2", "c3"} {
			r.ask(id)
		}
		_, err := r.s.RunOutside(r.Context(), "unknown")
		is(t, err, eventlog.ErrNotFound)
		_, err = r.s.RunOutside(r.Context(), "c3")
		is(t, err, eventlog.ErrInvalid)
		for first, d := range map[string]event.Decision{"c1": event.Deny, "c2": event.Allow} {
			done := make(chan DisplayResult, 1)
			go func() {
				out, err := r.s.RunOutside(r.Context(), first)
				if err != nil {
					t.Error(err)
				}
				done <- out
			}()
			ask := r.requests(1)[0]
			if !ask.Sensitive || ask.Why != outsideWhy || len(ask.Grants) > 0 ||
				ask.Action != "run a command outside the sandbox" {
				t.Errorf("asked %+v", ask)
			}
			if err := r.s.Decide(r.Context(), ask.RequestID, consent.Decision{Decision: d}); err != nil {
				t.Fatal(err)
			}
			if out := <-done; (out.Output != nil) != (d == event.Allow) ||
				(out.Error == nil) != (d == event.Allow) {
				t.Errorf("%s: %+v", d, out)
			}
		}
		if len(ran) != 1 || !strings.Contains(ran[0], `"command":"git push"`) ||
			!strings.HasSuffix(ran[0], "usertrue false") {
			t.Errorf("ran %q", ran)
		}
	})
}

// ruledOutside is a policy by which one command runs outside.
type ruledOutside struct{ Policy }

func (ruledOutside) Rule(_ context.Context, p agent.Permission) agent.Ruling {
	return agent.Ruling{Decision: event.Allow, Outside: p.Resource == "make test"}
}
func (ruledOutside) Target(agent.Permission) string        { return "" }
func (ruledOutside) Grants(agent.Permission) []event.Grant { return nil }

// What a rule has run outside runs there by our tool, and an agent's own shell is refused it.
func TestRuleHasItRunOutside(t *testing.T) {
	var ran []bool
	var own, other agent.Verdict
	play(t, func(r *rig, c *Config) {
		c.Policy = ruledOutside{}
		c.Refused = func(string, int, string) []event.SandboxRefused { return nil }
		run := func(ctx context.Context, _ json.RawMessage, _ agent.Progress) (agent.Result, error) {
			ran = append(ran, agent.CallFrom(ctx).Outside)
			return agent.Result{TextForModel: "Command completed (exit 0, 1 line)"}, nil
		}
		inside := asked()
		inside.Resource = "make"
		r.tools.tools = []agent.Tool{acts("run_and_display", asked(), run),
			acts("run_inside", inside, run)}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) (err error) {
			for _, name := range []string{"run_and_display", "run_inside"} {
				if _, err := h.CallTool(ctx, agent.ToolCall{ID: name, Name: name}); err != nil {
					return err
				}
			}
			if err := h.Report(ctx, event.ToolExecutionStart{
				ToolCallID: "c1",
				ToolName:   "bash",
				Arguments:  []byte(`{"command":"make test"}`),
			}); err != nil {
				return err
			}
			shell, inside := *asked(), *inside
			shell.ToolCallID, inside.ToolCallID = "c1", "c1"
			if own, err = h.AskPermission(ctx, shell); err != nil {
				return err
			}
			if other, err = h.AskPermission(ctx, inside); err != nil {
				return err
			}
			return h.Report(ctx, event.ToolExecutionComplete{
				ToolCallID: "c1",
				Error:      &event.ToolError{Message: own.Reason},
			})
		}
	}, func(r *rig) {
		r.ask("go")
		if !slices.Equal(ran, []bool{true, false}) {
			t.Errorf("ran outside: %v", ran)
		}
		if own.Decision != event.Deny || !strings.Contains(own.Reason, "run_and_display") ||
			other.Decision != event.Allow {
			t.Errorf("the agent's own shell: %+v, %+v", own, other)
		}
		if got := all[event.SandboxRefused](r); len(got) != 1 || got[0].Kind != event.RefusedCommand ||
			got[0].What != "make test" || got[0].ToolCallID != "c1" {
			t.Errorf("refused %+v", got)
		}
	})
}

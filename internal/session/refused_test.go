package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// What the sandbox refused a call is logged behind its end, each thing once a turn: of our own command
// as the tool says, of the agent's own by its text and exit code.
func TestRefusedIsLoggedOnceATurn(t *testing.T) {
	var asked []string
	play(t, func(r *rig, c *Config) {
		one := func(what string) event.SandboxRefused {
			return event.SandboxRefused{What: what, Kind: event.RefusedPath, Offers: []event.Offer{event.OfferOutside}}
		}
		c.Refused = func(dir string, exit int, text string) []event.SandboxRefused {
			asked = append(asked, fmt.Sprintln(dir == c.Workspace, exit, strings.TrimSpace(text)))
			return []event.SandboxRefused{one("/h/.bashrc"), one("/h/x")}
		}
		r.tools.tools = []agent.Tool{acts("run", nil, func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
			return agent.Result{TextForModel: "Command completed (exit 1, 1 line)", Refused: []event.SandboxRefused{one("/h/.bashrc"), one("/h/.bashrc")}}, nil
		})}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			if _, err := h.CallTool(ctx, agent.ToolCall{ID: string(event.NewID()), Name: "run"}); err != nil {
				return err
			}
			for i, end := range []event.ToolExecutionComplete{
				{Success: true, Result: &event.ToolResult{Content: "cat: no"}, ToolTelemetry: []byte(`{"exitCode":2}`)},
				{Success: true, Result: &event.ToolResult{Content: "cat: no\n(exit 3)"}},
				{Error: &event.ToolError{Message: "failed"}},
			} {
				end.ToolCallID = fmt.Sprint("c", i, p.MessageID)
				if err := h.Report(ctx, event.ToolExecutionStart{ToolCallID: end.ToolCallID, ToolName: "bash", Arguments: []byte(`{"command":"cat x"}`)}); err != nil {
					return err
				}
				if err := h.Report(ctx, end); err != nil {
					return err
				}
			}
			if err := h.Report(ctx, event.ToolExecutionStart{ToolCallID: "v" + p.MessageID, ToolName: "view", Arguments: []byte(`{"path":"x"}`)}); err != nil {
				return err
			}
			return h.Report(ctx, event.ToolExecutionComplete{ToolCallID: "v" + p.MessageID, Error: &event.ToolError{Message: "no"}})
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
		if wanted := []string{"true 2 cat: no\n", "true 3 cat: no\n(exit 3)\n", "true 1 failed\n"}; !slices.Equal(asked[:3], wanted) || len(asked) != 6 {
			t.Errorf("looked at %q, not %q", asked, wanted)
		}
		types := r.types()
		if !strings.Contains(types, "tool.execution_complete sandbox.refused") {
			t.Errorf("not behind the end of the call: %s", types)
		}
	})
}

package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// shelf is Outputs that keep what agents' tools returned.
type shelf struct {
	shown
	kept []string
}

func (s *shelf) Keep(_ eventlog.ID, w agent.Whole) (agent.Telemetry, string, error) {
	if len(w.Data) == 0 {
		return agent.Telemetry{}, "", nil
	}
	s.kept = append(s.kept, w.ToolCallID)
	return agent.Telemetry{
		OutputID:    "out_" + w.ToolCallID,
		Bytes:       3,
		Lines:       1,
		TokensShown: 9,
		TokensSent:  2,
		LeftOut:     "1-1",
	}, "a tool", nil
}

// What an agent's own call returned becomes its output, also when the call is never
// ended; of a call that does not run, has ended, or is the session's, nothing is kept.
func TestWholeResultsAreKept(t *testing.T) {
	s := &shelf{}
	play(t, func(_ *rig, c *Config) { c.Outputs = s }, func(r *rig) {
		res := during(r, func(ctx context.Context, h agent.Host) {
			k := h.(agent.Keeper)
			for _, id := range []string{"b", "open"} {
				is(t, h.Report(ctx, event.ToolExecutionStart{ToolCallID: id, ToolName: "bash"}), nil)
				short, err := k.Keep(ctx, agent.Whole{ToolCallID: id, Data: []byte("all")})
				is(t, err, nil)
				equal(t, "short", short, "a tool")
			}
			is(t, h.Report(ctx, event.ToolExecutionComplete{
				ToolCallID:    "b",
				Success:       true,
				ToolTelemetry: []byte(`{"exitCode":3,"outputId":"out_forged"}`),
			}), nil)
			for _, id := range []string{"b", "none", ""} {
				_, err := k.Keep(ctx, agent.Whole{ToolCallID: id})
				is(t, err, eventlog.ErrInvalid)
			}
		})
		equal(t, "outputs", fmt.Sprint(res.Outputs), "[{out_b b terminal} {out_open open }]")
		equal(t, "kept", strings.Join(s.kept, " "), "b open")
		equal(t, "telemetry", string(all[event.ToolExecutionComplete](r)[0].ToolTelemetry),
			`{"bytes":3,"exitCode":3,"leftOut":"1-1","lines":1,"outputId":"out_b","outputType":"terminal","tokensSent":2,"tokensShown":9}`)
	})
	play(t, nil, func(r *rig) {
		during(r, func(ctx context.Context, h agent.Host) {
			_, err := h.(agent.Keeper).Keep(ctx, agent.Whole{ToolCallID: "b"})
			is(t, err, agent.ErrUnsupported)
		})
	})
}

package agenttest

import (
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// checkRewind goes back to before the second of three prompts, and to before the first.
func checkRewind(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	c, ok := r.conn.(agent.Rewinder)
	if !ok {
		return
	}
	for range 3 {
		r.mustAnswer(o, "before it is to go back")
	}
	names := r.host.prompts()
	if len(names) != 3 || names[0] == "" || names[0] == names[1] || names[1] == names[2] {
		tb.Fatalf("three prompts that the agent can go back to have the names %q", names)
	}
	for _, name := range []string{names[1], names[0]} {
		if err := r.inTime("Rewind", func() error { return c.Rewind(tb.Context(), name) }); err != nil {
			tb.Errorf("Rewind: %v", err)
		}
		r.mustAnswer(o, "after it went back")
	}
}

// prompts returns the agent's names of the prompts so far.
func (h *Host) prompts() (names []string) {
	for _, d := range h.Events() {
		if s, ok := d.(event.AssistantTurnStart); ok && s.PromptID != "" {
			names = append(names, s.PromptID)
		}
	}
	return names
}

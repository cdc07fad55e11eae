package copilot_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/e2e/standin"
	"webchat/internal/event"
	"webchat/internal/mcp"
	"webchat/internal/policy"
	"webchat/internal/session"
)

// THREATS 113: a tool of an MCP server that says of itself that it only reads is judged all the
// same, as is each tool of the CLI's own that a rule names.
func TestRealThreat113ToolsThatSayTheyOnlyRead(t *testing.T) {
	struck := filepath.Join(t.TempDir(), "struck")
	h := newHouseIn(t, t.TempDir(), consent.ModeAsk, nil)
	h.stop()
	h.servers = map[string]agent.MCPServer{"pad": {
		Type:    "stdio",
		Command: standin.Program(t),
		Env:     map[string]string{"COPILOT_TEST_ROLE": "mcp", "ECHO_FILE": struck},
	}}
	h.rules = []policy.Rule{{Tool: "pad-peek", Decision: event.Deny},
		{Tool: "pad-echo", Decision: event.Allow}, {Tool: "list_agents", Decision: event.Deny}}
	h.start()
	s := h.session()
	for _, c := range []struct {
		tool string
		ran  bool
		by   []event.Decider
	}{
		{"pad-peek", false, []event.Decider{event.DecidedByRule}},
		{"pad-echo", true, []event.Decider{event.DecidedByRule}},
		{"list_agents", false, []event.Decider{event.DecidedByRule}},
		{"list_bash", false, nil},
	} {
		_ = os.Remove(struck)
		before := len(deciders(t, s))
		h.ask(s, "call "+c.tool+" {}")
		if _, err := os.Stat(struck); (err == nil) != c.ran {
			t.Errorf("%s ran: %v", c.tool, err == nil)
		}
		if by := deciders(t, s)[before:]; !slices.Equal(by, c.by) {
			t.Errorf("%s is decided by %q, want %q", c.tool, by, c.by)
		}
	}
	for _, off := range []bool{true, false} { // the user switches it
		if err := h.user.Switch(mcp.Switch{
			In:     mcp.In{Session: s.ID()},
			Server: "pad",
			Tool:   "echo",
			Off:    off,
		}); err != nil {
			t.Fatal(err)
		}
		h.ask(s, "hello")
		if all := h.model.Requests(); slices.Contains(all[len(all)-1].Offered(), "pad-echo") == off ||
			!slices.Contains(all[len(all)-1].Offered(), "pad-peek") {
			t.Errorf("off is %v, and a model is offered %q", off, all[len(all)-1].Offered())
		}
	}
}

// deciders returns what decided about each act of a session.
func deciders(t *testing.T, s *session.Session) (by []event.Decider) {
	t.Helper()
	entries, err := s.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if d, ok := e.Event.Data.(event.PermissionCompleted); ok {
			by = append(by, d.By)
		}
	}
	return by
}

package copilot_test

import (
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot"
)

// THREATS 75: a CLI that offers one tool too many is asked to leave it out, and is
// not used if it does not.
func TestThreat75OneToolTooMany(t *testing.T) {
	c, dir := scripted(t, []byte("-- offer --\nlsp time_travel\n"))
	k := open(t, backend(t, c), "s", false)
	if got := copilot.Offered(k.conn); slices.Contains(got, "time_travel") ||
		slices.Contains(got, "lsp") || !slices.Contains(got, "bash") {
		t.Errorf("offered %q", got)
	}
	if told := received(t, dir, "session.options.update"); len(told) != 1 ||
		!strings.Contains(told[0], `"excludedTools":["lsp","time_travel"]`) {
		t.Errorf("told %q", told)
	}
	for _, resume := range []bool{false, true} {
		c, _ := scripted(t, []byte("-- offer --\ntime_travel\n-- stubborn --\n"))
		conn, err := backend(t, c).Open(t.Context(), options(t, "s", resume),
			agenttest.NewHost(agenttest.DisplayTools()))
		if err == nil {
			conn.Close()
		}
		contains(t, err, agent.ErrUnavailable, "was not started", `"time_travel"`)
	}
}

// A tool that comes later is left out, too, and stays so; else the turn ends.
func TestThreat75LaterTool(t *testing.T) {
	c, dir := scripted(t, []byte("-- > go --\noffer time_travel\nawait session.options.update\n"))
	k := open(t, backend(t, c), "s", false)
	if err := k.say("go"); err != nil {
		t.Error(err)
	}
	if told := received(t, dir, "session.options.update"); len(told) != 1 ||
		!strings.Contains(told[0], `"time_travel"`) {
		t.Errorf("told %q", told)
	}
	c, _ = scripted(t, []byte("-- stubborn --\n-- > go --\noffer time_travel\nhang\n"))
	k = open(t, backend(t, c), "s", false)
	contains(t, k.say("go"), nil, `"time_travel"`)
}

// What is sent at each start and each resumption, since the CLI remembers none of it.
func TestSessionsAreClosed(t *testing.T) {
	c, dir := scripted(t, nil)
	for _, resume := range []bool{false, true} {
		open(t, backend(t, c), "s", resume).close()
	}
	for _, method := range []string{"session.create", "session.resume"} {
		sent := received(t, dir, method)
		if len(sent) != 1 {
			t.Fatalf("%s: %q", method, sent)
		}
		for _, words := range []string{`"enableFileHooks":false`, `"enableSessionStore":false`,
			`"enableSkills":false`, `"enableConfigDiscovery":false`,
			`"enableOnDemandInstructionDiscovery":false`, `"excludedTools":["view"]`, `"builtin:bash"`,
			`"custom:display_image"`} {
			if !strings.Contains(sent[0], words) {
				t.Errorf("%s does not say %s", method, words)
			}
		}
		for _, words := range []string{"builtin:view", "builtin:lsp", "builtin:skill", "session_store",
			"mcp"} {
			if strings.Contains(sent[0], words) {
				t.Errorf("%s says %s", method, words)
			}
		}
	}
}

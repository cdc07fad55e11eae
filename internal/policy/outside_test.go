package policy

import (
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// A rule has a command run outside only where it covers the whole of it.
func TestOutside(t *testing.T) {
	p := New(Config{Rules: []Rule{
		{Kind: agent.KindShell, Prefix: "git push", Decision: Ask, Outside: true},
		{
			Kind:     agent.KindShell,
			Command:  "make ship",
			Cwd:      "tools/**",
			Decision: event.Allow,
			Outside:  true,
		},
	}, Workspace: "/ws", Home: "/home/me"})
	for command, want := range map[string]bool{"git push": true, "git push origin main": true,
		"git push; rm -rf ~": false, "git push $(x)": false, "x | git push": false, "git push @f": false,
		"git status": false, "make ship": false} {
		if got := p.Rule(t.Context(), act(agent.KindShell, "run_and_display",
			command)).Outside; got != want {
			t.Errorf("%s runs outside: %v", command, got)
		}
	}
	there := act(agent.KindShell, "run_and_display", "make ship")
	there.Cwd = "/ws/tools/x"
	if r := p.Rule(t.Context(), there); !r.Outside || r.Decision != event.Allow {
		t.Errorf("in its folder: %+v", r)
	}
	there.CwdUnknown = true
	if p.Rule(t.Context(), there).Outside {
		t.Error("in a folder that is not known it runs outside")
	}
	for _, r := range []Rule{{Kind: agent.KindShell, Decision: event.Allow, Outside: true},
		{Kind: agent.KindRead, Path: "x", Decision: event.Allow, Outside: true},
		{Kind: agent.KindShell, Command: "x", Decision: event.Deny, Outside: true}} {
		if r.Check() == nil {
			t.Errorf("%+v is allowed", r)
		}
	}
}

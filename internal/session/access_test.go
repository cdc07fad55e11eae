package session

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
)

// An agent asks for a path or a host of its own accord: no mode answers, the card has its reason,
// and a yes opens exactly that for the session.
func TestAgentAsksForAccess(t *testing.T) {
	c := &cell{}
	var said []string
	play(t, func(r *rig, cfg *Config) {
		cfg.Cage, cfg.Permissions = c, consent.ModeAllow
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			res, err := h.CallTool(ctx, agent.ToolCall{
				ID:        p.MessageID,
				Name:      "ask_for_access",
				Arguments: json.RawMessage(p.Content),
			})
			said = append(said, res.TextForModel)
			return err
		}
	}, func(r *rig) {
		for _, one := range []struct {
			args string
			d    event.Decision
			kind string
		}{
			{`{"path":"/srv/data","why":"The tests\nread it."}`, event.Allow, "read"},
			{`{"path":"/srv/out","write":true,"why":"x"}`, event.Deny, "write"},
			{`{"host":"registry.example","why":"npm wants it"}`, event.Allow, "url"},
		} {
			id := r.send(one.args)
			ask := r.requests(1)[0]
			if ask.Kind != one.kind || !ask.Sensitive || !strings.Contains(ask.Why, "It says: ") ||
				strings.Contains(ask.Why, "\n") {
				t.Errorf("%s asks %+v", one.args, ask)
			}
			if err := r.s.Decide(r.Context(), ask.RequestID, consent.Decision{Decision: one.d}); err != nil {
				t.Fatal(err)
			}
			r.wait(id)
		}
		c.is(t, "/srv/data", "registry.example")
		for _, bad := range []string{`{"why":"x"}`, `{"path":"/a","host":"b","why":"x"}`, `{"path":"/a"}`,
			`{"path":"/a","why":"x","scope":"workspace"}`} {
			r.ask(bad)
			r.requests(0)
		}
		for i, s := range said {
			if opened := strings.HasPrefix(s, "Opened"); opened != (i == 0 || i == 2) {
				t.Errorf("call %d: %s", i, s)
			}
		}
		if o := r.backend.opened[0]; len(o.Tools) != 1 || o.Tools[0].Name != "ask_for_access" {
			t.Errorf("offered %+v", o.Tools)
		}
	})
	play(t, nil, func(r *rig) {
		r.ask("hello")
		if o := r.backend.opened[0]; len(o.Tools) != 0 {
			t.Errorf("where nothing is confined, offered %+v", o.Tools)
		}
	})
}

package session

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// paged is a toolset with a tool that a page calls.
type paged struct{ agent.Toolset }

func (p paged) PageTool(_ context.Context, server, name string,
	got func(json.RawMessage)) (agent.Tool, error) {
	if server != "docs" || name != "close" {
		return nil, errors.New("there is no such tool")
	}
	ask := &agent.Permission{
		Kind:     agent.KindMCP,
		Server:   "docs",
		ToolName: "docs-close",
		Page:     true,
		Action:   "use a tool of its server",
		Resource: "close",
	}
	return acts("docs-close", ask, func(context.Context, json.RawMessage,
		agent.Progress) (agent.Result, error) {
		got(json.RawMessage(`{"never":1}`))
		return agent.Result{TextForModel: "Returned to the page of docs."}, nil
	}), nil
}

// denies is a policy that denies what a server's page calls.
type denies struct{ ruledOutside }

func (denies) Rule(context.Context, agent.Permission) agent.Ruling {
	return agent.Ruling{Decision: event.Deny, Reason: "no"}
}

// The call of a page is asked about as its server's: rules and the mode decide about it, and the
// user is asked in its name. Only the page gets what came of it.
func TestPageCall(t *testing.T) {
	for name, c := range map[string]struct {
		mode   consent.Mode
		policy Policy
		answer event.Decision // empty: nobody is asked
		fails  bool
	}{
		"asked, allowed": {answer: event.Allow},
		"asked, denied":  {answer: event.Deny, fails: true},
		"by the mode":    {mode: consent.ModeAllow},
		"denied by mode": {mode: consent.ModeDeny, fails: true},
		"denied by rule": {mode: consent.ModeAllow, policy: denies{}, fails: true},
	} {
		play(t, func(r *rig, cfg *Config) {
			cfg.Permissions, cfg.Policy = c.mode, c.policy
			cfg.Tools = func(eventlog.ID) (agent.Toolset, error) { return paged{r.tools}, nil }
		}, func(r *rig) {
			done := make(chan error, 1)
			var got json.RawMessage
			go func() {
				var err error
				got, err = r.s.PageCall(r.Context(), "docs", "close", json.RawMessage(`{}`))
				done <- err
			}()
			if c.answer != "" {
				ask := r.requests(1)[0]
				if ask.Page != "docs" || ask.Kind != event.KindMCP || ask.Sensitive {
					t.Errorf("%s: asked %+v", name, ask)
				}
				if err := r.s.Decide(r.Context(), ask.RequestID,
					consent.Decision{Decision: c.answer}); err != nil {
					t.Fatal(err)
				}
			}
			err := <-done
			if errors.Is(err, ErrPageCall) != c.fails || errors.Is(err, ErrPageDenied) != c.fails || (err == nil) == c.fails ||
				(string(got) == `{"never":1}`) == c.fails {
				t.Errorf("%s: %s, %v", name, got, err)
			}
			log, err := json.Marshal(r.mem.entries(r.s.ID()))
			if err != nil || strings.Contains(string(log), "never") ||
				!strings.Contains(string(log), `"by":"user"`) {
				t.Errorf("%s: the log has %s, %v", name, log, err)
			}
			_, err = r.s.PageCall(r.Context(), "docs", "other", json.RawMessage(`{}`))
			is(t, err, ErrPageCall)
			_, err = r.s.PageCall(r.Context(), "docs", "close", json.RawMessage(`7`))
			is(t, err, eventlog.ErrInvalid)
		})
	}
}

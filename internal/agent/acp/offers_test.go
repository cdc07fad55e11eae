package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/event"
)

const ask, plans = "https://modes.example#ask", "https://modes.example#plan"

// What an agent offers is the same, however it says it; and it is remembered for users
// that have not begun a conversation yet.
func TestOffers(t *testing.T) {
	for _, manner := range []string{"polite", "options"} {
		var b *acp.Backend
		home := t.TempDir()
		h := sit(t, manner, func(c *acp.Config) { c.Home = home }, nil)
		if err := h.prompt(t.Context(), "hello"); err != nil { // the commands come after the start
			t.Fatal(err)
		}
		b = newBackend(t, manner, func(c *acp.Config) { c.Home = home })
		for when, c := range map[string]agent.Choices{"open": h.conn.(agent.Chooser).Choices(),
			"remembered": b.Offers(t.Context())} {
			if len(c.Modes) != 3 || c.Mode != ask || !c.Modes[0].Unasked || c.Modes[1].Unasked ||
				c.Modes[1].Name == "" {
				t.Errorf("%s, %s: the modes are %+v, now %s", manner, when, c.Modes, c.Mode)
			}
			if len(c.Models) != 2 || c.Model != "small" || c.Models[1].ID != "large" {
				t.Errorf("%s, %s: the models are %+v, now %s", manner, when, c.Models, c.Model)
			}
			if len(c.Commands) != 1 || c.Commands[0] != (agent.Command{
				Name:  "compact",
				About: "Sum it up.",
				Hint:  "what to keep",
			}) {
				t.Errorf("%s, %s: the commands are %+v", manner, when, c.Commands)
			}
			if want := map[string]int{"options": 2}[manner]; len(c.Efforts) != want {
				t.Errorf("%s, %s: the efforts are %+v", manner, when, c.Efforts)
			}
		}
		if v := b.Info(t.Context()).Version; v != "1.2.3" {
			t.Errorf("%s: the version is %q", manner, v)
		}
	}
}

// What the user chose holds for the agent that is started after one that died.
func TestChoicesOutliveTheAgent(t *testing.T) {
	h := sit(t, "options", nil, nil)
	c := h.conn.(agent.Chooser)
	for _, choose := range []func() error{func() error {
		return c.SetMode(t.Context(), plans)
	}, func() error { return c.SetEffort(t.Context(), "high") },
		func() error { return h.conn.SetModel(t.Context(), "large") }} {
		if err := choose(); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.prompt(t.Context(), "die"); err == nil {
		t.Fatal("it lives")
	}
	if err := h.prompt(t.Context(), "hello"); err != nil {
		t.Fatal(err)
	}
	if now := c.Choices(); now.Mode != plans || now.Model != "large" || now.Effort != "high" {
		t.Errorf("it works in %s with %s, effort %s", now.Mode, now.Model, now.Effort)
	}
	if err := c.SetEffort(t.Context(), ""); err != nil || c.Choices().Effort != "default" {
		t.Errorf("%v, effort %s", err, c.Choices().Effort)
	}
}

func TestWhatAnAgentTellsBesideItsAnswer(t *testing.T) {
	h := sit(t, "options", nil, nil)
	for _, p := range []string{"plan", "lax", "other"} {
		if err := h.prompt(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if todos := all[event.SessionTodosChanged](h); len(todos) != 1 || len(todos[0].Todos) != 2 ||
		todos[0].Todos[1].Status != event.TodoDoing {
		t.Errorf("the plan is %+v", todos)
	}
	if u := all[event.SessionUsageInfo](h); len(u) != 1 || u[0].TokenLimit != 1000 ||
		u[0].CurrentTokens != 10 {
		t.Errorf("the context is %+v", u)
	}
	if titles := all[event.SessionTitleChanged](h); len(titles) != 1 || titles[0].Title != "A title" {
		t.Errorf("the titles are %+v", titles)
	}
	if modes := all[event.SessionModeChanged](h); len(modes) != 1 || !modes[0].Unasked {
		t.Errorf("an agent that allows itself everything is told of as %+v", modes)
	}
	if said := h.Said(); !slices.Equal(said, []string{"Aloud."}) {
		t.Errorf("it said %q", said)
	}
}

func TestNoticesAreNoAnswer(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	for range 2 {
		if err := h.prompt(t.Context(), "notices"); err != nil {
			t.Fatal(err)
		}
	}
	const want = "Error: is how errors begin. Info: not this."
	if said := h.Said(); !slices.Equal(said, []string{want, want}) {
		t.Errorf("it said %q", said)
	}
	var told []string
	for _, d := range all[event.SessionError](h) {
		told = append(told, string(d.Kind)+" "+d.Message)
	}
	retry := "retrying Stand-in: Request failed. Retrying..."
	if !slices.Equal(told, []string{"provider Stand-in: Model metadata not found.", retry, retry}) {
		t.Errorf("the user is told %q", told)
	}
	if err := h.prompt(t.Context(), "error"); err == nil ||
		err.Error() != "Stand-in failed: 400 too long" {
		t.Errorf("an error after some words: %v", err)
	}
}

// An agent that tries a call of its model again says so while it waits.
func TestRetriesAreReported(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	if err := h.prompt(t.Context(), "retries"); err != nil {
		t.Fatal(err)
	}
	want := []event.SessionError{
		{
			Message:      "The provider answered 429. Trying again in 1 second, 1 of 10.",
			StatusCode:   429,
			RetryAfterMs: 600,
		},
		{Message: "The provider's answer failed. Trying again in 1 second, 2 of 10.", RetryAfterMs: 1200},
	}
	for i := range want {
		want[i].ErrorType, want[i].Kind, want[i].Waits = event.ErrorWarning, event.KindRetrying, true
	}
	if told := all[event.SessionError](h); !reflect.DeepEqual(told, want) {
		t.Errorf("the user is told %+v", told)
	}
}

// A plan is approved by the user alone.
func TestAPlanIsApproved(t *testing.T) {
	for answer, want := range map[string]string{"Carry it out": "yes", "Keep planning": "cancel",
		"": "cancel"} {
		h := sit(t, "polite", nil, func(h *agenttest.Host) {
			h.Reply = func(q agent.Question) agent.Answer {
				return agent.Answer{Text: answer, Answered: answer != ""}
			}
		})
		if err := h.prompt(t.Context(), "carry"); err != nil {
			t.Fatal(err)
		}
		if q := h.Questions(); len(q) != 1 || !strings.HasSuffix(q[0].Question, "1. Mend it") ||
			len(h.Asked()) > 0 {
			t.Errorf("the user is asked %+v and %+v", q, h.Asked())
		}
		var got struct{ Outcome struct{ OptionID string } }
		if err := json.Unmarshal([]byte(strings.Join(h.Said(), "")), &got); err != nil ||
			got.Outcome.OptionID != want {
			t.Errorf("%q is answered with %q, %v", answer, h.Said(), err)
		}
	}
}

// A conversation that is deleted is deleted by the agent, too.
func TestForget(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	var env []string
	b := newBackend(t, "polite", func(c *acp.Config) { env = c.Env })
	conn, err := b.Open(t.Context(), agent.Options{
		SessionID: "s2",
		Workspace: t.TempDir(),
		Tools:     agenttest.DisplayTools(),
	}, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := b.Forget(context.Background(), "s2"); err != nil {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(offered(env) + ".deleted"); err != nil ||
		!strings.Contains(string(text), "conversation-1") {
		t.Errorf("the agent was told %s, %v", text, err)
	}
}

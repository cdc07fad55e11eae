package acp

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/event"
)

// What the agent changes of its choices by itself is reported; what it says while the user's own
// choice is on its way is not, and a choice that it refuses is not kept.
func TestChoicesAlone(t *testing.T) {
	var c *choices
	moved := update{SessionUpdate: "current_mode_update", CurrentModeID: "plan"}
	var refused error
	c = &choices{
		cfg: Config{Preset: Preset{Asks: []string{"ask", "plan"}}},
		set: func(_ context.Context, method string, ask object, _ any) error {
			if method != "session/set_mode" || ask["modeId"] != "plan" {
				t.Errorf("%s %v", method, ask)
			}
			if _, changes := c.take(moved); changes != nil {
				t.Errorf("the user's choice was reported: %v", changes)
			}
			return refused
		},
	}
	var got opened
	if err := json.Unmarshal(
		[]byte(`{"modes":{"currentModeId":"ask","availableModes":[{"id":"ask"},{"id":"plan"},{"id":"yolo"}]}}`), &got); err != nil {
		t.Fatal(err)
	}
	c.open(got)
	refused = agent.ErrUnsupported
	if err := c.choose(t.Context(), modeOf, "plan", func(w *wanted) {
		w.mode = "plan"
	}); err == nil || c.want.mode != "" {
		t.Errorf("refused: %v, kept %q", err, c.want.mode)
	}
	refused = nil
	if err := c.choose(t.Context(), modeOf, "plan", func(w *wanted) {
		w.mode = "plan"
	}); err != nil || c.want.mode != "plan" || c.now().Mode != "plan" {
		t.Errorf("%v, kept %q, now %q", err, c.want.mode, c.now().Mode)
	}
	moved.CurrentModeID = "yolo"
	if _, changes := c.take(moved); !reflect.DeepEqual(changes,
		[]event.Data{event.SessionModeChanged{Mode: "yolo", Name: "yolo", Unasked: true}}) {
		t.Errorf("its own change: %+v", changes)
	}
}

// scene is a session that keeps what is said in it.
type scene struct {
	agent.Host
	texts []string
}

func (s *scene) Report(_ context.Context, d event.Data) error {
	switch d := d.(type) {
	case event.AssistantMessage:
		s.texts = append(s.texts, d.Content)
	case event.SessionError:
		s.texts = append(s.texts, string(d.Kind)+" "+d.Message)
	}
	return nil
}

type idle struct{}

func (idle) Ready(context.Context) error          { return nil }
func (idle) Send(*convo.Turn, agent.Prompt) error { return nil }
func (idle) Abort(*convo.Turn)                    {}
func (idle) Finish(*convo.Turn)                   {}
func (idle) End()                                 {}

// A text that looks like an error ends the turn with it, unless more follows; a notice stands once
// before an answer.
func TestTextErrorsAlone(t *testing.T) {
	host := &scene{}
	c := convo.New(convo.Config{Title: "Agent", Host: host, Agent: idle{}})
	turn := c.NewTurn(t.Context())
	m := &textErrors{c: c, begin: []string{"Error: "}, before: []string{"Warning: "}}
	c.Do(func() {
		for _, text := range []string{"Warning: old", "Warning: old", "Error: no", "it works",
			"Error: out of credit"} {
			if m.follows(turn); !m.take(turn, text) {
				turn.Say(convo.Answer, "", text)
			}
		}
		turn.Quiet()
	})
	if err := m.left(); err == nil || err.Error() != "Agent failed: out of credit" {
		t.Errorf("left %v", err)
	}
	turn.Cancel(nil)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if want := []string{"provider Agent: old", "Error: noit works"}; !slices.Equal(host.texts, want) {
		t.Errorf("it has %q, want %q", host.texts, want)
	}
}

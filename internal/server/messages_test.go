package server

import (
	"slices"
	"testing"

	"webchat/internal/event"
)

func TestEventsOfTheTurnThatAnswers(t *testing.T) {
	said := func(id string) event.Data { return event.UserMessage{MessageID: id} }
	starts := func(id string) event.Data { return event.TurnStart{MessageID: id} }
	delta, whole := event.AssistantMessageDelta{}, event.AssistantMessage{}
	for name, tt := range map[string]struct {
		steers bool
		log    []event.Data
		want   []int // places in log
	}{
		"alone": {false, []event.Data{said("m"), starts("m"), delta, whole,
			event.TurnEnd{MessageID: "m"}, event.SessionIdle{}, starts("b"), whole}, []int{0, 1, 2, 3, 4}},
		"behind another": {false, []event.Data{said("m"), whole, event.TurnEnd{MessageID: "a"},
			starts("m"), whole, event.TurnEnd{MessageID: "m"}}, []int{0, 3, 4, 5}},
		"joined": {true, []event.Data{whole, said("m"), delta, whole, said("b"),
			event.TurnEnd{MessageID: "a", Steered: []string{"m"}}}, []int{1, 3, 5}},
		"could not join": {true, []event.Data{said("m"), whole, event.TurnEnd{MessageID: "a"},
			starts("m"), delta, event.TurnEnd{MessageID: "m"}}, []int{0, 3, 4, 5}},
		"nothing to join": {true, []event.Data{said("m"), starts("m"), whole,
			event.TurnEnd{MessageID: "m"}}, []int{0, 1, 2, 3}},
		"others in the turn": {false, []event.Data{said("m"), starts("m"), said("b"), whole,
			event.TurnEnd{MessageID: "m"}}, []int{0, 1, 3, 4}},
	} {
		turn, got := turnOf{message: "m", steers: tt.steers}, []int{}
		for i, d := range tt.log {
			for _, e := range turn.take(event.Entry{Seq: int64(i), Event: event.Event{Data: d}}) {
				got = append(got, int(e.Seq))
			}
		}
		if !slices.Equal(got, tt.want) || !turn.over {
			t.Errorf("%s: %v, want %v; over %v", name, got, tt.want, turn.over)
		}
	}
}

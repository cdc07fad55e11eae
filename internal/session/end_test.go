package session

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// The end of a log is what a cut asks for, however long the log is.
func TestEnd(t *testing.T) {
	play(t, nil, func(r *rig) {
		for i := range 700 {
			m := fmt.Sprint("m", i)
			err := r.s.events.Add(event.UserMessage{MessageID: m, Content: "x"},
				event.TurnStart{TurnID: m, MessageID: m},
				event.AssistantMessage{MessageID: "a" + m, Content: "y"},
				event.TurnEnd{TurnID: m, MessageID: m, Outcome: event.Completed})
			if err != nil {
				t.Fatal(err)
			}
		}
		last := r.s.Summary().LastSeq
		for _, c := range []struct {
			turns int
			from  int64
			last  int64
			first int64
		}{
			{3, 0, last, last - 4*4 + 1}, // one turn more says that there is one before
			{3, 0, last - 400, last - 400 - 4*4 + 1},
			{400, 0, last, last - 4*401 + 1},
			{3, last - 5, last, last - 4*4 + 1},
			{3, 1003, last, 998}, // 1003 is in the turn that begins at 1002
			{3, 1, last, 1},
			{5000, 0, last, 1},
			{3, 0, 1, 1},
		} {
			got, err := r.s.End(r.Context(), event.NewCut(c.turns, c.from), c.last)
			if err != nil || got[0].Seq != c.first || got[len(got)-1].Seq != c.last ||
				int64(len(got)) != c.last-c.first+1 {
				t.Errorf("%+v: %d entries from %d, %v", c, len(got), got[0].Seq, err)
			}
		}
		// What runs was begun before the cut.
		open := event.NewCut(3, 0)
		open.Include(0, 0, 1, 0, 0)
		if got, err := r.s.End(r.Context(), open, last); err != nil || got[0].Seq != 1 {
			t.Errorf("%d entries, %v", len(got), err)
		}
		_, err := r.s.End(r.Context(), event.NewCut(3, 0), last+10)
		is(t, err, eventlog.ErrLog)
	})
}

func TestFoldCountsOutputs(t *testing.T) {
	show := func(s eventlog.Summary, telemetry string) eventlog.Summary {
		return eventlog.Summarize(s, event.Entry{
			Seq: s.LastSeq + 1,
			Event: event.New(event.ToolExecutionComplete{
				OutputID:      "out_1",
				ToolTelemetry: json.RawMessage(telemetry),
			}, "", s.CreatedAt),
		})
	}
	s := eventlog.Summarize(eventlog.Summary{}, event.Entry{
		Seq:   1,
		Event: event.New(event.SessionStart{SessionID: "s"}, "", time.Now()),
	})
	sum := show(s, `{"tokensShown":4}`)
	two := show(sum, `{"tokensShown":4,"tokensEstimated":true}`)
	equal(t, "none", s.Open.Outputs, 0)
	equal(t, "one", sum.Open.Outputs, 1)
	equal(t, "two", two.Open.Outputs, 2)
}

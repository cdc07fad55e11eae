package page

import (
	"testing"
	"time"

	"webchat/internal/event"
)

type noOutputs struct{ Outputs }

// Each part of a State folds its events without the others.
func TestPartsStandAlone(t *testing.T) {
	p, err := New(Config{Outputs: noOutputs{}})
	if err != nil {
		t.Fatal(err)
	}
	c := newCore(p, "s1")
	m := &messages{c}
	m.apply(event.AssistantMessageDelta{MessageID: "m1", DeltaContent: "Hel"})
	m.apply(event.AssistantMessageDelta{MessageID: "m1", DeltaContent: "lo", Offset: 3})
	if n := c.nodes["m-m1"]; n == nil || string(n.Message.text) != "Hello" {
		t.Errorf("the message is %+v", n)
	}

	q := &questions{core: c, asks: &node{ID: "asks"}}
	q.apply(event.UserInputRequested{RequestID: "q1", Question: "Which?"})
	if d := q.Dock(); d.Head != "The agent asks 1 question" || len(d.Kids) != 1 {
		t.Errorf("the dock holds %+v", d)
	}
	q.apply(event.UserInputCompleted{RequestID: "q1", Answer: "that"})
	if d := q.Dock(); len(d.Kids) != 0 {
		t.Errorf("the dock still holds %+v", d)
	}

	k := &tasks{core: c, running: &node{ID: "tasks"}}
	k.started(event.TaskStarted{TaskID: "t1", Title: "make"})
	k.output(event.TaskOutput{TaskID: "t1", Text: "built"})
	if all := k.Tasks(); len(all) != 1 || all[0].Task.Printed != "built" {
		t.Errorf("the tasks are %+v", all)
	}

	l := &ledger{core: c}
	l.fillChanged(event.SessionUsageInfo{TokenLimit: 1000, CurrentTokens: 250})
	if m := l.Meter(); m.In != "25.0%" || m.Left != 750 {
		t.Errorf("the meter is %+v", m)
	}

	s := &shelf{core: c, ledger: l}
	s.put(&Call{ID: "c1", Output: "o1"})
	s.deleted(event.OutputDeleted{OutputID: "o1"})
	if got := s.shownAs("o1"); got == nil || got.DeletedAt != c.now {
		t.Errorf("the output is %+v", got)
	}

	c.now = time.Unix(9, 0)
	w := &waits{core: c, questions: q}
	c.current = c.addTurn(&turn{State: "running", heard: c.now}, "t-1")
	if w.set(); w.Wait() == nil || w.Wait().For != "the agent" {
		t.Errorf("it waits for %+v", w.Wait())
	}
}

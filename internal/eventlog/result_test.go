package eventlog_test

import (
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Outputs are listed in the order of the calls, whichever ended first.
func TestOutputsAreInTheOrderOfCalls(t *testing.T) {
	r := eventlog.NewResult("m")
	call := func(id string) event.Data {
		return event.ToolExecutionStart{ToolCallID: id, By: event.ByAgent}
	}
	end := func(id string) event.Data {
		return event.ToolExecutionComplete{
			ToolCallID: id,
			Success:    true,
			OutputID:   "out_" + id,
			Result:     &event.ToolResult{},
		}
	}
	for _, d := range []event.Data{event.TurnStart{TurnID: "t", MessageID: "m"}, call("a"), call("b"),
		call("c"), end("c"), end("a"), end("b"), event.TurnEnd{TurnID: "t", MessageID: "m"}} {
		r.Add(d)
	}
	got := ""
	for _, o := range r.TurnResult().Outputs {
		got += o.ID + " "
	}
	if got != "out_a out_b out_c " {
		t.Error(got)
	}
}

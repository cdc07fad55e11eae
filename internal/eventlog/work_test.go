package eventlog

import (
	"testing"
	"time"

	"webchat/internal/event"
)

// A hook whose end a kill kept from the log has one after the restart.
func TestHookLeftOpenByAKill(t *testing.T) {
	now := time.Now()
	var w Work
	w.Apply(event.Entry{Seq: 1, Event: event.New(event.HookStart{
		HookID:  "h",
		Event:   "before_tool",
		Command: "x",
	}, "", now)})
	ends := w.Interrupted()
	if len(ends) != 1 || ends[0].(event.HookEnd).HookID != "h" || ends[0].(event.HookEnd).Allow {
		t.Fatalf("%+v", ends)
	}
	w.Apply(event.Entry{Seq: 2, Event: event.New(ends[0], "", now)})
	equal(t, "left open", len(w.Interrupted()), 0)
}

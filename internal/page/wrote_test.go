package page_test

import (
	"encoding/json"
	"testing"
	"time"

	"webchat/internal/event"
	"webchat/internal/page"
)

// nothing is a store of outputs that has none.
type nothing struct{ page.Outputs }

// A file was changed by the session's agent if one of its edits was at work on it then.
func TestWrote(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	pages, err := page.New(page.Config{Outputs: nothing{}})
	if err != nil {
		t.Fatal(err)
	}
	p := pages.Projector("s")
	for i, e := range []struct {
		at   int
		data event.Data
	}{
		{0, event.SessionStart{SessionID: "s", Context: event.Context{Cwd: "/w"}}},
		{0, event.UserMessage{MessageID: "m", Content: "edit"}},
		{0, event.TurnStart{TurnID: "t", MessageID: "m"}},
		{10, event.ToolExecutionStart{
			ToolCallID: "c1",
			ToolName:   "edit",
			Arguments:  json.RawMessage(`{"path":"/w/a.txt"}`),
			By:         event.ByAgent,
		}},
		{20, event.ToolExecutionComplete{
			ToolCallID: "c1",
			Success:    true,
			Result:     &event.ToolResult{Content: "done"},
		}},
		{30, event.ToolExecutionStart{
			ToolCallID: "c2",
			ToolName:   "apply_patch",
			Arguments:  json.RawMessage(`{"patch":"…"}`),
			By:         event.ByAgent,
		}},
		{40, event.ToolExecutionComplete{
			ToolCallID: "c2",
			Success:    true,
			Result: &event.ToolResult{
				Content:         "done",
				DetailedContent: "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-a\n+b\n",
			},
		}},
		{50, event.ToolExecutionStart{
			ToolCallID: "c3",
			ToolName:   "view",
			Arguments:  json.RawMessage(`{"path":"c.txt"}`),
			By:         event.ByAgent,
		}},
		{60, event.ToolExecutionStart{
			ToolCallID: "c4",
			ToolName:   "write",
			Arguments:  json.RawMessage(`{"path":"d.txt"}`),
			By:         event.ByAgent,
		}},
		{70, event.ToolExecutionStart{
			ToolCallID: "c5",
			ToolName:   "write",
			Arguments:  json.RawMessage(`{"path":"e.txt"}`),
			By:         event.ByAgent,
		}},
		{80, event.ToolExecutionComplete{ToolCallID: "c5", Error: &event.ToolError{Message: "no room"}}},
	} {
		ev := event.Entry{Seq: int64(i + 1), Event: event.New(e.data, "", at(e.at))}
		if ev.JSON, err = event.Marshal(ev.Event); err != nil {
			t.Fatal(err)
		}
		p.Load(ev)
	}
	for _, c := range []struct {
		name          string
		at            int
		wrote, writes bool
	}{
		{"/w/a.txt", 15, true, false},
		{"/w/a.txt", 25, false, false}, // somebody else, later
		{"/w/a.txt", 5, false, false},
		{"/w/b.txt", 35, true, false},
		{"/w/b.txt", 15, false, false},
		{"/w/c.txt", 55, false, false}, // only read
		{"/w/d.txt", 90, true, true},
		{"/w/e.txt", 75, false, false}, // failed
		{"/x/a.txt", 15, false, false},
	} {
		if wrote, writes := p.Wrote(c.name, at(c.at)); wrote != c.wrote || writes != c.writes {
			t.Errorf("%s at %d: wrote %v, writes %v; want %v, %v", c.name, c.at, wrote, writes, c.wrote,
				c.writes)
		}
	}
	// The log has milliseconds, a file more.
	if wrote, _ := p.Wrote("/w/a.txt", at(20).Add(700*time.Microsecond)); !wrote {
		t.Error("what was written in the millisecond of the end is somebody else's")
	}
}

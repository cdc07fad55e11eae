package server

import (
	"encoding/json"
	"testing"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

func TestShapes(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	sum := eventlog.Summary{
		ID:        "s",
		Workspace: "/work",
		Backend:   "offline",
		Model:     "n",
		Title:     "new",
		CreatedAt: at,
		UpdatedAt: at.Add(time.Second),
		Pinned:    true,
		Status:    event.Idle,
		Usage:     event.Usage{InputTokens: 7, OutputTokens: 1, Cost: 0.5, Calls: 1},
		Tokens:    eventlog.Tokens{Shown: 404, Sent: 18, Saved: 391},
		LastSeq:   9,
		Pending:   1,
	}
	one := `"id":"s","workspace":"/work","backend":"offline","model":"n","title":"new","createdAt":"2026-01-02T03:04:05.000Z","updatedAt":"2026-01-02T03:04:06.000Z",` +
		`"pinned":true,"status":"idle","usage":{"inputTokens":7,"outputTokens":1,"cost":0.5,"calls":1},"tokens":{"shown":404,"sent":18,"saved":391}`
	hit := &eventlog.Hit{
		Seq:   7,
		Data:  event.UserMessage{MessageID: "m"},
		Parts: []string{"…", "found", "…"},
	}
	for _, c := range []struct {
		shape any
		want  string
	}{
		{shapeOf(sum), "{" + one + "}"},
		{foundOf(sessions.Found{Summary: sum}), "{" + one + "}"},
		{foundOf(sessions.Found{Summary: sum, Hit: hit}), "{" + one +
			`,"snippet":"…found…","parts":["…","found","…"],"seq":7,"url":"URL"}`},
		{eventlog.TurnResult{MessageID: "m", Content: "c", Outputs: []eventlog.OutputRef{}},
			`{"messageId":"m","content":"c","outputs":[]}`},
		{eventlog.TurnResult{MessageID: "m", Outputs: []eventlog.OutputRef{{
			ID:         "o",
			ToolCallID: "t",
			Type:       "file",
		}}, Error: "e"},
			`{"messageId":"m","content":"","outputs":[{"id":"o","toolCallId":"t","type":"file"}],"error":"e"}`},
	} {
		if f, ok := c.shape.(foundShape); ok && f.URL != "" {
			f.URL = "URL"
			c.shape = f
		}
		got, err := json.Marshal(c.shape)
		if err != nil || string(got) != c.want {
			t.Errorf("%v:\n got %s\nwant %s", err, got, c.want)
		}
	}
}

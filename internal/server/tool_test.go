package server_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"webchat/internal/agent/offline"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/store/storetest"
)

// What a folded row holds is fetched by its own address, whether the page still holds
// its turn or not.
func TestInsideOfAFoldedRow(t *testing.T) {
	mem := storetest.NewMemory()
	id := writeLong(t, mem, 50)
	h := newHouseOn(t, mem, offline.New(offline.Config{}))
	path := "/sessions/" + string(id)
	more := regexp.MustCompile(`data-more><a href="([^"]+)"`)

	_, page := h.do("GET", path, "")
	if strings.Contains(page, "func (p *pump)") {
		t.Error("the page holds what is folded")
	}
	rows := more.FindAllStringSubmatch(page, -1)
	if len(rows) != 300 {
		t.Fatalf("%d rows", len(rows))
	}
	res, body := h.do("GET", rows[299][1], "")
	if res.StatusCode != 200 || !strings.Contains(body, "func (p *pump)") ||
		res.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%d %s", res.StatusCode, body)
	}

	before := regexp.MustCompile(`href="(\?before=\d+)"`).FindStringSubmatch(page)
	if before == nil {
		t.Fatal("no way to earlier turns")
	}
	_, page = h.do("GET", path+before[1], "")
	if n := strings.Count(page, "data-turn "); n != 10 {
		t.Errorf("%d turns before the last 40 of 50", n)
	}
	rows = more.FindAllStringSubmatch(page, -1)
	if len(rows) != 10 {
		t.Fatalf("%d rows in earlier turns", len(rows))
	}
	// with and without its turn
	for _, address := range []string{rows[0][1], strings.Split(rows[0][1], "?")[0]} {
		if res, body := h.do("GET", address, ""); res.StatusCode != 200 ||
			!strings.Contains(body, "7 hits") || !strings.Contains(body, "pump0.go") {
			t.Errorf("%s: %d %s", address, res.StatusCode, body)
		}
	}
	for address, status := range map[string]int{"/tools/none": 404, "/tools/m49-c0?from=x": 400,
		"/tools/m49-c0?from=0": 400, "/tools/m49-c0?from=1": 200} {
		if res, body := h.do("GET", "/api"+path+address, ""); res.StatusCode != status {
			t.Errorf("%s: %d %s", address, res.StatusCode, body)
		}
	}
}

// An agent chooses the ids of its calls.
func TestInsideOfARowWithAnOddID(t *testing.T) {
	mem := storetest.NewMemory()
	const odd = "a/b?c d%2F#é"
	id := eventlog.ID(event.NewID())
	var sum eventlog.Summary
	var entries []event.Entry
	for i, d := range []event.Data{event.SessionStart{SessionID: string(id), Backend: offline.Name},
		event.UserMessage{MessageID: "m"}, event.TurnStart{TurnID: "t", MessageID: "m"},
		event.ToolExecutionStart{
			ToolCallID: odd,
			ToolName:   "view",
			Arguments:  []byte(`{"path":"x"}`),
			By:         event.ByAgent,
		},
		event.ToolExecutionComplete{
			ToolCallID: odd,
			Success:    true,
			Result:     &event.ToolResult{Content: "it is this"},
		}, event.TurnEnd{TurnID: "t", MessageID: "m"}} {
		e := event.Entry{Seq: int64(i + 1), Event: event.New(d, "", sum.UpdatedAt)}
		e.JSON, _ = event.Marshal(e.Event)
		sum = eventlog.Summarize(sum, e)
		entries = append(entries, e)
	}
	if err := mem.Append(t.Context(), id, entries, sum); err != nil {
		t.Fatal(err)
	}
	h := newHouseOn(t, mem, offline.New(offline.Config{}))
	res, body := h.do("GET", fmt.Sprintf("/api/sessions/%s/tools/%s?from=2", id, url.PathEscape(odd)),
		"")
	if res.StatusCode != 200 || !strings.Contains(body, "it is this") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

package server_test

import (
	"strings"
	"testing"
)

// A command of the user's own that is stopped has printed something: its answer leads
// there and says why it ended.
func TestStoppedCommandIsShown(t *testing.T) {
	h := newHouse(t)
	_, path := h.session(t)
	live := h.open(t, "GET", path+"/events", "", "Accept: text/event-stream")
	answered := make(chan string, 1)
	go func() {
		res, body := h.do("POST", path+"/display",
			`{"tool":"run_and_display","arguments":{"command":"echo begun; exec sleep 600"}}`)
		answered <- res.Status + " " + body
	}()
	started := live.until("tool.execution_progress") // then it has an output
	_, call, _ := strings.Cut(started[len(started)-1].data, `"toolCallId":"`)
	call, _, _ = strings.Cut(call, `"`)
	if res, body := h.do("POST", path+"/tools/"+call+"/abort", ""); res.StatusCode != 202 {
		t.Fatalf("stop: %s %s", res.Status, body)
	}
	got := <-answered
	for _, want := range []string{"200 OK", `"toolCallId":"` + call + `"`, `"type":"terminal"`,
		`"message":"stopped after `, `"kind":"aborted"`} {
		if !strings.Contains(got, want) {
			t.Errorf("it answers %s, without %s", got, want)
		}
	}
}

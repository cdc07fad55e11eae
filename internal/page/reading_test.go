package page_test

import (
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/page"
)

// A large file is on the Desk while it is read, and stays there as far as it was read.
func TestFileIsSeenWhileItIsRead(t *testing.T) {
	pr := pages(t, 3).Projector("s1")
	l := newLog().add(
		event.ToolExecutionStart{
			ToolCallID: "u1",
			ToolName:   "render_file_contents",
			Arguments:  raw(`{"path":"go.mod"}`),
			By:         event.ByUser,
		},
		event.ToolExecutionProgress{ToolCallID: "u1", OutputID: "out_A", Bytes: 512, Lines: 9})
	pr.Load(l.entries...)
	check := func(want, not []string) {
		t.Helper()
		var b strings.Builder
		if err := pr.Pane(&b, "out_A", page.NoRows); err != nil {
			t.Fatal(err)
		}
		for _, s := range want {
			if !strings.Contains(b.String(), s) {
				t.Errorf("not there: %q in\n%s", s, b.String())
			}
		}
		for _, s := range not {
			if strings.Contains(b.String(), s) {
				t.Errorf("there: %q in\n%s", s, b.String())
			}
		}
	}
	check([]string{`data-state="running"`, "data-reading", `data-lines="9"`, "Reading · 9 lines",
		`data-key="s" hidden`}, []string{"Pause", `role="log"`})
	l.add(event.ToolExecutionComplete{
		ToolCallID: "u1",
		OutputID:   "out_A",
		Error: &event.ToolError{
			Message: "Stopped while go.mod was read.",
			Code:    "aborted",
			Kind:    event.KindAborted,
		},
	})
	pr.Load(l.entries...)
	check([]string{`data-state="done"`,
		"<b>Only its beginning was read.</b> Stopped while go.mod was read."}, []string{"data-reading",
		`data-act="stop-tool"`})
}

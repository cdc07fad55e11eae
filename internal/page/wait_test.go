package page_test

import (
	"regexp"
	"strings"
	"testing"

	"webchat/internal/event"
)

// waits finds what is waited for in a page or a frame, and since when.
var waits = regexp.MustCompile(
	`<span>Waiting for (.*?)</span> <time class="num" datetime="[^"]*14:02:0?(\d+)`)

// A running turn says for what it waits and since when, but where a call, a hook or a question says
// so itself; a page made anew says the same.
func TestWaits(t *testing.T) {
	run := event.ToolExecutionStart{
		ToolCallID: "c1",
		ToolName:   "bash",
		Arguments:  raw(`{"command":"make"}`),
		By:         event.ByAgent,
	}
	look := event.ToolExecutionStart{
		ToolCallID: "u1",
		ToolName:   "show_input",
		Arguments:  raw(`{"command":"ls"}`),
		By:         event.ByUser,
	}
	story := []struct {
		data event.Data
		want string // for what, and at which second of the log that began
	}{
		{event.SessionStart{SessionID: "s1", Backend: "copilot", Model: "acme/large"}, ""},
		{event.UserMessage{MessageID: "m1", Content: "hi"}, ""},
		{event.TurnStart{TurnID: "t1", MessageID: "m1"}, "copilot 3"},
		{event.AssistantTurnStart{TurnID: "1"}, "acme/large 3"}, // nothing was heard of it
		{event.AssistantMessageDelta{MessageID: "a1", DeltaContent: "I "}, "acme/large 5"},
		{event.UserMessage{MessageID: "m2", Content: "and then"}, "acme/large 5"},
		{look, "acme/large 5"},
		{event.AssistantMessage{MessageID: "a1", Content: "I run it."}, "acme/large 8"},
		{event.HookStart{HookID: "h1", Event: "before_tool", Command: "check.sh"}, ""},
		{event.HookEnd{HookID: "h1", Event: "before_tool", Command: "check.sh", Allow: true},
			"acme/large 10"},
		{run, ""},
		{allow("p1", "c1", "make"), ""},
		{event.PermissionCompleted{RequestID: "p1", Decision: event.Allow, By: event.DecidedByUser}, ""},
		{event.ToolExecutionProgress{ToolCallID: "c1", WaitsFor: &event.OtherSession{SessionID: "s2"}},
			`your answer in <a href="/sessions/s2" dir="auto">Mend &lt;tree.go&gt;</a> 12`},
		{event.ToolExecutionProgress{ToolCallID: "c1", WaitsFor: &event.OtherSession{SessionID: "gone"}},
			"an answer in another session 12"},
		{event.ToolExecutionProgress{ToolCallID: "c1", WaitsFor: &event.OtherSession{}},
			"an answer in another session 12"},
		{event.ToolExecutionProgress{ToolCallID: "c1"}, ""},
		{event.ToolExecutionComplete{ToolCallID: "c1", Success: true}, "acme/large 18"},
		{allow("p2", "", "make"), ""},
		{event.PermissionCompleted{RequestID: "p2", Decision: event.Deny, By: event.DecidedByUser},
			"acme/large 20"},
		{event.SessionError{
			Message:   "Busy.",
			ErrorType: event.ErrorWarning,
			Kind:      event.KindRetrying,
			Waits:     true,
		}, "acme/large 21"},
		{event.TurnEnd{TurnID: "t1", MessageID: "m1", Outcome: event.Completed}, ""},
		{event.TurnStart{TurnID: "t2", MessageID: "m2"}, "copilot 23"},
	}
	p := pages(t, 3)
	live, l := p.Projector("s1"), newLog()
	for i, step := range story {
		l.add(step.data)
		live.Feed(l.entries[i])
		again := p.Projector("s1")
		again.Load(l.entries...)
		frame, _ := live.Join(0)
		for how, text := range map[string]string{"streamed": string(frame.Data()),
			"loaded": wholePage(t, p, again)} {
			got := ""
			if m := waits.FindStringSubmatch(strings.ReplaceAll(text, `\"`, `"`)); m != nil {
				got = m[1] + " " + m[2]
			}
			if got != step.want {
				t.Errorf("%s, after %d, %T: it waits for %q, want %q", how, i+1, step.data, got, step.want)
			}
		}
	}
}

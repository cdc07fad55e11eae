package calls_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"webchat/internal/calls"
	"webchat/internal/event"
)

// log is what a test has happen.
type log struct {
	x    calls.Index
	last int64
}

// say adds events and returns the sequence of the last one.
func (l *log) say(data ...event.Data) int64 {
	for _, d := range data {
		e := event.Entry{Seq: l.last + 1, Event: event.New(d, "", time.Unix(l.last+1, 0))}
		if e.Event.Ephemeral {
			e.Seq = l.last
		}
		l.last = e.Seq
		l.x.Add(e)
	}
	return l.last
}

// call has a tool called, which shows an output if one is named.
func (l *log) call(id, arguments, output string) (start, end int64) {
	start = l.say(event.ToolExecutionStart{
		ToolCallID: id,
		ToolName:   "show",
		Arguments:  json.RawMessage(arguments),
		By:         event.ByAgent,
	})
	d := event.ToolExecutionComplete{ToolCallID: id, Success: true, OutputID: output}
	if output != "" {
		d.ToolTelemetry = json.RawMessage(`{"outputType":"file","bytes":7,"lines":2,"exitCode":1}`)
	}
	return start, l.say(d)
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestAnIDThatIsUsedAgain(t *testing.T) {
	var l log
	first, end := l.call("c", `{}`, "")
	asked := l.say(event.PermissionRequested{RequestID: "r", ToolCallID: "c", Sensitive: true})
	second, again := l.call("c", `{}`, "")
	l.say(event.SandboxRefused{ToolCallID: "c", Offers: []event.Offer{event.OfferOutside}})

	c, ok := l.x.Call("c")
	equal(t, "the call", c, calls.Call{
		ID:      "c",
		Tool:    "show",
		By:      event.ByAgent,
		Start:   second,
		End:     again,
		Secret:  asked,
		Outside: true,
	})
	before, _ := l.x.Ended("c", 0)
	equal(t, "the first that ended", before, calls.Call{
		ID:    "c",
		Tool:  "show",
		By:    event.ByAgent,
		Start: first,
		End:   end,
	})
	if c, _ := l.x.Ended("c", end+1); !ok || c.Start != second {
		t.Errorf("after the first ended there is %+v", c)
	}
	if _, ok := l.x.Ended("c", again+1); ok {
		t.Error("a call ended after the last")
	}
	only := l.say(event.ToolExecutionComplete{ToolCallID: "late"})
	if c, ok := l.x.Call("late"); !ok || c.Start != 0 || c.End != only {
		t.Errorf("a call of which only the end is known is %+v", c)
	}
}

func TestAnOutputKeepsItsPlaceWhenItIsReadAgain(t *testing.T) {
	var l log
	start, _ := l.call("c", `{"path":"a.txt"}`, "one")
	l.call("d", `{"command":"`+strings.Repeat("x", 5000)+`"}`, "long")
	l.say(event.OutputOpened{OutputID: "one"}, event.OutputReread{OutputID: "one", NewOutputID: "two"},
		event.OutputReread{OutputID: "two", NewOutputID: "three"})
	for _, id := range []string{"one", "two", "three"} {
		o, ok := l.x.Output(id)
		if !ok || o.ID != "three" || o.Call.Start != start || o.Path != "a.txt" || !o.Opened ||
			o.Deleted {
			t.Errorf("%s is %+v", id, o)
		}
	}
	l.say(event.OutputDeleted{OutputID: "three"})
	l.say(event.ToolExecutionComplete{ToolCallID: "unknown", OutputID: "of no start"})
	var list []string
	for _, o := range l.x.Outputs() {
		list = append(list, fmt.Sprint(o.ID, " ", o.Path, o.Command, o.Long, o.Deleted))
	}
	equal(t, "the outputs", list, []string{"three a.txtfalse true", "long true false"})
	o, _ := l.x.Output("long")
	equal(t, "what was made", o.Made, calls.Made{
		OutputType: "file",
		Bytes:      7,
		Lines:      2,
		ExitCode:   new(1),
	})
	if _, ok := l.x.Output("of no start"); !ok {
		t.Error("an output of a call without a start is not known")
	}
	if _, ok := l.x.Output("none"); ok {
		t.Error("an output that never was is known")
	}
}

func TestPromptsAndTurns(t *testing.T) {
	var l log
	a := l.say(event.UserMessage{MessageID: "a", Content: "Do it.\nAll of it."})
	startA := l.say(event.TurnStart{TurnID: "ta", MessageID: "a", Snapshot: "s1"})
	b, c := l.say(event.UserMessage{MessageID: "b", Content: "And that"}),
		l.say(event.UserMessage{MessageID: "c", Content: "taken back"})
	refused := l.say(event.SandboxRefused{What: "/w/x", Kind: event.RefusedPath, Write: true})
	l.say(event.AssistantTurnStart{PromptID: "agent-a"}, event.UserMessageWithdrawn{MessageID: "c"})
	inA, _ := l.call("c1", `{}`, "")
	endA := l.say(event.TurnEnd{
		TurnID:    "ta",
		MessageID: "a",
		Outcome:   event.Failed,
		Snapshot:  "s2",
		Changed:   1,
	})
	startB := l.say(event.TurnStart{TurnID: "tb", MessageID: "b"})

	prompts := l.x.Prompts()
	equal(t, "the prompts", prompts, []calls.Prompt{
		{
			ID:     "a",
			Line:   "Do it. ↵ All of it.",
			Seq:    a,
			Turn:   startA,
			Agent:  "agent-a",
			Waited: []int64{a},
		},
		{ID: "b", Line: "And that", Seq: b, Turn: startB, Waited: []int64{b}},
		{ID: "c", Line: "taken back", Seq: c}})
	equal(t, "the turns", l.x.Turns(), []calls.Turn{
		{
			ID:      "ta",
			From:    a,
			Line:    "Do it. ↵ All of it.",
			At:      time.Unix(startA, 0).UTC(),
			Start:   startA,
			End:     endA,
			Outcome: event.Failed,
			Was:     "s1",
			Left:    "s2",
			Changed: true,
			Refused: []int64{refused},
		},
		{ID: "tb", From: b, Line: "And that", At: time.Unix(startB, 0).UTC(), Start: startB}})
	if c, _ := l.x.Call("c1"); c.Start != inA || c.Turn != startA {
		t.Errorf("the call is %+v", c)
	}
	l.say(event.SessionBranched{From: "other"})
	own := l.say(event.UserMessage{MessageID: "a", Content: "again"})
	if p, _ := l.x.Prompt("b"); !p.Taken {
		t.Error("what was said in the other session is not known to be")
	}
	if p, _ := l.x.Prompt("a"); p.Taken || p.Seq != own {
		t.Errorf("the prompt is %+v", p)
	}
}

func TestQuestionsTasksAndCommands(t *testing.T) {
	var l log
	asked := l.say(event.PermissionRequested{RequestID: "p", Kind: event.KindLater})
	l.say(event.UserInputRequested{RequestID: "q"},
		event.PermissionCompleted{RequestID: "other", By: event.DecidedByUser})
	done := l.say(event.PermissionCompleted{RequestID: "p", By: event.DecidedByUser})
	l.say(event.UserInputCompleted{RequestID: "q", By: event.DecidedByAbort},
		event.TaskStarted{TaskID: "t"})
	l.call("c", `{"command":" make "}`, "")
	l.say(event.ToolExecutionStart{
		ToolCallID: "u",
		Arguments:  json.RawMessage(`{"command":"ls"}`),
		By:         event.ByUser,
	})

	p, _ := l.x.Request("p")
	equal(t, "the question", p, calls.Request{
		Asked: asked,
		Done:  done,
		Held:  true,
		By:    event.DecidedByUser,
	})
	if q, ok := l.x.Request("q"); !ok || q.Held || q.By != event.DecidedByAbort {
		t.Errorf("the other question is %+v", q)
	}
	if _, ok := l.x.Request("other"); ok {
		t.Error("a question that was never asked is known")
	}
	if !l.x.Task("t") || l.x.Task("c") {
		t.Error("the tasks are others")
	}
	for arguments, want := range map[string]bool{`{"command":"make"}`: true, `{"command":"ls"}`: false,
		`{"command":""}`: false, `[]`: false} {
		if got := l.x.Asked(json.RawMessage(arguments)); got != want {
			t.Errorf("%s was asked for: %t", arguments, got)
		}
	}
}

// What the agent's tools reported of files is known by the names of the files.
func TestEdits(t *testing.T) {
	const diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
	var l log
	turn := l.say(event.TurnStart{TurnID: "t"})
	call := func(tool, arguments string, by event.Actor, asked, result string) (question, end int64) {
		id := string(event.NewID())
		l.say(event.ToolExecutionStart{
			ToolCallID: id,
			ToolName:   tool,
			Arguments:  json.RawMessage(arguments),
			By:         by,
		})
		if asked != "" {
			question = l.say(event.PermissionRequested{RequestID: id, ToolCallID: id, Diff: asked})
		}
		return question, l.say(event.ToolExecutionComplete{
			ToolCallID: id,
			Success:    true,
			Result:     &event.ToolResult{Content: "done", DetailedContent: result},
		})
	}
	_, first := call("edit", `{"file_path":"/w/x"}`, event.ByAgent, "", diff)
	question, second := call("apply", `{}`, event.ByAgent, diff, "")
	_, third := call("write_file", `{"path":"y","command":"x"}`, event.ByAgent, "", "--- y\n+++ y\n")
	call("edit", `{"path":"x"}`, event.ByUser, "", diff)      // the user's own
	call("view", `{"path":"x"}`, event.ByAgent, "", diff)     // somebody's text
	call("edit", `{"path":"x"}`, event.ByAgent, "", "done")   // no diff
	call("edit", `{"path":"x"}`, event.ByAgent, diff, "done") // what it did is not what was asked
	want := []calls.Edit{{At: first, Seq: first, File: "/w/x", Names: []string{"a/x", "b/x"}},
		{At: second, Seq: question, Names: []string{"a/x", "b/x"}},
		{At: third, Seq: third, File: "y", Command: true, Names: []string{"y"}}}
	equal(t, "the edits", l.x.Edits(0), want)
	equal(t, "the edits since the second", l.x.Edits(second), want[1:])
	if turns := l.x.Turns(); turns[0].Start != turn || turns[0].Edits != len(want) {
		t.Errorf("the turn is %+v", turns[0])
	}
}

// The index of a log in any order of events is that of its parts, and what was added before or does
// not follow changes nothing.
func TestOnlyWhatFollowsIsAdded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var entries []event.Entry
	for i := range 500 {
		id := fmt.Sprint(r.IntN(9))
		all := []event.Data{event.ToolExecutionStart{ToolCallID: id},
			event.ToolExecutionComplete{ToolCallID: id, OutputID: id}, event.TurnStart{MessageID: id},
			event.TurnEnd{}, event.UserMessage{MessageID: id},
			event.OutputReread{OutputID: id, NewOutputID: fmt.Sprint(i)},
			event.SandboxRefused{ToolCallID: id},
			event.PermissionRequested{ToolCallID: id, Sensitive: true}, event.OutputDeleted{OutputID: id},
			event.SessionDamaged{}}
		entries = append(entries, event.Entry{
			Seq:   int64(i + 1),
			Event: event.Event{Data: all[r.IntN(len(all))]},
		})
	}
	var once, often calls.Index
	for i, e := range entries {
		once.Add(e)
		for _, other := range []int{i, i, r.IntN(i + 1), min(i+2, len(entries)-1)} {
			often.Add(entries[other])
		}
	}
	if !slices.EqualFunc(once.Outputs(), often.Outputs(), func(a, b calls.Output) bool {
		return cmp.Equal(a, b)
	}) || !cmp.Equal(once.Turns(), often.Turns()) ||
		once.Last() != often.Last() || len(once.Outputs()) == 0 {
		t.Error("the indexes differ")
	}
}

package server

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"webchat/internal/event"
)

var updateDialect = flag.Bool("update", false, "write the golden files")

// logOf numbers events as a session does: logged ones from 1, others with the
// number of the last logged one.
func logOf(events ...event.Data) []event.Entry {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	var entries []event.Entry
	var seq int64
	for i, d := range events {
		if event.Logged(d) {
			seq++
		}
		e := event.Event{
			ID:        event.ID(fmt.Sprintf("e%02d", i+1)),
			Timestamp: at.Add(time.Duration(i) * time.Millisecond),
			Ephemeral: !event.Logged(d),
			Data:      d,
		}
		entries = append(entries, event.Entry{Seq: seq, Pos: int64(i + 1), Event: e})
	}
	return entries
}

// told is a frame, decoded.
type told struct {
	Seq  int64
	Type dialectType
	Data map[string]any
}

func tell(t interface{ Fatal(...any) }, a *autohandDialect, entries []event.Entry) (all []told) {
	for _, e := range entries {
		for _, f := range a.Project(e) {
			one := told{Seq: f.Seq}
			if err := json.Unmarshal(f.JSON, &one); err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
	}
	return all
}

func TestDialectGolden(t *testing.T) {
	day := []event.Data{
		event.SessionStart{SessionID: "s1", Backend: "offline", Context: event.Context{Cwd: "/ws"}},
		event.UserMessage{MessageID: "m1", Content: "show go.mod and run the tests"},
		event.TurnStart{TurnID: "t1", MessageID: "m1"},
		event.AssistantTurnStart{TurnID: "0"},
		event.AssistantMessageDelta{MessageID: "a1", DeltaContent: "I show "},
		event.AssistantMessageDelta{MessageID: "a1", Offset: 7, DeltaContent: "it."},
		event.AssistantMessage{MessageID: "a1", Content: "I show it."},
		event.ToolExecutionStart{
			ToolCallID: "c1",
			ToolName:   "render_file_contents",
			Arguments:  json.RawMessage(`{"path":"go.mod"}`),
			By:         event.ByAgent,
		},
		event.ToolExecutionComplete{
			ToolCallID: "c1",
			Success:    true,
			Result:     &event.ToolResult{Content: "Displayed go.mod to user (50 lines)"},
			DurationMs: 3,
		},
		event.AssistantTurnEnd{TurnID: "0"},
		event.AssistantTurnStart{TurnID: "1"},
		event.ToolExecutionStart{
			ToolCallID: "c2",
			ToolName:   "run_and_display",
			Arguments:  json.RawMessage(`{"command":"go test ./..."}`),
			By:         event.ByAgent,
		},
		event.HookStart{HookID: "h1", Event: "before_tool", Command: "check.sh"},
		event.HookEnd{
			HookID:     "h1",
			Event:      "before_tool",
			Command:    "check.sh",
			ExitCode:   0,
			Allow:      true,
			DurationMs: 12,
		},
		event.PermissionRequested{
			RequestID:  "p1",
			ToolCallID: "c2",
			ToolName:   "run_and_display",
			Kind:       "shell",
			Action:     "run a command",
			Resource:   "go test ./...",
		},
		event.PermissionCompleted{
			RequestID: "p1",
			Decision:  event.Deny,
			Reason:    "The user said no.",
			By:        event.DecidedByUser,
		},
		event.ToolExecutionComplete{
			ToolCallID: "c2",
			Error:      &event.ToolError{Message: "The user said no.", Code: "denied"},
			DurationMs: 900,
		},
		event.SessionError{
			Message:    "The provider answered 500.",
			ErrorType:  "query",
			StatusCode: 500,
			Context:    &event.ErrorContext{TurnID: "t1", Code: 500, Recoverable: new(true)},
		},
		event.AssistantMessageDelta{MessageID: "a2", DeltaContent: "It was "},
		event.AssistantMessageDiscarded{MessageID: "a2"},
		event.AssistantMessage{MessageID: "a3", Content: "Not run.", Partial: true},
		event.TurnEnd{TurnID: "t1", MessageID: "m1", Outcome: event.Completed},
		event.SessionIdle{},
		event.SessionShutdown{SessionID: "s1", DurationMs: 60000},
		event.SessionResume{SessionID: "s1", Context: event.Context{Cwd: "/ws"}},
		event.TurnStart{TurnID: "t2", MessageID: "m2"},
	}
	var b strings.Builder
	a := newAutohandDialect()
	for _, e := range logOf(day...) {
		for _, f := range a.Project(e) {
			fmt.Fprintf(&b, "%d %s\n", f.Seq, f.JSON)
		}
	}
	name := filepath.Join("testdata", "dialectautohand.golden")
	if *updateDialect {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	for kind := range dialectTypes {
		if !strings.Contains(b.String(), fmt.Sprintf("%q", kind)) {
			t.Errorf("the golden file has no %s", kind)
		}
	}
}

// randomLog is a log as sessions write them: what starts also ends, in the order
// the contract gives.
func randomLog(t *rapid.T) []event.Data {
	all := []event.Data{event.SessionStart{SessionID: "s"}}
	text := rapid.StringMatching(`[a-zé ]{0,9}`)
	for turn := range rapid.IntRange(0, 4).Draw(t, "turns") {
		id := fmt.Sprintf("t%d", turn)
		all = append(all, event.TurnStart{TurnID: id})
		var running []string
		for step := range rapid.IntRange(0, 12).Draw(t, "steps") {
			call := fmt.Sprintf("%s-%d", id, step)
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				all = append(all, event.AssistantTurnStart{TurnID: call})
			case 1:
				whole := ""
				for range rapid.IntRange(0, 6).Draw(t, "deltas") {
					piece := text.Draw(t, "piece")
					all = append(all, event.AssistantMessageDelta{
						MessageID:    call,
						Offset:       int64(len(whole)),
						DeltaContent: piece,
					})
					whole += piece
				}
				if rapid.Bool().Draw(t, "retried") {
					all = append(all, event.AssistantMessageDiscarded{MessageID: call})
					call += "again"
				}
				all = append(all, event.AssistantMessage{MessageID: call, Content: whole})
			case 2:
				all = append(all, event.ToolExecutionStart{ToolCallID: call, ToolName: "tool-" + call})
				running = append(running, call)
			case 3:
				if len(running) > 0 {
					all = append(all, event.PermissionRequested{
						RequestID:  running[0] + "/" + call,
						ToolCallID: running[0],
					}, event.PermissionCompleted{RequestID: running[0] + "/" + call})
				}
			case 4:
				if len(running) > 0 {
					i := rapid.IntRange(0, len(running)-1).Draw(t, "ends")
					all = append(all, event.ToolExecutionComplete{
						ToolCallID: running[i],
						Success:    true,
						Result:     &event.ToolResult{Content: "r"},
						DurationMs: rapid.Int64Range(0, 1e9).Draw(t, "ms"),
					})
					running = slices.Delete(running, i, i+1)
				}
			case 5:
				all = append(all, event.SessionError{Message: "m"}, event.HookStart{HookID: call},
					event.HookEnd{HookID: call, Event: "before_tool", Command: call})
			}
		}
		for _, call := range running {
			all = append(all, event.ToolExecutionComplete{
				ToolCallID: call,
				Error:      &event.ToolError{Message: "stopped"},
			})
		}
		all = append(all, event.TurnEnd{TurnID: id})
		if rapid.Bool().Draw(t, "rests") {
			all = append(all, event.SessionShutdown{
				SessionID:  "s",
				DurationMs: rapid.Int64Range(0, 1e12).Draw(t, "worked"),
			}, event.SessionResume{SessionID: "s"})
		}
	}
	return append(all, event.SessionShutdown{
		SessionID:  "s",
		DurationMs: rapid.Int64Range(0, 1e12).Draw(t, "life"),
	})
}

// logged is what a log says of the calls, permissions and hooks that frames tell of.
type logged struct {
	took     map[any]float64 // by call, and by the place of a shutdown, in milliseconds
	answered map[any]int64   // by request: the place of the answer
	hooked   map[any]int64   // by command: the place of the end of the hook
}

func indexLog(entries []event.Entry) logged {
	l := logged{map[any]float64{}, map[any]int64{}, map[any]int64{}}
	for _, e := range entries {
		switch d := e.Event.Data.(type) {
		case event.ToolExecutionComplete:
			l.took[d.ToolCallID] = float64(d.DurationMs)
		case event.SessionShutdown:
			l.took[e.Seq] = float64(d.DurationMs)
		case event.PermissionCompleted:
			l.answered[d.RequestID] = e.Seq
		case event.HookEnd:
			l.hooked[d.Command] = e.Seq
		}
	}
	return l
}

// A question comes between the start and the end of its call and before its answer, the
// end of the call after the answer; a hook is reported once, when it has ended; durations are
// the log's milliseconds.
func TestDialectGuaranteesOfConsentHooksAndDurations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := logOf(randomLog(t)...)
		log, open, asked, hooks := indexLog(entries), map[any]bool{}, map[string]int64{}, 0
		for _, f := range tell(t, newAutohandDialect(), entries) {
			id, _ := f.Data["toolId"].(string)
			switch f.Type {
			case "tool_start":
				open[id] = true
			case "permission_request":
				request := f.Data["requestId"].(string)
				call, _, _ := strings.Cut(request, "/")
				if !open[call] || f.Seq >= log.answered[request] {
					t.Fatalf("%v at %d, answered at %d, its call runs: %v", f.Data, f.Seq, log.answered[request],
						open[call])
				}
				asked[call] = max(asked[call], log.answered[request])
			case "tool_end":
				if delete(open, id); f.Seq <= asked[id] || f.Data["duration"] != log.took[id] {
					t.Fatalf("%v at %d, its answer at %d, it took %v", f.Data, f.Seq, asked[id], log.took[id])
				}
			case "session_end":
				if f.Data["duration"] != log.took[f.Seq] {
					t.Fatalf("%v, the agent worked for %v", f.Data, log.took[f.Seq])
				}
			case "hook_invoked":
				if hooks++; f.Seq != log.hooked[f.Data["command"]] {
					t.Fatalf("%v at %d, the hook ended at %d", f.Data, f.Seq, log.hooked[f.Data["command"]])
				}
			}
		}
		if hooks != len(log.hooked) {
			t.Fatalf("%d hooks were told of, not %d", hooks, len(log.hooked))
		}
	})
}

func TestDialectGuarantees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := logOf(randomLog(t)...)
		frames := tell(t, newAutohandDialect(), entries)
		turn, iteration, works := 0, 0, false
		open, ended, texts := map[any]any{}, map[any]bool{}, map[any]string{}
		for i, f := range frames {
			if works == (f.Type == "session_start") || i == len(frames)-1 && f.Type != "session_end" {
				t.Fatalf("%s at %d of %d, the agent works: %v", f.Type, i, len(frames), works)
			}
			works = f.Type != "session_end"
			switch f.Type {
			case "turn_start":
				switch now, it := int(f.Data["turn"].(float64)), int(f.Data["iteration"].(float64)); {
				case now == turn+1 && it == 1, now == turn && it == iteration+1:
					turn, iteration = now, it
				default:
					t.Fatalf("turn %d.%d after %d.%d", now, it, turn, iteration)
				}
			case "tool_start":
				open[f.Data["toolId"]] = f.Data["toolName"]
			case "tool_end":
				id := f.Data["toolId"]
				if open[id] != f.Data["toolName"] || ended[id] {
					t.Fatalf("tool_end of %v, started as %v, ended before %v", f.Data, open[id], ended[id])
				}
				ended[id] = true
			case "message_update":
				id := f.Data["messageId"]
				texts[id] += f.Data["delta"].(string)
				if texts[id] != f.Data["message"] {
					t.Fatalf("deltas %q make no %q", texts[id], f.Data["message"])
				}
			}
		}
		if len(open) != len(ended) {
			t.Fatalf("%d tools started, %d ended", len(open), len(ended))
		}
		resumeAnywhere(t, entries, frames)
	})
}

// resumeAnywhere: a reader that resumes at a place gets the logged events that a reader who stayed
// got after it.
func resumeAnywhere(t *rapid.T, entries []event.Entry, frames []told) {
	after := rapid.Int64Range(0, entries[len(entries)-1].Seq).Draw(t, "after")
	logged := slices.DeleteFunc(slices.Clone(entries), func(e event.Entry) bool {
		return e.Event.Ephemeral
	})
	again := tell(t, newAutohandDialect(), logged)
	count := func(all []told, messages bool) (n int) {
		for _, f := range all {
			if f.Seq > after && (f.Type != "message_update" || messages) {
				n++
			}
		}
		return n
	}
	if count(frames, false) != count(again, false) || count(again, true) > count(frames, true) {
		t.Fatalf("after %d: %d frames live, %d from the log", after, count(frames, true),
			count(again, true))
	}
}

// A long message is sent often enough to follow it, and not once whole for
// each of its pieces.
func TestLongMessagesCostLittle(t *testing.T) {
	const pieces, piece = 20_000, 20
	a, sent, updates := newAutohandDialect(), 0, 0
	for i := range pieces {
		for _, f := range a.Project(logOf(event.AssistantMessageDelta{
			MessageID:    "m",
			Offset:       int64(i * piece),
			DeltaContent: strings.Repeat("x", piece),
		})[0]) {
			sent += len(f.JSON)
			updates++
		}
	}
	if whole := pieces * piece; sent > 64*whole || updates < 100 {
		t.Errorf("%d bytes in %d updates for a message of %d", sent, updates, whole)
	}
}

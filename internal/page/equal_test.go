package page_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"webchat/internal/event"
	"webchat/internal/page"
	"webchat/internal/page/pagetest"
)

// stories are sessions that between them hold every kind of event a page shows.
func stories() map[string][]event.Data {
	run := `{"command":"go test ./internal/..."}`
	s := map[string][]event.Data{
		"prose": join(opening(), event.AssistantTurnStart{TurnID: "0"},
			event.SessionUsageInfo{TokenLimit: 128000, CurrentTokens: 14210, MessagesLength: 2},
			event.AssistantReasoningDelta{ReasoningID: "r1", DeltaContent: "First I "},
			event.AssistantReasoningDelta{ReasoningID: "r1", Offset: 8, DeltaContent: "look."},
			event.AssistantMessageDelta{MessageID: "lost", DeltaContent: "not this"},
			event.AssistantMessageDiscarded{MessageID: "lost"},
			words("a1", answer, 7), event.AssistantReasoning{
				ReasoningID: "r1",
				Content:     "First I look. Then I say.",
			},
			event.AssistantMessage{MessageID: "a1", Content: answer},
			event.AssistantMessage{MessageID: "a1-other", Content: "Not streamed."},
			event.AssistantUsage{Model: "acme/large", InputTokens: 9}, event.AssistantTurnEnd{TurnID: "0"},
			closing(event.Completed)),
		"rewritten": join(opening(), words("a1", "One thing was said", 5),
			event.AssistantMessage{MessageID: "a1", Content: "Another is kept.\n\nTwo blocks."},
			closing(event.Completed)),
		"cut off": join(opening(), words("a1", answer, 40),
			event.Abort{Reason: "the user stopped the turn"},
			event.AssistantMessage{MessageID: "a1", Content: answer[:60], Partial: true},
			closing(event.Aborted)),
		"cards": join(opening(), show("c1", "render_file_contents", `{"path":"go.mod"}`, "out_A",
			`{"outputId":"out_A","outputType":"file","bytes":224,"lines":10,"tokensShown":112,"tokensSent":9}`),
			show("c2", "display_image", `{"path":"docs/logo.png"}`, "out_I",
				`{"outputType":"image","tokensShown":1105,"tokensSent":6}`),
			show("c3", "render_file_contents", `{"path":"bin/relay"}`, "out_X", `{"outputType":"file"}`),
			show("c4", "render_file_contents", `{"path":"internal/guard/guard.go"}`, "out_gone",
				`{"outputType":"file","bytes":6100,"lines":214,"tokensShown":3000,"tokensSent":9,"tokensEstimated":true}`),
			event.OutputDeleted{OutputID: "out_I"}, event.OutputDeleted{OutputID: "out_unknown"},
			event.ToolExecutionStart{
				ToolCallID: "c5",
				ToolName:   "render_file_contents",
				Arguments:  raw(`{"path":"../../etc/passwd"}`),
				By:         event.ByAgent,
			},
			event.ToolExecutionComplete{
				ToolCallID: "c5",
				Error: &event.ToolError{
					Message: "That path leaves the workspace. Nothing was read.",
					Code:    "failure",
				},
				DurationMs: 1,
			},
			closing(event.Completed)),
		"read again": join(opening(), show("c1", "render_file_contents", `{"path":"go.mod"}`, "out_old",
			`{"outputType":"file","bytes":220,"lines":9,"tokensShown":110,"tokensSent":9}`),
			event.OutputReread{
				OutputID:      "out_old",
				NewOutputID:   "out_A",
				ToolTelemetry: raw(`{"outputType":"file","bytes":224,"lines":10,"tokensShown":112}`),
			},
			event.OutputReread{OutputID: "out_unknown", NewOutputID: "out_other"}, closing(event.Completed)),
		"refusals": join(opening(), starts("c1", "bash", `{"command":"make"}`),
			event.ToolExecutionComplete{
				ToolCallID: "c1",
				Success:    true,
				Result:     &event.ToolResult{Content: "no\n(exit 2)"},
			},
			refusal("c1", "/home/me/.bash\u202erc", ""), refusal("c1", "/home/me/.config/relay/last.json",
				"/home/me/.config/relay"),
			show("c2", "run_and_display", run, "out_B", `{"outputType":"terminal"}`),
			refusal("c2", workspace+"/.vscode/tasks.json", workspace+"/.vscode"),
			event.SandboxRefused{
				ToolCallID: "c2",
				What:       "npm.example:4873",
				Kind:       event.RefusedHost,
				Offers:     []event.Offer{event.OfferOutside},
				Probably:   true,
			}, refusal("c2", "/c", "/c"), refusal("c2", "/d", ""),
			refusal("c9", "/e", ""), event.SandboxOpened{
				ID:    "o1",
				Kind:  event.OpenPath,
				What:  "/home/me/.config",
				Scope: event.ForSession,
				By:    event.DecidedByUser,
			},
			event.SandboxOpened{
				ID:    "o2",
				Kind:  event.OpenHost,
				What:  "npm.example:4873",
				Scope: event.Once,
				By:    event.DecidedByUser,
			}, event.SandboxClosed{ID: "o2", By: event.ClosedByEnd}, closing(event.Completed)),
		"command": join(opening(), event.ToolExecutionStart{
			ToolCallID: "c1",
			ToolName:   "run_and_display",
			Arguments:  raw(run),
			By:         event.ByAgent,
		},
			event.HookStart{HookID: "h1", Event: "before_tool", Command: "check.sh"},
			event.HookEnd{
				HookID:     "h1",
				Event:      "before_tool",
				Command:    "check.sh",
				DurationMs: 38,
				Allow:      true,
			},
			allow("p1", "c1", "go test ./internal/..."), event.PermissionCompleted{
				RequestID: "p1",
				Decision:  event.Allow,
				Scope:     event.Once,
				By:        event.DecidedByUser,
			},
			event.ToolExecutionProgress{
				ToolCallID: "c1",
				OutputID:   "out_B",
				Bytes:      512,
				Lines:      9,
				ElapsedMs:  250,
			},
			event.ToolExecutionProgress{
				ToolCallID: "c1",
				OutputID:   "out_B",
				Bytes:      90512,
				Lines:      2000,
				ElapsedMs:  4000,
			},
			event.ToolExecutionComplete{
				ToolCallID: "c1",
				Success:    true,
				Result: &event.ToolResult{
					Content:         "Command completed (exit 1, 2,140 lines)",
					DetailedContent: "1 process was left running",
				},
				ToolTelemetry: raw(
					`{"outputType":"terminal","lines":2140,"tokensShown":31412,"tokensSent":11}`),
				OutputID:   "out_B",
				DurationMs: 4100,
			},
			closing(event.Completed)),
		"refused": join(opening(), event.ToolExecutionStart{
			ToolCallID: "c1",
			ToolName:   "run_and_display",
			Arguments:  raw(run),
			By:         event.ByAgent,
		},
			allow("p1", "c1", "git push origin \u202e x &&\nls"),
			event.PermissionCompleted{
				RequestID: "p1",
				Decision:  event.Deny,
				Reason:    "tests first",
				By:        event.DecidedByUser,
			},
			event.ToolExecutionComplete{
				ToolCallID: "c1",
				Error:      &event.ToolError{Message: "Denied: tests first", Code: "denied"},
			},
			event.ToolExecutionStart{
				ToolCallID: "c2",
				ToolName:   "bash",
				Arguments:  raw(`{"command":"git commit --amend"}`),
				By:         event.ByAgent,
			},
			allow("p2", "c2", "git commit --amend"), event.PermissionCompleted{
				RequestID: "p2",
				Decision:  event.Deny,
				Reason:    "config.yaml line 14",
				By:        event.DecidedByRule,
			},
			event.ToolExecutionComplete{
				ToolCallID: "c2",
				Error:      &event.ToolError{Message: "Denied", Code: "denied"},
			},
			allow("p3", "", "curl x"), event.PermissionCompleted{
				RequestID: "p3",
				Decision:  event.Deny,
				By:        event.DecidedByTimeout,
			},
			allow("p4", "c-none", "ls"), event.PermissionCompleted{
				RequestID: "p4",
				Decision:  event.Allow,
				By:        event.DecidedByMode,
			},
			event.PermissionRequested{
				RequestID: "p5",
				Kind:      "write",
				Action:    "write a file",
				Resource:  "a.go",
				Diff:      "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-x\n+y\n",
			},
			event.PermissionCompleted{RequestID: "p5", Decision: event.Deny, By: event.DecidedByAbort},
			closing(event.Aborted)),
		"steps": join(opening(), manySteps(9), event.AssistantMessage{
			MessageID: "a1",
			Content:   "Done.",
		}, step("c20", "grep", `{"pattern":"x","glob":"**/*.go"}`), closing(event.Completed)),
		"questions": join(opening(), event.UserInputRequested{
			RequestID:     "q1",
			Question:      "Which colour?",
			Choices:       []string{"red", "blue"},
			AllowFreeform: true,
		}, event.UserInputCompleted{
			RequestID: "q1",
			Answer:    "red",
		}, event.UserInputRequested{
			RequestID: "q2",
			Question:  "Sure?",
			Detail:    "# Plan\n\n1. <b>this</b>\n2. that",
		}, event.UserInputCompleted{RequestID: "q2", By: event.DecidedByAbort}, closing(event.Aborted)),
		"helpers": join(opening(), event.ToolExecutionStart{
			ToolCallID: "c1",
			ToolName:   "task",
			Arguments:  raw(`{"prompt":"look around"}`),
			By:         event.ByAgent,
		},
			event.SubagentSelected{ToolCallID: "c1", AgentName: "explorer"},
			event.SubagentStarted{ToolCallID: "c1", AgentName: "explorer"},
			event.ToolExecutionStart{
				ToolCallID:       "c2",
				ToolName:         "grep",
				Arguments:        raw(`{"pattern":"x"}`),
				By:               event.ByAgent,
				ParentToolCallID: "c1",
			},
			event.ToolExecutionPartialResult{ToolCallID: "c2", PartialOutput: "a.go:1: x\n"},
			event.AssistantMessageDelta{MessageID: "s1", DeltaContent: "Inner ", ParentToolCallID: "c1"},
			event.ToolExecutionComplete{
				ToolCallID: "c2",
				Success:    true,
				Result:     &event.ToolResult{Content: "1 hit"},
				DurationMs: 12,
			},
			event.AssistantMessage{MessageID: "s1", Content: "Inner words.", ParentToolCallID: "c1"},
			event.SubagentCompleted{ToolCallID: "c1", AgentName: "explorer"},
			event.ToolExecutionComplete{
				ToolCallID: "c1",
				Success:    true,
				Result:     &event.ToolResult{Content: "ok"},
				DurationMs: 900,
			},
			event.SubagentStarted{ToolCallID: "c9", AgentName: "lost"},
			event.SubagentFailed{ToolCallID: "c9", AgentName: "lost", Error: "out of context"},
			closing(event.Completed)),
		"notes": join(opening(), event.SessionCompactionStart{}, event.SessionCompactionComplete{},
			event.SessionTruncation{}, event.SessionModelChange{NewModel: "acme/small"},
			event.SessionModelChange{NewModel: "acme/small", Effort: "high"},
			event.SessionModeChanged{Mode: "plan", Name: "Plan"},
			event.SessionModeChanged{Mode: "wild <b>", Unasked: true}, event.SessionModeChanged{},
			event.SessionTodosChanged{Todos: []event.Todo{{Text: "read <i>it</i>", Status: event.TodoDone},
				{Text: "mend it", Status: event.TodoDoing}, {Text: "try it", Status: event.TodoPending}}},
			event.SessionError{
				Message:    "The provider answered 500: busy. It may be tried again, 1 of 5.",
				ErrorType:  "warning",
				Kind:       event.KindRetrying,
				StatusCode: 500,
				Waits:      true,
			},
			event.SessionError{
				Message:    "The provider answered 500: busy. Trying again, 2 of 5.",
				ErrorType:  "warning",
				Kind:       event.KindRetrying,
				StatusCode: 500,
			},
			event.SessionError{
				Message:    "acme/large answered 429: over its rate.",
				ErrorType:  "rate_limit",
				StatusCode: 429,
			}, closing(event.Failed),
			event.SessionError{
				Message:   "copilot ended (exit 137). Your session is safe.",
				ErrorType: "agent_died",
			}, event.SessionResume{SessionID: "s1", Backend: "copilot"}, event.SessionShutdown{}),
		"rewound": join(opening(), event.AssistantTurnStart{TurnID: "1", PromptID: "e1"},
			event.AssistantMessage{MessageID: "a1", Content: "First."}, closing(event.Completed),
			event.SessionRewound{ToMessageID: "m1", After: 1},
			event.UserMessage{MessageID: "m2", Content: "instead"},
			event.TurnStart{TurnID: "t2", MessageID: "m2"},
			event.AssistantMessage{MessageID: "a2", Content: "Second."},
			event.TurnEnd{TurnID: "t2", MessageID: "m2", Outcome: event.Completed},
			event.SessionRewound{
				ToMessageID: "m2",
				After:       8,
				Files:       &event.FilesRewound{ID: "f", Written: 1},
			}, event.SessionRewound{
				ToMessageID: "m2",
				After:       8,
				Undoes:      13,
			}, event.SessionRewound{
				TurnID:    "t2",
				After:     9,
				FilesOnly: true,
				Files:     &event.FilesRewound{ID: "g"},
			},
			event.SessionRewound{TurnID: "t2", After: 9, FilesOnly: true, Undoes: 15},
			event.SessionRewound{TurnID: "t1", After: 1, FilesOnly: true}),
		"branched": join(opening(), closing(event.Completed),
			event.SessionBranched{From: "s0", MessageID: "m9", Title: "where <i>it</i> began"}),
		"damaged": join(opening(), event.SessionDamaged{Copy: "damaged-events/<b>.jsonl"},
			event.SessionDamaged{Copy: "damaged-events/<b>.jsonl"},
			event.AssistantMessage{MessageID: "a1", Content: "Words."}, event.SessionDamaged{},
			closing(event.Completed)),
		"queue": join(opening(), event.UserMessage{
			MessageID: "m2",
			Content:   "and then <b>this</b>\nא",
			Attachments: []event.Attachment{{Path: "a.md"},
				{OutputID: "out_A", Lines: "1-4", Name: "go.mod"}},
		},
			words("a1", "First.", 3), event.UserMessage{MessageID: "m3", Content: "faster"},
			event.AssistantMessage{MessageID: "a1", Content: "First."},
			event.TurnEnd{
				TurnID:    "t1",
				MessageID: "m1",
				Outcome:   event.Interrupted,
				Steered:   []string{"m3"},
			}, event.TurnStart{TurnID: "t2", MessageID: "m2"},
			event.AssistantMessage{MessageID: "a2", Content: "Second."},
			event.TurnEnd{TurnID: "t2", MessageID: "m2", Outcome: event.Completed}),
		"waiting": join(opening(), event.UserMessage{MessageID: "m2", Content: "and <b>this</b>"},
			event.UserMessage{MessageID: "m3", Content: "never"},
			event.UserMessageWithdrawn{MessageID: "m2", As: "m4"},
			event.UserMessage{MessageID: "m4", Content: "edited"},
			event.UserMessageWithdrawn{MessageID: "m3"}, event.Abort{
				Reason: "Stopped by the user.",
				By:     event.DecidedByUser,
			}, closing(event.Aborted), event.SessionShutdown{},
			event.SessionResume{SessionID: "s1", Backend: "copilot"},
			event.TurnStart{TurnID: "t2", MessageID: "m4"},
			event.TurnEnd{TurnID: "t2", MessageID: "m4", Outcome: event.Completed}),
		"background": join(opening(), event.ToolExecutionStart{
			ToolCallID: "c1",
			ToolName:   "bash",
			Arguments:  raw(`{"command":"npm run dev"}`),
			By:         event.ByAgent,
		},
			event.ToolExecutionComplete{
				ToolCallID: "c1",
				Success:    true,
				Result:     &event.ToolResult{Content: "started"},
				DurationMs: 12,
			},
			event.TaskStarted{
				TaskID:     "c1",
				Kind:       event.ShellTask,
				Title:      "npm run <b>dev</b>",
				ToolCallID: "c1",
			}, event.TaskOutput{TaskID: "c1", Text: "rea"},
			closing(event.Completed), event.TaskStarted{
				TaskID: "c2",
				Kind:   event.AgentTask,
				Title:  "look around",
			}, event.TaskOutput{TaskID: "c1", Text: "dy <i>\n"},
			event.TaskCompleted{TaskID: "c2", Outcome: event.Aborted, Usage: event.Usage{OutputTokens: 5}},
			event.TaskCompleted{TaskID: "c1", Outcome: event.Completed, ExitCode: new(int)},
			event.TurnStart{TurnID: "t2", By: event.ByAgent, Cause: "The background command ended."},
			words("a2", "It ended.", 3), event.AssistantMessage{MessageID: "a2", Content: "It ended."},
			event.TurnEnd{TurnID: "t2", Outcome: event.Completed}),
		"large": join(opening(), step("c0", "grep", `{"pattern":"x"}`),
			event.ToolExecutionStart{
				ToolCallID: "c1",
				ToolName:   "bash",
				Arguments:  raw(`{"command":"seq 1 20000"}`),
				By:         event.ByAgent,
			},
			event.ToolExecutionPartialResult{ToolCallID: "c1", PartialOutput: "1\n2\n"},
			event.ToolExecutionProgress{ToolCallID: "c1", OutputID: "out_B", Bytes: 108894},
			event.ToolExecutionComplete{
				ToolCallID: "c1",
				Success:    true,
				Result: &event.ToolResult{Content: "Too large to read at once: 20,000 lines, 109 kB. " +
					"The user sees all of it.\n\nPreview:\n1\n2\n"},
				ToolTelemetry: raw(`{"exitCode":0,"outputId":"out_B","outputType":"terminal"}`),
				OutputID:      "out_B",
				DurationMs:    41,
			}, closing(event.Completed)),
		"own": join(opening()[:1], event.ToolExecutionStart{
			ToolCallID: "u1",
			ToolName:   "render_file_contents",
			Arguments:  raw(`{"path":"internal/pump/pump.go"}`),
			By:         event.ByUser,
		},
			event.ToolExecutionProgress{ToolCallID: "u1", OutputID: "out_L", Bytes: 512, Lines: 9},
			event.ToolExecutionComplete{
				ToolCallID:    "u1",
				Success:       true,
				Result:        &event.ToolResult{Content: "Displayed pump.go to user (214 lines)"},
				OutputID:      "out_L",
				ToolTelemetry: raw(`{"outputType":"file","tokensShown":3412,"tokensSent":9}`),
				DurationMs:    2,
			},
			event.ToolExecutionStart{
				ToolCallID: "u2",
				ToolName:   "run_and_display",
				Arguments:  raw(run),
				By:         event.ByUser,
			},
			event.ToolExecutionProgress{ToolCallID: "u2", OutputID: "out_B", Lines: 1},
			event.ToolExecutionComplete{
				ToolCallID: "u2",
				Error:      &event.ToolError{Message: "stopped after 0:14", Code: "aborted"},
				OutputID:   "out_B",
				DurationMs: 14000,
			}),
		"odd ids": join(opening(), step("call <1> \"x\" ü", "web/tool name", `[1,2]`),
			step("", "nothing", `null`), event.AssistantMessage{MessageID: "a b'c", Content: "x"},
			closing(event.Completed)),
	}
	for i := range 5 {
		m := fmt.Sprint("m", i)
		s["long"] = append(s["long"], join(event.UserMessage{
			MessageID: m,
			Content:   strings.Repeat("a line\n", 6),
		}, event.TurnStart{TurnID: m, MessageID: m}, words("a"+m, "Words "+m, 4),
			event.AssistantMessage{MessageID: "a" + m, Content: "Words " + m},
			event.TurnEnd{TurnID: m, MessageID: m, Outcome: event.Completed})...)
	}
	maps.Copy(s, answers())
	maps.Copy(s, questions())
	return s
}

func manySteps(n int) []event.Data {
	var out []event.Data
	for i := range n {
		out = append(out, step(fmt.Sprint("s", i), "view",
			fmt.Sprintf(`{"path":"f%d.go","view_range":[49,74]}`, i))...)
	}
	return out
}

func wholePage(t *testing.T, p *page.Pages, pr *page.Projector) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Session(&b, page.View{}, pr); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func eachStory(t *testing.T, check func(t *testing.T, p *page.Pages, entries []event.Entry)) {
	all := stories()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) { check(t, pages(t, 3), newLog().add(all[name]...).entries) })
	}
}

// moment is a session after some of its events, as a reload has it.
type moment struct {
	pr    *page.Projector
	state string // of its page
}

// moments are those after each of the events, and before the first.
func moments(t *testing.T, p *page.Pages, entries []event.Entry) []moment {
	t.Helper()
	at := make([]moment, len(entries)+1)
	for j := range at {
		pr := p.Projector("s1")
		pr.Load(entries[:j]...)
		at[j] = moment{pr, pagetest.Parse(t, wholePage(t, p, pr)).State()}
	}
	return at
}

// After every frame, whatever was in it, the page is the one a reload gives; and so it is when it
// stopped listening anywhere and comes back anywhere later, also when it saw things that are not
// logged.
func TestStreamEqualsReload(t *testing.T) {
	eachStory(t, func(t *testing.T, p *page.Pages, entries []event.Entry) {
		at := moments(t, p, entries)
		for _, size := range []int{1, 4, 1000} {
			t.Run(fmt.Sprint("batches of ", size), func(t *testing.T) {
				streamsAsReloads(t, p, entries, at, size)
			})
		}
		t.Run("join from anywhere", func(t *testing.T) { joinsAsReloads(t, p, entries, at) })
	})
}

func streamsAsReloads(t *testing.T, p *page.Pages, entries []event.Entry, at []moment, size int) {
	pr := p.Projector("s1")
	d := pagetest.Parse(t, wholePage(t, p, pr))
	seen := 0
	for batch := range slices.Chunk(entries, size) {
		seen += len(batch)
		if f, ok := pr.Feed(batch...); ok {
			d.Apply(f.Data())
			if f.Seq != batch[len(batch)-1].Seq {
				t.Errorf("frame has seq %d, the batch %d", f.Seq, batch[len(batch)-1].Seq)
			}
		}
		if got := d.State(); got != at[seen].state {
			t.Fatalf("after %s (-reload +stream):\n%s", batch[len(batch)-1].Event.Type(),
				cmp.Diff(strings.Split(at[seen].state, "\n"), strings.Split(got, "\n")))
		}
	}
	if got := pagetest.Parse(t, wholePage(t, p, pr)).State(); got != at[seen].state {
		t.Errorf("a page of what was streamed (-reload +page):\n%s",
			cmp.Diff(strings.Split(at[seen].state, "\n"), strings.Split(got, "\n")))
	}
}

func joinsAsReloads(t *testing.T, p *page.Pages, entries []event.Entry, at []moment) {
	reader := p.Projector("s1") // stops after i events
	reading := pagetest.Parse(t, wholePage(t, p, reader))
	for i := range entries {
		after := reader.Seq()
		for _, j := range []int{i, i + 1, i + 5, len(entries)} {
			// Those who come back late are tried from every third place: each costs a page.
			if j > len(entries) || j > i+1 && i%3 != 0 {
				continue
			}
			back := reading.Clone()
			f, _ := at[j].pr.Join(after)
			back.Apply(f.Data())
			if got := back.State(); got != at[j].state {
				t.Fatalf("left after %d, back after %d, place %d (-reload +join):\n%s", i, j, after,
					cmp.Diff(strings.Split(at[j].state, "\n"), strings.Split(got, "\n")))
			}
		}
		if f, ok := reader.Feed(entries[i]); ok {
			reading.Apply(f.Data())
		}
	}
}

package copilot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/session"
)

// await returns when the log of s holds an event for which seen is true, with all
// events of the log until then.
func (h *house) await(s *session.Session, what string, seen func(event.Data) bool) []event.Data {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 30*time.Second)
	defer cancel()
	live := s.Subscribe()
	defer live.Close()
	for {
		var all []event.Data
		entries, err := s.Events(ctx, 0, 5000)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, e := range entries {
			if all = append(all, e.Event.Data); seen(e.Event.Data) {
				return all
			}
		}
		if _, err := live.Next(ctx); err != nil {
			h.t.Fatalf("%s did not come: %v", what, err)
		}
	}
}

// bash is a prompt upon which the scripted model has a command run in the background.
func bash(command, more string) string {
	b, _ := json.Marshal(command)
	return `call bash {"command":` + string(b) + `,"description":"work","mode":"async"` + more + `}`
}

// A turn ends while a command it left runs; the command is a task that reports what it
// prints, outlives a stop of a turn and ends with its whole tree when it is stopped,
// also where there is no program pgrep.
func TestRealBackgroundCommand(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "pgrep"), []byte("#!/bin/sh\nexit 127\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, func(c *copilot.Config) {
		c.Env = append([]string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")},
			c.Env...)
	})
	for name, more := range map[string]string{"attached": "", "detached": `,"detach":true`} {
		t.Run(name, func(t *testing.T) {
			s := h.session()
			pids := filepath.Join(t.TempDir(), "pids")
			if r := h.ask(s, bash(`sleep 600 & echo $! > `+pids+`; echo "it runs"; wait`,
				more)); r.Error != "" {
				t.Fatal(r.Error)
			}
			h.await(s, "the task", func(d event.Data) bool { _, ok := d.(event.TaskStarted); return ok })
			h.until("its output", func() bool {
				return len(s.Tasks()) == 1 && strings.Contains(s.Tasks()[0].Output, "it runs")
			})
			task := s.Tasks()[0]
			if !strings.Contains(task.Title, "sleep 600") || task.Kind != event.ShellTask ||
				task.ToolCallID == "" {
				t.Errorf("the task is %+v", task)
			}
			if r := h.ask(s, "hello there"); r.Content != "You said: hello there" {
				t.Errorf("the next prompt is answered by %+v", r)
			}
			id, err := s.Send(t.Context(), session.Message{Content: "talk"})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Abort(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			if r, err := s.WaitTurn(t.Context(), id); err != nil || r.Outcome != event.Aborted ||
				len(s.Tasks()) != 1 {
				t.Errorf("after a stop: %+v, %v, tasks %v", r, err, s.Tasks())
			}
			if err := s.AbortTask(t.Context(), task.TaskID); err != nil {
				t.Fatal(err)
			}
			h.await(s, "its end", func(d event.Data) bool {
				e, ok := d.(event.TaskCompleted)
				return ok && e.Outcome == event.Aborted
			})
			h.gone(pids)
			if err := s.AbortTask(t.Context(), task.TaskID); err == nil {
				t.Error("a task that has ended can be ended")
			}
		})
	}
}

// A command that the agent detaches is one in the background as well: nothing of it lies in the
// folder for temporary files.
func TestRealDetachedCommandStays(t *testing.T) {
	temp := t.TempDir()
	h := newHouse(t, func(c *copilot.Config) { c.Env = append(c.Env, "TMPDIR="+temp) })
	s := h.session()
	if r := h.ask(s, bash(`sleep 600 & echo canary40ce; wait`, `,"detach":true`)); r.Error != "" {
		t.Fatal(r.Error)
	}
	h.until("its output", func() bool {
		return len(s.Tasks()) == 1 && strings.Contains(s.Tasks()[0].Output, "canary40ce")
	})
	if left, err := filepath.Glob(filepath.Join(temp, "copilot-detached-*")); err != nil ||
		len(left) > 0 {
		t.Errorf("its files are %q, %v", left, err)
	}
}

// until waits for a condition that the program's own processes make true.
func (h *house) until(what string, is func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("%s did not come", what)
		}
	}
}

// gone waits for the end of the process whose id is in a file.
func (h *house) gone(file string) {
	h.t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		h.t.Fatal(err)
	}
	pid := strings.TrimSpace(string(raw))
	h.until("the end of process "+pid, func() bool {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

// When a command in the background ends the agent goes on by itself: that is a turn
// of the log, in which tools work and permission is asked, and the next prompt waits
// for it.
func TestRealOwnTurn(t *testing.T) {
	h := newHouse(t, nil)
	h.model.Answer(func(r copilottest.Request) *copilottest.Reply {
		switch last := r.Messages[len(r.Messages)-1]; {
		case last.Role == "tool" && strings.Contains(last.Content, "completed with exit code 3"):
			return &copilottest.Reply{Text: "It ended.", Calls: []copilottest.Call{{
				Tool:      "run_and_display",
				Arguments: `{"command":"echo looked"}`,
			}}}
		case strings.Contains(last.Content, "Command completed"):
			return &copilottest.Reply{Text: "All is well."}
		}
		return nil
	})
	s := h.session()
	gate := filepath.Join(t.TempDir(), "gate")
	h.ask(s, bash("while ! test -e "+gate+"; do sleep 0.05; done; exit 3", ""))
	h.await(s, "the task", func(d event.Data) bool { _, ok := d.(event.TaskStarted); return ok })
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all := h.await(s, "the end of the agent's own turn", func(d event.Data) bool {
		e, ok := d.(event.TurnEnd)
		return ok && e.MessageID == ""
	})
	var said, tools []string
	own, exit, usage := event.TurnStart{}, -1, event.Usage{}
	for _, d := range all {
		switch d := d.(type) {
		case event.TurnStart:
			own = d
		case event.AssistantMessage:
			said = append(said, d.Content)
		case event.ToolExecutionComplete:
			tools = append(tools, fmt.Sprint(d.Success))
		case event.TaskCompleted:
			if d.ExitCode != nil { // else it was ended
				exit = *d.ExitCode
			}
		case event.TurnEnd:
			usage = d.Usage
		}
	}
	if !own.Own() || !strings.Contains(own.Cause, "work") || exit != 3 || usage.Calls != 2 ||
		!slices.Contains(said, "All is well.") || slices.Contains(tools, "false") {
		t.Errorf("own turn %+v, exit code %d, usage %+v, said %q, tools %v", own, exit, usage, said,
			tools)
	}
	if r := h.ask(s, "hello there"); r.Content != "You said: hello there" {
		t.Errorf("the next prompt is answered by %+v", r)
	}
	if got, want := s.Summary().Usage.Calls, int64(len(h.model.Requests())); got != want {
		t.Errorf("the ledger has %d calls of the model, there were %d", got, want)
	}
}

// A helper in the background works beside the turns: it is a task, its commands are
// asked about and its calls of tools are answered while no turn runs, and its model
// calls are counted.
func TestRealBackgroundHelper(t *testing.T) {
	h := newHouse(t, nil)
	gate := filepath.Join(t.TempDir(), "gate")
	h.model.Answer(func(r copilottest.Request) *copilottest.Reply {
		switch last := r.Messages[len(r.Messages)-1]; {
		case last.Role == "user" && r.Prompt() == "HELPER":
			return &copilottest.Reply{Calls: []copilottest.Call{{
				Tool: "bash",
				Arguments: `{"command":"while ! test -e ` + gate +
					`; do sleep 0.05; done; echo passed","description":"wait"}`,
			}}}
		case last.Role == "tool" && strings.HasPrefix(last.Content, "passed"):
			return &copilottest.Reply{Calls: []copilottest.Call{{
				Tool:      "run_and_display",
				Arguments: `{"command":"echo shown"}`,
			}}}
		case strings.Contains(last.Content, "Command completed"):
			return &copilottest.Reply{Text: "The helper is done."}
		}
		return nil
	})
	s := h.session()
	if r := h.ask(s,
		`call task {"description":"look around","prompt":"HELPER","agent_type":"general-purpose","mode":"background","name":"h1"}`); r.Error != "" {
		t.Fatal(r.Error)
	}
	h.until("the helper", func() bool { return len(s.Tasks()) == 1 })
	if task := s.Tasks()[0]; task.Kind != event.AgentTask || task.Title != "look around" {
		t.Errorf("the task is %+v", task)
	}
	if r := h.ask(s, "hello there"); r.Content != "You said: hello there" {
		t.Errorf("a prompt beside the helper is answered by %+v", r)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all := h.await(s, "the end of the agent's own turn", func(d event.Data) bool {
		e, ok := d.(event.TurnEnd)
		return ok && e.MessageID == ""
	})
	var inner, bad []string
	ended := 0
	for _, d := range all {
		switch d := d.(type) {
		case event.ToolExecutionStart:
			if d.ParentToolCallID != "" {
				inner = append(inner, d.ToolName)
			}
		case event.ToolExecutionComplete:
			if !d.Success {
				bad = append(bad, d.Error.Message)
			}
		case event.TaskCompleted:
			ended++
		}
	}
	if !slices.Equal(inner, []string{"bash", "run_and_display"}) || len(bad) > 0 || ended != 1 {
		t.Errorf("the helper called %q, failures %q, ends of tasks %d", inner, bad, ended)
	}
	h.ask(s, "hello again")
	if got, want := s.Summary().Usage.Calls, int64(len(h.model.Requests())); got != want {
		t.Errorf("the ledger has %d calls of the model, there were %d", got, want)
	}
}

// Sessions that are left for a while cost no process, and go on with their memory.
func TestRealIdleSessionsRest(t *testing.T) { rest(t, 2, 50*time.Millisecond) }

// Thirty of them do as well.
func TestRealIdleSessionsSoak(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: set WEBCHAT_SOAK to a seed")
	}
	rest(t, 30, 3*time.Second)
	t.Log("soak: 30 sessions left alone cost no process, and each goes on with its memory")
}

// rest uses so many sessions, and leaves them until they rest.
func rest(t *testing.T, many int, idle time.Duration) {
	h := newHouseResting(t, t.TempDir(), consent.ModeAllow, alone, idle)
	used := map[*session.Session]string{}
	for i := range many {
		s, word := h.session(), fmt.Sprintf("remember fruit%dfruit", i)
		h.ask(s, word)
		used[s] = word
	}
	h.until("the end of the process", func() bool { return copilot.PID(h.backend) == 0 })
	for s, word := range used {
		if r := h.ask(s, "go on"); r.Error != "" {
			t.Error(r.Error)
		}
		requests := h.model.Requests()
		if last := requests[len(requests)-1]; !strings.Contains(string(last.Body), word) {
			t.Errorf("a session that rested has forgotten %q", word)
		}
		entries, err := s.Events(t.Context(), 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if d, ok := e.Event.Data.(event.SessionError); ok {
				t.Errorf("it says %q", d.Message)
			}
		}
	}
}

// What a command printed is in the log once, and without what the CLI adds to it.
func TestRealCommandIsLoggedOnce(t *testing.T) {
	h := newHouse(t, nil)
	s := h.session()
	h.ask(s, `call bash {"command":"echo printed; exit 3","description":"look"}`)
	done := event.ToolExecutionComplete{}
	h.await(s, "the result", func(d event.Data) bool {
		x, ok := d.(event.ToolExecutionComplete)
		if ok {
			done = x
		}
		return ok
	})
	if done.Result == nil || strings.TrimSpace(done.Result.Content) != "printed" ||
		done.Result.DetailedContent != "" || !strings.Contains(string(done.ToolTelemetry),
		`"exitCode":3`) {
		t.Errorf("it is logged as %+v with %s", done.Result, done.ToolTelemetry)
	}
}

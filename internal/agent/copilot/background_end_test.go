package copilot_test

import (
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/event"
	"webchat/internal/session"
)

// A command and a helper in the background end when everything is stopped, and when the
// CLI is killed: nothing of them runs on, each is closed in the log, and the session goes on.
func TestRealBackgroundEnds(t *testing.T) {
	for name, end := range map[string]struct {
		with func(*copilot.Config)
		by   func(*house, *session.Session) error
		how  event.Outcome
	}{
		"everything is stopped": {nil, func(h *house, s *session.Session) error {
			return s.AbortTasks(h.t.Context())
		}, event.Aborted},
		"the CLI is killed": {alone, func(h *house, _ *session.Session) error {
			kill(h.t, copilot.PID(h.backend))
			return nil
		}, event.Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, end.with)
			shell, helper := filepath.Join(t.TempDir(), "shell"), filepath.Join(t.TempDir(), "helper")
			h.model.Answer(func(r copilottest.Request) *copilottest.Reply {
				if last := r.Messages[len(r.Messages)-1]; last.Role == "user" && r.Prompt() == "HELPER" {
					return &copilottest.Reply{Calls: []copilottest.Call{{
						Tool:      "bash",
						Arguments: `{"command":"sleep 600 & echo $! > ` + helper + `; wait","description":"wait"}`,
					}}}
				}
				return nil
			})
			s := h.session()
			h.ask(s, bash(`sleep 600 & echo $! > `+shell+`; wait`, ""))
			h.ask(s, `call task {"description":"look around","prompt":"HELPER","agent_type":"general-purpose","mode":"background","name":"h1"}`)
			h.until("both", func() bool {
				pid, err := os.ReadFile(helper)
				return err == nil && len(pid) > 0 && len(s.Tasks()) == 2
			})
			if err := end.by(h, s); err != nil {
				t.Fatal(err)
			}
			h.until("the end of the tasks", func() bool { return len(s.Tasks()) == 0 })
			h.gone(shell)
			h.gone(helper)
			if r := h.ask(s, "hello there"); r.Error != "" || r.Content != "You said: hello there" {
				t.Errorf("the next prompt is answered by %+v", r)
			}
			open := map[string]bool{}
			for _, d := range h.sofar(s) {
				switch d := d.(type) {
				case event.ToolExecutionStart:
					open[d.ToolCallID] = true
				case event.ToolExecutionComplete:
					delete(open, d.ToolCallID)
				case event.TaskStarted:
					open["task "+d.TaskID] = true
				case event.TaskCompleted:
					if delete(open, "task "+d.TaskID); d.Outcome != end.how {
						t.Errorf("a task ended as %s, not %s", d.Outcome, end.how)
					}
				}
			}
			if len(open) > 0 {
				t.Errorf("the log leaves open %v", open)
			}
		})
	}
}

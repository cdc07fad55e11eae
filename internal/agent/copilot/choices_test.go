package copilot_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/session"
)

// answer answers the next question of a session and returns it.
func (h *house) answer(s *session.Session, text string) (asked event.UserInputRequested) {
	h.t.Helper()
	answered := map[string]bool{}
	for _, d := range h.sofar(s) {
		if c, ok := d.(event.UserInputCompleted); ok {
			answered[c.RequestID] = true
		}
	}
	h.await(s, "a question", func(d event.Data) bool {
		q, ok := d.(event.UserInputRequested)
		if ok {
			asked = q
		}
		return ok && !answered[q.RequestID]
	})
	if err := s.Answer(h.t.Context(), asked.RequestID, text); err != nil {
		h.t.Fatal(err)
	}
	return asked
}

// sofar is what a session's log holds.
func (h *house) sofar(s *session.Session) (all []event.Data) {
	h.t.Helper()
	for {
		entries, err := s.Events(h.t.Context(), int64(len(all)), 5000)
		if err != nil {
			h.t.Fatal(err)
		}
		if len(entries) == 0 {
			return all
		}
		for _, e := range entries {
			all = append(all, e.Event.Data)
		}
	}
}

var planFile = regexp.MustCompile(`Save the plan to: (\S+?plan\.md)`)

// planning is a model in plan mode: it changes a file of the workspace, writes a plan and
// asks for its approval until it has that, and then changes the file.
func planning(file string) func(copilottest.Request) *copilottest.Reply {
	where := ""
	create := func(name, text string) *copilottest.Reply {
		return &copilottest.Reply{Calls: []copilottest.Call{{Tool: "create", Arguments: `{"path":"` +
			name + `","file_text":"` + text + `"}`}}}
	}
	return func(r copilottest.Request) *copilottest.Reply {
		last := r.Messages[len(r.Messages)-1].Content
		if strings.HasPrefix(last, "<mode_changed_notice>") {
			last = r.Messages[len(r.Messages)-2].Content
		}
		if m := planFile.FindStringSubmatch(strings.ReplaceAll(last, `\n`, " ")); m != nil {
			where = m[1]
		}
		switch {
		case strings.Contains(last, "plan it"):
			return create(file, "too early")
		case strings.Contains(last, "was blocked"):
			return create(where, `# The plan\n\n1. first **thing**`)
		case strings.Contains(last, "Created file "+where), strings.Contains(last, "not approved"):
			return &copilottest.Reply{Calls: []copilottest.Call{{
				Tool:      "exit_plan_mode",
				Arguments: `{"summary":"one thing"}`,
			}}}
		case strings.Contains(last, "Plan approved"):
			return create(file, "in time")
		}
		return nil
	}
}

// A plan is shown before it is carried out: what the user wants changed goes back to the
// agent, and nothing of the workspace changes before they approve.
func TestRealPlan(t *testing.T) {
	h := newHouseIn(t, t.TempDir(), consent.ModeAsk, nil)
	made := filepath.Join(h.dir, "made.txt")
	h.model.Answer(planning(made))
	s := h.session()
	if modes := s.Choices(t.Context()).Modes; len(modes) != 2 || modes[0].ID != "interactive" ||
		modes[1].ID != "plan" {
		t.Errorf("the modes to choose from are %+v", modes)
	}
	if err := s.SetMode(t.Context(), "plan"); err != nil {
		t.Fatal(err)
	}
	id, err := s.Send(t.Context(), session.Message{Content: "plan it"})
	if err != nil {
		t.Fatal(err)
	}
	asked := h.answer(s, "make it shorter")
	if _, err := os.Stat(made); err == nil {
		t.Error("the workspace was changed before the plan was approved")
	}
	if got := s.Choices(t.Context()).Mode; got != "plan" {
		t.Errorf("without approval the mode is %q", got)
	}
	h.answer(s, "make it shorter again")
	h.answer(s, "Carry it out")
	h.await(s, "the question about the file", func(d event.Data) bool {
		p, ok := d.(event.PermissionRequested)
		if ok && p.Resource != made {
			t.Errorf("asked about %q", p.Resource)
		}
		if ok {
			err = s.Decide(t.Context(), p.RequestID, consent.Decision{Decision: event.Allow})
		}
		return ok
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.WaitTurn(t.Context(), id); err != nil || r.Error != "" {
		t.Errorf("the turn ended with %v, %q", err, r.Error)
	}
	if b, err := os.ReadFile(made); err != nil || string(b) != "in time" {
		t.Errorf("the plan was not carried out: %q, %v", b, err)
	}
	if d := asked; d.Detail != "# The plan\n\n1. first **thing**" ||
		!slices.Equal(d.Choices, []string{"Carry it out", "Leave plan mode and wait"}) ||
		d.ToolCallID == "" {
		t.Errorf("asked %+v", d)
	}
	if got := s.Choices(t.Context()).Mode; got != "interactive" {
		t.Errorf("with the approval the mode is %q", got)
	}
	h.mustSend("make it shorter", true)
}

// Where everything is allowed a plan may be carried out on autopilot, and autopilot may be
// chosen; the log says that the agent acts without asking.
func TestRealAutopilot(t *testing.T) {
	h := newHouse(t, nil)
	h.model.Answer(planning(filepath.Join(h.dir, "made.txt")))
	s := h.session()
	if err := s.SetMode(t.Context(), "plan"); err != nil {
		t.Fatal(err)
	}
	id, err := s.Send(t.Context(), session.Message{Content: "plan it"})
	if err != nil {
		t.Fatal(err)
	}
	const alone = "Carry it out on autopilot, without asking me"
	if asked := h.answer(s, alone); !slices.Contains(asked.Choices, alone) {
		t.Errorf("asked %+v", asked)
	}
	h.await(s, "the change of the mode", func(d event.Data) bool {
		m, ok := d.(event.SessionModeChanged)
		return ok && m.Mode == "autopilot" && m.Unasked
	})
	if _, err := s.WaitTurn(t.Context(), id); err != nil {
		t.Error(err)
	}
	h.model.Answer(nil)
	if err := s.SetMode(t.Context(), "interactive"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetMode(t.Context(), "autopilot"); err != nil {
		t.Fatal(err)
	}
	if r := h.ask(s, `call task_complete {"summary":"all is done"}`); r.Error != "" {
		t.Error(r.Error)
	}
}

// The agent's list is what its table holds, in the log at each change.
func TestRealTodos(t *testing.T) {
	h := newHouse(t, nil)
	s := h.session()
	for _, query := range []string{
		"INSERT INTO todos (id, title, status) VALUES ('a', 'read', 'done'), ('b', 'write', " +
			"'in_progress'), ('c', 'try', 'pending'), ('d', 'ship', 'blocked')",
		"UPDATE todos SET status = 'done' WHERE id = 'b'",
	} {
		if r := h.ask(s, `call sql {"description":"list","query":"`+query+`"}`); r.Error != "" {
			t.Fatal(r.Error)
		}
	}
	want := []event.Todo{{Text: "read", Status: event.TodoDone},
		{Text: "write", Status: event.TodoDone}, {Text: "try", Status: event.TodoPending},
		{Text: "ship (blocked)", Status: event.TodoPending}}
	all := h.await(s, "the list", func(d event.Data) bool {
		l, ok := d.(event.SessionTodosChanged)
		return ok && slices.Equal(l.Todos, want)
	})
	for _, d := range all {
		if p, ok := d.(event.PermissionRequested); ok {
			t.Errorf("asked about the agent's own list: %+v", p)
		}
	}
}

// What the agent keeps its list by reaches nothing but that: no file, and no other session.
func TestRealListReachesNothingElse(t *testing.T) {
	h := newHouse(t, nil)
	h.ask(h.session(),
		`call sql {"description":"list","query":"INSERT INTO todos (id, title) VALUES ('a', 'othercanary')"}`)
	s := h.session()
	for _, query := range []string{
		"ATTACH DATABASE '" + h.dir + "/a.db' AS a", "VACUUM INTO '" + h.dir + "/b.db'",
		"VACUUM main INTO '" + h.dir + "/b.db'",
		"SELECT 1; ATTACH/**/DATABASE '" + h.dir + "/c.db' AS c", "SELECT load_extension('x')",
		"SELECT readfile('/etc/hostname')",
		"PRAGMA database_list", "PRAGMA temp_store_directory = '" + h.dir + "'",
		"SELECT * FROM todos", "SELECT name, sql FROM sqlite_master",
	} {
		h.ask(s, `call sql {"description":"reach","query":"`+query+`"}`)
		h.mustSend("othercanary", false)
	}
	if left, err := os.ReadDir(h.dir); err != nil || len(left) > 0 {
		t.Errorf("in the workspace there are %v, %v", left, err)
	}
}

// The effort goes with each call of a model that has it, and with no other.
func TestRealEffort(t *testing.T) {
	h := newHouse(t, func(c *copilot.Config) {
		alone(c) // it is killed
		c.Providers[0].Models[1].Reasoning = true
	})
	s := h.session()
	h.ask(s, "hello")
	if err := s.SetEffort(t.Context(), "high"); !errors.Is(err, agent.ErrUnsupported) {
		t.Errorf("a model without efforts took one: %v", err)
	}
	if err := s.SetModel(t.Context(), "fake-2"); err != nil {
		t.Fatal(err)
	}
	if c := s.Choices(t.Context()); len(c.Efforts) != 3 || c.Effort != "" {
		t.Errorf("to choose from are %+v", c)
	}
	for _, step := range []struct{ effort, sent string }{{"high", `"reasoning_effort":"high"`},
		{"low", `"reasoning_effort":"low"`}, {"", ""}, {"medium", `"reasoning_effort":"medium"`}} {
		if err := s.SetEffort(t.Context(), step.effort); err != nil {
			t.Fatal(err)
		}
		h.ask(s, "hello")
		h.mustSend(`"reasoning_effort":"`, step.sent != "")
		h.mustSend(step.sent, true)
	}
	pid := copilot.PID(h.backend)
	kill(t, pid)
	until(t, "the end of the CLI", func() bool { return gone(pid) })
	h.ask(s, "hello")
	h.mustSend(`"reasoning_effort":"medium"`, true)
	if err := s.SetModel(t.Context(), "fake-1"); err != nil {
		t.Fatal(err)
	}
	h.ask(s, "hello")
	h.mustSend(`"reasoning_effort":"`, false)
	if c := s.Choices(t.Context()); len(c.Efforts) > 0 || c.Effort != "" {
		t.Errorf("of a model without efforts there are %+v", c)
	}
}

// Under a login the CLI says which efforts its models have.
func TestEffortsOfALogin(t *testing.T) {
	cfg, dir := scripted(t, []byte(`-- auth.getStatus --
{"isAuthenticated":true}
-- models.list --
{"models":[{"id":"m-1","name":"One","supportedReasoningEfforts":["low","max"]},{"id":"m-2","name":"Two"}]}
`))
	cfg.Providers = nil
	k := open(t, backend(t, cfg), "s", false)
	c := k.conn.(agent.Chooser)
	if err := k.conn.SetModel(t.Context(), "m-1"); err != nil {
		t.Fatal(err)
	}
	if got := c.Choices().Efforts; len(got) != 2 || got[1].ID != "max" {
		t.Errorf("to choose from are %+v", got)
	}
	if err := c.SetEffort(t.Context(), "max"); err != nil {
		t.Error(err)
	}
	if sent := received(t, dir, "session.model.switchTo"); len(sent) != 2 ||
		!strings.Contains(sent[1], `"reasoningEffort":"max"`) {
		t.Errorf("told %q", sent)
	}
}

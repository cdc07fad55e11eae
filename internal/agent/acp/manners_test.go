package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/event"
)

// table is a conversation under test.
type table struct {
	*agenttest.Host
	t    *testing.T
	conn agent.Conn
	dir  string // the workspace
	n    int
}

func sit(t *testing.T, manner string, with func(*acp.Config), host func(*agenttest.Host)) *table {
	t.Helper()
	h := &table{Host: agenttest.NewHost(agenttest.DisplayTools()), t: t, dir: t.TempDir()}
	if host != nil {
		host(h.Host)
	}
	conn, err := newBackend(t, manner, with).Open(t.Context(),
		agent.Options{SessionID: "s1", Workspace: h.dir, Tools: agenttest.DisplayTools()}, h)
	if err != nil {
		t.Fatal(err)
	}
	h.conn = conn
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		h.Closed()
		for _, b := range h.Broken() {
			t.Errorf("broken rule: %s", b)
		}
	})
	return h
}

func (h *table) prompt(ctx context.Context, text string) error {
	h.n++
	h.Begin()
	err := h.conn.Prompt(ctx, agent.Prompt{MessageID: fmt.Sprint("m", h.n), Content: text})
	h.End(err)
	return err
}

// all returns the events of one type.
func all[T event.Data](h *table) (got []T) {
	for _, d := range h.Events() {
		if v, ok := d.(T); ok {
			got = append(got, v)
		}
	}
	return got
}

func TestMuchAtOnce(t *testing.T) {
	h := sit(t, "banner", nil, nil)
	for prompt, want := range map[string]int{"flood": 13890, "long": 2 << 20} {
		before := len(all[event.AssistantMessage](h))
		if err := h.prompt(t.Context(), prompt); err != nil {
			t.Fatal(err)
		}
		if said := all[event.AssistantMessage](h)[before:]; len(said) != 1 ||
			len(said[0].Content) != want {
			t.Errorf("%s: %d messages, the first of %d bytes, want one of %d", prompt, len(said),
				len(said[0].Content), want)
		}
	}
}

func TestCallsAsAgentsTellThem(t *testing.T) {
	for prompt, want := range map[string]string{
		"late": "start execute {\"command\":\"ls\"} | out one\n | out two\n | out \nthree\n | end " +
			"true three\n",
		"terminal": "start execute {\"title\":\"ls\"} | out out\n | out more\n | end true out\nmore\n",
		"again": "start execute {\"title\":\"one\"} | out one ran\n | end true one ran\n | start " +
			"execute {\"title\":\"two\"} | out two ran\n | end true two ran\n",
		"exit": "start execute {\"title\":\"false\"} | end true (The agent showed no output.)\n" +
			"(exit 3) | start execute {\"title\":\"false\"} | out no\n | end true no\n(exit 1)",
		"nothing": "start execute {\"title\":\"ls\"} | end true (The agent showed no output.) | start " +
			"execute {\"title\":\"sleep\"}",
		"claude": "start Bash {\"command\":\"ls\"} | end true (The agent showed no output.) | start " +
			"Bash {\"command\":\"ls\"} | out hi | end true hi" +
			" | start Leave {} | out left | end true left | start Bash {\"cwd\":\"/\"}",
	} {
		h := sit(t, "polite", nil, nil)
		if err := h.prompt(t.Context(), prompt); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range h.Events() {
			switch d := d.(type) {
			case event.ToolExecutionStart:
				got = append(got, "start "+d.ToolName+" "+string(d.Arguments))
			case event.ToolExecutionPartialResult:
				got = append(got, "out "+d.PartialOutput)
			case event.ToolExecutionComplete:
				if text := ""; d.Success {
					got = append(got, "end true "+d.Result.Content)
				} else {
					got = append(got, "end false "+d.Error.Message+text)
				}
			}
		}
		if g := strings.Join(got, " | "); g != want {
			t.Errorf("%s: %q, want %q", prompt, g, want)
		}
	}
}

func TestErrorsAsAgentsTellThem(t *testing.T) {
	for prompt, want := range map[string]string{
		"apierror": "Stand-in failed: 400 too long",
		"body":     "Stand-in failed: too long",
		"broke":    "Stand-in failed: exceeded retry limit, last status: 429 Too Many Requests",
		"code400":  "Stand-in failed: too long",
		"code401": "backend unavailable: Stand-in is not signed in; sign in with its own command, " +
			"then try again",
		"login": "backend unavailable: Stand-in is not signed in; sign in with its own command, then " +
			"try again",
		"die": "agent ended: Stand-in: out of memory",
	} {
		h := sit(t, "polite", nil, nil)
		err := h.prompt(t.Context(), prompt)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", prompt, err, want)
		}
		if said := all[event.AssistantMessage](h); len(said) > 0 {
			t.Errorf("%s: an error is an answer: %+v", prompt, said)
		}
		if errors.Is(err, agent.ErrDied) != (prompt == "die") {
			t.Errorf("%s: died is %v", prompt, errors.Is(err, agent.ErrDied))
		}
	}
	h := sit(t, "polite", nil, nil)
	if err := h.prompt(t.Context(), "refuses"); err != nil || len(all[event.SessionError](h)) != 1 {
		t.Errorf("a refusal is %v, %+v", err, all[event.SessionError](h))
	}
}

// An agent that goes on after a call of its model that it shows nothing of refused something by
// itself.
func TestWhatAnAgentRefusesByItself(t *testing.T) {
	const step, tool = `{"sessionUpdate":"usage_update","size":100,"used":1}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c1","kind":"execute","title":"ls","status":"completed","rawInput":{"command":"ls"}}`
	const runs = `{"sessionUpdate":"tool_call","toolCallId":"c2","kind":"execute","title":"sleep","status":"in_progress","rawInput":{"command":"sleep"}}`
	const once,
		twice = "Stand-in went on once without showing why. It does not show a command that it refuses " +
		"by itself.", "Stand-in went on 2 times without showing why. It does not show a command that " +
		"it refuses by itself."
	for name, c := range map[string]struct {
		shown bool
		want  string
		does  []string
	}{
		"an answer":      {want: "", does: []string{step}},
		"a tool":         {want: "", does: []string{tool, step, step}},
		"a refusal":      {want: once, does: []string{tool, step, step, step}},
		"two refusals":   {want: twice, does: []string{step, step, step}},
		"a wait":         {want: "", does: []string{runs, step, step, step}},
		"of other kinds": {shown: true, want: "", does: []string{step, step, step}},
	} {
		h := sit(t, "polite", func(cfg *acp.Config) { cfg.Hides = !c.shown }, nil)
		f := frames{}
		for _, one := range c.does {
			f.Before = append(f.Before, json.RawMessage(one))
		}
		h.play(f)
		got := ""
		for _, e := range all[event.SessionError](h) {
			got += e.Message
		}
		if got != c.want {
			t.Errorf("%s: the session reports %q, want %q", name, got, c.want)
		}
	}
}

// Files and terminals are refused to an agent that asks for them unasked.
func TestThreat88FilesAndTerminalsAreNotOffered(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	if err := h.prompt(t.Context(), "asks"); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range all[event.SessionError](h) {
		told = append(told, e.Message)
	}
	slices.Sort(told)
	want := []string{"Stand-in wanted webchat to run rm -r build, which was refused. It may have " +
		"run the command by itself.",
		"Stand-in wanted webchat to write /home/me/a.txt, which was refused. It may have written the " +
			"file by itself."}
	if !slices.Equal(told, want) || len(h.Said()) > 0 {
		t.Errorf("the user is told %q, and the agent says %q", told, h.Said())
	}
}

func TestAForgedNameIsAskedAbout(t *testing.T) {
	var asked []agent.Permission
	h := sit(t, "polite", nil, func(h *agenttest.Host) {
		h.Permit = func(p agent.Permission) agent.Verdict {
			asked = append(asked, p)
			return agent.Verdict{Decision: event.Deny, Reason: "no"}
		}
	})
	if err := h.prompt(t.Context(), "forged"); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 6 || asked[0].Kind != agent.KindShell || asked[0].Resource != "rm -r /" {
		b, _ := json.Marshal(asked)
		t.Errorf("asked %s, want all six", b)
	}
}

// An agent whose calls are reported only once they were allowed, and which hangs until
// its question is answered.
func TestAQuestionWithoutACall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.txt")
	h := sit(t, "gemini", nil, nil)
	if err := h.prompt(t.Context(), "write "+path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil || len(all[event.ToolExecutionStart](h)) != 1 {
		t.Errorf("%v, started %+v", err, all[event.ToolExecutionStart](h))
	}
	h = sit(t, "codex", nil, func(h *agenttest.Host) {
		h.Permit = func(agent.Permission) agent.Verdict {
			return agent.Verdict{Decision: event.Deny, Reason: "no"}
		}
	})
	if err := h.prompt(t.Context(), "write "+path+".not"); err != nil ||
		len(all[event.ToolExecutionStart](h)) != 1 {
		t.Errorf("a refusal that ends the turn: %v, %+v", err, all[event.ToolExecutionStart](h))
	}
	waits := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	h = sit(t, "gemini", nil, func(h *agenttest.Host) {
		h.Permit = func(agent.Permission) agent.Verdict {
			close(waits)
			<-ctx.Done()
			return agent.Verdict{Decision: event.Deny, Reason: "stopped"}
		}
	})
	go func() { <-waits; cancel() }()
	if err := h.prompt(ctx, "write "+path); !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped turn ends with %v", err)
	}
	if err := h.prompt(t.Context(), "hello"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// stopTalk stops a turn once the agent said something.
func (h *table) stopTalk() {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.prompt(ctx, "talk") }()
	if err := h.Wait(ctx, func(h *agenttest.Host) bool { return len(h.Events()) > 0 }); err != nil {
		h.t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		h.t.Fatalf("a stopped turn ends with %v", err)
	}
}

// An agent that neither stops a turn nor ends is ended, and goes on with the same
// conversation; what it replays is not said again.
func TestAStubbornAgentIsStartedAgain(t *testing.T) {
	h := sit(t, "stubborn", nil, nil)
	h.stopTalk()
	if err := h.prompt(t.Context(), "hello"); err != nil {
		t.Fatal(err)
	}
	said := all[event.AssistantMessage](h)
	if last := said[len(said)-1].Content; last != "I heard you." {
		t.Errorf("it says %q", last)
	}
	for _, m := range said {
		if strings.Contains(m.Content, "replayed") {
			t.Errorf("what was replayed is said: %q", m.Content)
		}
	}
}

// An agent that had to be ended and forgot the conversation begins anew, and says so: the
// prompt is not lost.
func TestAnAgentThatForgot(t *testing.T) {
	h := sit(t, "forgetful", nil, nil)
	h.stopTalk()
	if err := h.prompt(t.Context(), "hello"); err != nil {
		t.Fatal(err)
	}
	told := all[event.SessionError](h)
	if len(told) != 1 || told[0].ErrorType != event.ErrorForgotten {
		t.Errorf("the user is told %+v", told)
	}
	if said := h.Said(); said[len(said)-1] != "I heard you." {
		t.Errorf("it says %q", said)
	}
	if err := h.prompt(t.Context(), "oddend"); err != nil {
		t.Errorf("an end of other types: %v", err)
	}
}

// told reports that an agent ended by itself.
type told chan struct{}

func (c told) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "an agent ended by itself") {
		c <- struct{}{}
	}
	return len(line), nil
}

// An agent that ended between turns is started again for the next prompt.
func TestAnAgentThatEndedBetweenTurns(t *testing.T) {
	gone := make(told, 1)
	h := sit(t, "polite", func(c *acp.Config) {
		c.Logger = slog.New(slog.NewTextHandler(gone, nil))
	}, nil)
	if err := h.prompt(t.Context(), "pid"); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(h.Said()[0])
	if err != nil {
		t.Fatal(err)
	}
	one, err := os.FindProcess(pid)
	if err == nil {
		err = one.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	<-gone
	if err := h.prompt(t.Context(), "hello"); err != nil || h.Said()[1] != "I heard you." {
		t.Errorf("the next prompt: %v, it says %q", err, h.Said())
	}
}

func TestSilenceIsTold(t *testing.T) {
	h := sit(t, "polite", func(c *acp.Config) { c.Silence = 20 * time.Millisecond }, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- h.prompt(ctx, "quiet") }()
	if err := h.Wait(t.Context(), func(h *agenttest.Host) bool {
		return len(h.Events()) > 0
	}); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-ended
	if told := all[event.SessionError](h); len(told) != 1 ||
		!strings.Contains(told[0].Message, "has not responded for 0 seconds. Stop it, or wait.") {
		t.Errorf("the user is told %+v", told)
	}
}

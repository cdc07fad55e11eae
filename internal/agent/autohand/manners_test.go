package autohand_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/autohand"
	"webchat/internal/event"
)

// table is a conversation under test.
type table struct {
	*agenttest.Host
	t    *testing.T
	conn agent.Conn
	n    int

	workspace string
	hook      func(agent.HookCall) agent.HookVerdict

	mu    sync.Mutex // guards hooks
	hooks []agent.HookCall
}

// RunHook implements [agent.Host].
func (h *table) RunHook(_ context.Context, c agent.HookCall) (agent.HookVerdict, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hooks = append(h.hooks, c)
	if h.hook != nil {
		return h.hook(c), nil
	}
	return agent.HookVerdict{Allow: true}, nil
}

func sitWith(t *testing.T, b *autohand.Backend, workspace string,
	host func(*agenttest.Host)) *table {
	t.Helper()
	h := &table{Host: agenttest.NewHost(agenttest.DisplayTools()), t: t, workspace: workspace}
	if host != nil {
		host(h.Host)
	}
	conn, err := b.Open(t.Context(), agent.Options{
		SessionID: "s1",
		Workspace: workspace,
		Tools:     agenttest.DisplayTools(),
	}, h)
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

func sit(t *testing.T, manner string, with func(*autohand.Config),
	host func(*agenttest.Host)) *table {
	t.Helper()
	b, _ := newBackend(t, manner, with)
	return sitWith(t, b, t.TempDir(), host)
}

func (h *table) prompt(ctx context.Context, text string) error {
	h.n++
	h.Begin()
	err := h.conn.Prompt(ctx, agent.Prompt{MessageID: fmt.Sprint("p", h.n), Content: text})
	h.End(err)
	return err
}

func (h *table) must(text string) {
	h.t.Helper()
	if err := h.prompt(h.t.Context(), text); err != nil {
		h.t.Fatalf("%s: %v", text, err)
	}
}

// all returns what was reported of one type.
func all[T event.Data](h *table) (found []T) {
	for _, d := range h.Events() {
		if d, ok := d.(T); ok {
			found = append(found, d)
		}
	}
	return found
}

func deny(agent.Permission) agent.Verdict {
	return agent.Verdict{Decision: event.Deny, Reason: "not now", By: event.DecidedByUser}
}

// A command of the CLI is not a prompt: some never return.
func TestSlashIsNoCommand(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	h.must("  /status please")
	if said := h.Said(); len(said) != 1 || !strings.Contains(said[0], "/status please") {
		t.Errorf("it says %q", said)
	}
}

// What comes with escapes for a terminal before it, and in lines of megabytes, is read.
func TestLines(t *testing.T) {
	h := sit(t, "escapes", nil, nil)
	h.must("huge")
	if said := h.Said(); len(said) != 1 || len(said[0]) != 3<<20 {
		t.Error("a long message did not come whole")
	}
}

func TestStartErrors(t *testing.T) {
	for _, c := range []struct {
		manner string
		with   func(*autohand.Config)
		want   string
	}{
		{"polite", func(c *autohand.Config) {
			c.Path = "no-such-program"
		}, "Autohand CLI is not installed; install it, or give --autohand-path"},
		{"polite", func(c *autohand.Config) {
			c.Settings = ""
		}, "has no model set up; run autohand once and choose a provider"},
		{"polite", func(c *autohand.Config) {
			c.Settings, c.Provider = "", &autohand.Provider{URL: "u", Model: "m"}
		}, "is not signed in; run autohand login"},
		{"broken", nil, "Autohand CLI did not start: Workspace is not safe"},
		{"dies", nil, "Autohand CLI ended while it started: cannot find module"},
	} {
		b, _ := newBackend(t, c.manner, c.with)
		_, err := b.Open(t.Context(), agent.Options{SessionID: "s1", Workspace: t.TempDir()},
			agenttest.NewHost(nil))
		if !errors.Is(err, agent.ErrUnavailable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.manner, err, c.want)
		}
	}
}

// Without a provider the CLI goes on for ever with notices that mean nothing.
func TestStall(t *testing.T) {
	h := sit(t, "polite", func(c *autohand.Config) {
		c.Silence, c.Stall = 20*time.Millisecond, 100*time.Millisecond
	}, nil)
	err := h.prompt(t.Context(), "spin")
	if err == nil || !strings.Contains(err.Error(), "did nothing for 0 seconds") {
		t.Errorf("the turn ended with %v", err)
	}
	if w := all[event.SessionError](h); len(w) == 0 ||
		!strings.Contains(w[0].Message, "has not responded") {
		t.Errorf("the user was told %+v", w)
	}
}

func TestSteps(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	h.must("both")
	if said := h.Said(); len(said) != 2 || said[0] != "Two at once." {
		t.Errorf("it says %q", said)
	}
	started, ended := all[event.ToolExecutionStart](h), all[event.ToolExecutionComplete](h)
	if len(started) != 2 || len(ended) != 2 || started[0].ToolCallID != ended[1].ToolCallID ||
		!ended[0].Success || ended[0].Result.Content != "done" {
		t.Errorf("calls %+v and %+v", started, ended)
	}
	if strings.Contains(string(started[0].Arguments), "type") {
		t.Errorf("arguments %s", started[0].Arguments)
	}
	if asked := h.Asked(); len(asked) != 2 || asked[0].Kind != agent.KindShell ||
		asked[0].Resource != "echo slow" || asked[0].ToolCallID != started[0].ToolCallID ||
		asked[1].Kind != agent.KindRead || asked[1].Search == nil {
		t.Errorf("it asked %+v", h.Asked())
	}
	if n := len(all[event.AssistantTurnStart](h)); n != 2 {
		t.Errorf("%d model calls, not 2", n)
	}
	h.must("both") // whose calls have the same ids
}

// Calls that the CLI refuses by itself are reported, too.
func TestRefusedCalls(t *testing.T) {
	h := sit(t, "polite", nil, func(h *agenttest.Host) { h.Permit = deny })
	h.must("read go.mod")
	h.must("shell date")
	var codes []string
	for _, c := range all[event.ToolExecutionComplete](h) {
		codes = append(codes, c.Error.Code+" "+string(c.Error.Kind))
	}
	if want := []string{"denied denied", "failure bad_arguments",
		"denied denied"}; !slices.Equal(codes, want) {
		t.Errorf("the calls ended as %q, want %q", codes, want)
	}
	if n := len(h.Asked()); n != 1 {
		t.Errorf("it asked %d times", n)
	}
}

// A tool that a folder defines is a line for a shell: that is what the user is asked about.
func TestToolsOfTheWorkspaceAreCommands(t *testing.T) {
	dir := t.TempDir()
	define := func(line string) {
		name := filepath.Join(dir, ".autohand", "tools", "any.json")
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			err = os.WriteFile(name, []byte(`{"name":"deploy","description":"Deploys.","handler":"`+line+
				`"}`), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	define("push {{where}} && rm -r build")
	b, _ := newBackend(t, "polite", nil)
	h := sitWith(t, b, dir, nil)
	h.must("custom it's")
	define("ls")
	h.must("custom x")
	asked := h.Asked()
	for i, want := range []string{`push 'it'"'"'s' && rm -r build`, "push 'x' && rm -r build\nls"} {
		if len(asked) != 2 || asked[i].Kind != agent.KindShell || asked[i].Resource != want ||
			asked[i].ToolName != "deploy" {
			t.Errorf("it asked %+v, want about %s", asked, want)
		}
	}
}

func talks(h *agenttest.Host) bool {
	for _, d := range h.Events() {
		if d, ok := d.(event.AssistantMessageDelta); ok && d.DeltaContent == "word " {
			return true
		}
	}
	return false
}

// A failure of the provider is reported once, and is not the answer.
func TestProviderErrors(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	err := h.prompt(t.Context(), "fails Rate limit reached")
	if err == nil || err.Error() != "The provider failed: Rate limit reached" {
		t.Errorf("the turn ended with %v", err)
	}
	if said := h.Said(); len(said) != 0 {
		t.Errorf("it says %q", said)
	}
	if e := all[event.SessionError](h); len(e) != 1 || e[0].StatusCode != 429 ||
		e[0].Kind != event.KindProvider {
		t.Errorf("errors %+v", e)
	}
	h.must("hello")
}

func TestDeath(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	h.must("leave exec sleep 600")
	if err := h.prompt(t.Context(), "die"); !errors.Is(err, agent.ErrDied) ||
		!strings.Contains(err.Error(), "out of memory") {
		t.Errorf("the turn ended with %v", err)
	}
	if told := all[event.SessionError](h); len(told) != 1 ||
		!strings.Contains(told[0].Message, "what it ran in the background: exec sleep 600. Ask") {
		t.Errorf("the user was told %+v", told)
	}
	h.must("hello") // it goes on in a new process
}

// A CLI that ends a turn more than once, or begins it again, is heard to its first end.
func TestTurnsThatEndTwice(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	h.must("twice")
	if n := len(all[event.AssistantTurnStart](h)); n != 1 {
		t.Errorf("%d model calls, not 1", n)
	}
}

// A CLI that ended between turns is started again for the next prompt.
func TestDeathBetweenTurns(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	h.must("shell echo $PPID")
	pid, err := strconv.Atoi(strings.TrimSpace(all[event.ToolExecutionComplete](h)[0].Result.Content))
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
	h.must("hello")
}

// A CLI that does not react is ended with its tree.
func TestStuck(t *testing.T) {
	h := sit(t, "stuck", nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_ = h.Wait(ctx, func(h *agenttest.Host) bool { return len(h.Events()) > 0 })
		cancel()
	}()
	if err := h.prompt(ctx, "panel"); !errors.Is(err, context.Canceled) {
		t.Errorf("the turn ended with %v", err)
	}
	h.must("hello")
}

func TestHooks(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	h.hook = func(c agent.HookCall) agent.HookVerdict {
		switch {
		case c.Event == "before_tool" && strings.Contains(string(c.Arguments), "rm"):
			return agent.HookVerdict{Reason: "Nothing is deleted here."}
		case c.Event == "before_tool" && strings.Contains(string(c.Arguments), "echo one"):
			return agent.HookVerdict{Allow: true, Arguments: json.RawMessage(`{"command":"echo two"}`)}
		}
		return agent.HookVerdict{Allow: true}
	}
	h.must("shell rm -r build")
	h.must("shell echo one")
	h.must("show go.mod")
	ended := all[event.ToolExecutionComplete](h)
	if len(ended) != 2 || ended[0].Error == nil ||
		ended[0].Error.Message != "Nothing is deleted here." || ended[1].Result == nil ||
		ended[1].Result.Content != "two\n" {
		t.Errorf("calls ended as %+v", ended)
	}
	if asked := h.Asked(); len(asked) != 1 || asked[0].Resource != "echo two" {
		t.Errorf("it asked %+v", asked)
	}
	var moments []string
	for _, c := range h.hooks {
		moments = append(moments, c.Event+" "+c.Tool)
	}
	if want := []string{"before_tool run_command", "before_tool run_command",
		"after_tool run_command"}; !slices.Equal(moments, want) {
		t.Errorf("hooks were asked %q, want %q", moments, want)
	}
}

func TestQuestions(t *testing.T) {
	h := sit(t, "polite", nil, func(h *agenttest.Host) {
		h.Permit = func(p agent.Permission) agent.Verdict {
			if strings.HasPrefix(p.Resource, "/outside") {
				return deny(p)
			}
			return agent.Verdict{Decision: event.Allow, By: event.DecidedByUser}
		}
	})
	h.must("outside /outside/of")
	h.must("late")
	h.must("helper")
	var told []string
	for _, p := range h.Asked() {
		told = append(told, string(p.Kind)+" "+p.Resource)
	}
	slices.Sort(told) // those of late are asked at once
	if want := []string{"read .", "read /outside/of", "shell date",
		"shell echo help"}; !slices.Equal(told, want) {
		t.Errorf("it asked %q, want %q", told, want)
	}
	// One of the two that are asked about at once fails, and either may end first.
	if c := all[event.ToolExecutionComplete](h); len(c) != 3 || c[2].Result == nil ||
		c[2].Result.Content != "help\n" || c[0].Success == c[1].Success {
		t.Errorf("calls %+v", c)
	}
}

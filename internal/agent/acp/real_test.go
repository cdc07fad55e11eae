package acp_test

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/e2e/standin"
	"webchat/internal/event"
)

// realCopilot is the Copilot CLI, as scripts/copilot.sh installs it, and how it is started
// with a model of ours and a home folder.
func realCopilot(t *testing.T, model *copilottest.Model, home string) func(*acp.Config) {
	t.Helper()
	cache, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", "copilot"))
	if err != nil {
		t.Fatal(err)
	}
	shim := filepath.Join(cache, "node_modules", ".bin", "copilot")
	if _, err := os.Stat(shim); err != nil {
		if _, npm := exec.LookPath("npm"); npm == nil || os.Getenv("CI") != "" {
			t.Fatal("the real CLI is not installed: run scripts/copilot.sh, which needs npm")
		}
		t.Skip("npm is not installed, so the real CLI is not tried")
	}
	return func(c *acp.Config) {
		c.Command = append([]string{shim}, acp.Presets()["copilot-acp"].Command[1:]...)
		c.Mode, c.Asks = "agent", []string{"agent", "plan"}
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" +
			cmp.Or(home, filepath.Join(cache, "home")), "COPILOT_OFFLINE=true",
			"COPILOT_PROVIDER_BASE_URL=" + model.URL(), "COPILOT_PROVIDER_API_KEY=sk-test",
			"COPILOT_MODEL=fake-1"}
	}
}

// called is the offered tool whose name ends so; empty if none is.
func called(r copilottest.Request, end string) string {
	for _, name := range r.Offered() {
		if strings.HasSuffix(name, "-"+end) {
			return name
		}
	}
	return ""
}

// The real Copilot CLI with a model of ours: it shows a file by the session's tool over
// MCP, and asks before it writes one.
func TestRealCopilot(t *testing.T) {
	t.Parallel()
	model := copilottest.New(t)
	written := filepath.Join(t.TempDir(), "new.txt")
	model.Answer(func(r copilottest.Request) *copilottest.Reply {
		create, _ := json.Marshal(map[string]string{"path": written, "file_text": "new\n"})
		switch last := r.Messages[len(r.Messages)-1]; {
		case last.Role == "tool":
			return &copilottest.Reply{Text: "It is done."}
		case strings.Contains(r.Prompt(), "show"):
			return &copilottest.Reply{Calls: []copilottest.Call{{
				Tool:      called(r, "render_file_contents"),
				Arguments: `{"path":"go.mod"}`,
			}}}
		case strings.Contains(r.Prompt(), "write"):
			return &copilottest.Reply{Calls: []copilottest.Call{{Tool: "create", Arguments: string(create)}}}
		}
		return &copilottest.Reply{Text: "Hello."}
	})
	h := sit(t, "", realCopilot(t, model, ""), nil)
	for _, prompt := range []string{"hello", "show it", "write it"} {
		if err := h.prompt(t.Context(), prompt); err != nil {
			t.Fatalf("%s: %v", prompt, err)
		}
	}
	if calls := h.Calls(); len(calls) != 1 || calls[0].Name != "render_file_contents" {
		t.Errorf("calls of the session's tools: %+v", calls)
	}
	var names []string
	for _, c := range all[event.ToolExecutionStart](h) {
		names = append(names, c.ToolName)
	}
	if !slices.Equal(names, []string{"edit"}) {
		t.Errorf("calls of its own: %q, want the one that writes", names)
	}
	if _, err := os.Stat(written); err != nil {
		t.Error(err)
	}
	for _, e := range all[event.SessionError](h) {
		if strings.Contains(e.Message, "webchat's tools") {
			t.Errorf("the user is told %q", e.Message)
		}
	}
	if said := all[event.AssistantMessage](h); len(said) < 3 ||
		said[len(said)-1].Content != "It is done." {
		t.Errorf("it says %+v", said)
	}
	for _, r := range model.Requests() {
		if slices.Contains(r.Offered(), "view") {
			t.Fatalf("a request offers view: %q", r.Offered())
		}
	}
}

// THREATS 88: a server that the CLI has of its own, under the name that webchat has there
// as well, takes nothing over: the session's tools are reached, and each call of its tools
// is asked about.
func TestRealThreat88AServerOfTheSameNameIsAskedAbout(t *testing.T) {
	t.Parallel()
	model := copilottest.New(t)
	home, struck := t.TempDir(), filepath.Join(t.TempDir(), "struck")
	servers, err := json.Marshal(
		map[string]any{"mcpServers": map[string]any{"webchat": map[string]any{"type": "local",
			"command": standin.Program(t), "args": []string{},
			"env":   map[string]string{"STRIKE_FILE": struck, "GORACE": "atexit_sleep_ms=0"},
			"tools": []string{"*"}}}})
	if err == nil {
		err = os.MkdirAll(filepath.Join(home, ".copilot"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(home, ".copilot", "mcp-config.json"), servers, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if r.Messages[len(r.Messages)-1].Role == "tool" {
			return &copilottest.Reply{Text: "It is done."}
		}
		return &copilottest.Reply{Calls: []copilottest.Call{{Tool: called(r, "strike"), Arguments: `{}`},
			{Tool: called(r, "render_file_contents"), Arguments: `{"path":"go.mod"}`}}}
	})
	h := sit(t, "", realCopilot(t, model, home), func(h *agenttest.Host) {
		h.Permit = func(agent.Permission) agent.Verdict {
			return agent.Verdict{Decision: event.Deny, Reason: "no"}
		}
	})
	if err := h.prompt(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if asked := h.Asked(); len(asked) != 1 || !strings.Contains(asked[0].Resource, "strike") {
		t.Errorf("asked about %+v", asked)
	}
	if _, err := os.Stat(struck); err == nil {
		t.Error("it was called")
	}
	if calls := h.Calls(); len(calls) != 1 || calls[0].Name != "render_file_contents" {
		t.Errorf("calls of the session's tools: %+v", calls)
	}
}

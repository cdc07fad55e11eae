package acp_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent/acp"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/event"
)

// The real Copilot CLI, as scripts/copilot.sh installs it, with a model of ours: it
// shows a file by the session's tool over MCP, and asks before it writes one.
func TestRealCopilot(t *testing.T) {
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
	model := copilottest.New(t)
	written := filepath.Join(t.TempDir(), "new.txt")
	model.Answer(func(r copilottest.Request) *copilottest.Reply {
		create, _ := json.Marshal(map[string]string{"path": written, "file_text": "new\n"})
		switch last := r.Messages[len(r.Messages)-1]; {
		case last.Role == "tool":
			return &copilottest.Reply{Text: "It is done."}
		case strings.Contains(r.Prompt(), "show"):
			return &copilottest.Reply{Calls: []copilottest.Call{{Tool: "webchat-render_file_contents", Arguments: `{"path":"go.mod"}`}}}
		case strings.Contains(r.Prompt(), "write"):
			return &copilottest.Reply{Calls: []copilottest.Call{{Tool: "create", Arguments: string(create)}}}
		}
		return &copilottest.Reply{Text: "Hello."}
	})
	h := sit(t, "", func(c *acp.Config) {
		c.Command = []string{shim, "--acp", "--no-auto-update", "--excluded-tools=view", "--allow-tool=webchat"}
		c.Mode, c.Asks = "agent", []string{"agent", "plan"}
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(cache, "home"), "COPILOT_OFFLINE=true",
			"COPILOT_PROVIDER_BASE_URL=" + model.URL(), "COPILOT_PROVIDER_API_KEY=sk-test", "COPILOT_MODEL=fake-1"}
	}, nil)
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
	if said := all[event.AssistantMessage](h); len(said) < 3 || said[len(said)-1].Content != "It is done." {
		t.Errorf("it says %+v", said)
	}
	for _, r := range model.Requests() {
		if slices.Contains(r.Offered(), "view") {
			t.Fatalf("a request offers view: %q", r.Offered())
		}
	}
}

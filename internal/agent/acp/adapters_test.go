package acp_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/canary/scripted"
	"webchat/internal/event"
)

// The real Claude Code and Codex behind their adapters, as scripts/agents.sh installs
// them, with a model of ours: each shows a file by the session's tool, without a
// question of its own, and asks before it writes one.
func TestRealAdapters(t *testing.T) {
	bin, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", "agents", "node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "claude-agent-acp")); err != nil {
		if _, npm := exec.LookPath("npm"); npm == nil && os.Getenv("CI") != "" {
			t.Fatal("the adapters are not installed: run scripts/agents.sh, which needs npm")
		}
		t.Skip("the adapters are not installed, so real agents are not tried: run scripts/agents.sh")
	}
	for name, a := range map[string]struct {
		with  func(c *acp.Config, model, home string)
		write func(path string) scripted.Step
	}{
		"claude-agent-acp": {func(c *acp.Config, model, home string) {
			c.Mode, c.Asks, c.Mark = "default", []string{"default", "plan"}, acp.MarkClaude
			c.Meta = map[string]any{"claudeCode": map[string]any{"options": map[string]any{"disallowedTools": []string{"Read"}, "allowDangerouslySkipPermissions": false}}}
			c.Env = append(c.Env, "ANTHROPIC_BASE_URL="+model, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
		}, func(path string) scripted.Step {
			return scripted.Step{Tool: "Write", Arguments: fmt.Sprintf(`{"file_path":%q,"content":"new\n"}`, path)}
		}},
		"codex-acp": {func(c *acp.Config, model, home string) {
			c.Mode, c.Asks, c.Notices, c.Mark = "read-only", []string{"read-only"}, []string{"Warning: "}, acp.MarkCodex
			config := "model = \"m\"\nmodel_provider = \"m\"\n[model_providers.m]\nname = \"m\"\nbase_url = \"" + model + "/v1\"\nwire_api = \"responses\"\nenv_key = \"KEY\"\n"
			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			c.Env = append(c.Env, "CODEX_HOME="+home, "KEY=none")
		}, func(path string) scripted.Step {
			return scripted.Step{Tool: "exec_command", Arguments: fmt.Sprintf(`{"cmd":"touch %s","sandbox_permissions":"require_escalated","justification":"May I write it?"}`, path)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			model, err := scripted.New(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			home, written := t.TempDir(), filepath.Join(t.TempDir(), "new.txt")
			with := func(c *acp.Config) {
				c.Command = []string{filepath.Join(bin, name)}
				c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
				a.with(c, model.URL(), home)
			}
			h := sit(t, "", with, nil)
			t.Cleanup(func() {
				if err := model.Close(); err != nil {
					t.Error(err)
				}
			})
			model.Play(scripted.Step{Tool: "render_file_contents", Arguments: `{"path":"go.mod"}`}, a.write(written))
			if err := h.prompt(t.Context(), "show it, then write it"); err != nil {
				t.Fatal(err)
			}
			if calls := h.Calls(); len(calls) != 1 || calls[0].Name != "render_file_contents" {
				t.Errorf("calls of the session's tools: %+v", calls)
			}
			if asked := h.Asked(); len(asked) != 1 || !strings.Contains(asked[0].Resource+asked[0].Diff, written) {
				t.Errorf("asked %+v, want once, about %s", asked, written)
			}
			if starts := all[event.ToolExecutionStart](h); len(starts) != 1 {
				t.Errorf("calls of its own: %+v, want the one that writes", starts)
			}
			if _, err := os.Stat(written); err != nil {
				t.Error(err)
			}
			for _, e := range all[event.SessionError](h) {
				if strings.Contains(e.Message, "webchat's tools") {
					t.Errorf("the user is told %q", e.Message)
				}
			}
			if said := h.Said(); len(said) == 0 || said[len(said)-1] != "Done." {
				t.Errorf("it says %q", said)
			}
			if err := h.conn.Close(); err != nil {
				t.Error(err)
			}
			another := newBackend(t, "", with) // which knows nothing of that session
			if all, err := another.Conversations(t.Context(), h.dir); err != nil || len(all) != 1 {
				t.Errorf("it lists %+v, %v, want the one from before", all, err)
			} else if one, err := another.Adopt(t.Context(), "s9", h.dir, all[0].ID); err != nil || !strings.Contains(one.Title, "show it") {
				t.Errorf("adopted %+v, %v", one, err)
			}
			next, err := another.Open(t.Context(), agent.Options{SessionID: "s9", Workspace: h.dir, Tools: agenttest.DisplayTools(), Resume: true}, agenttest.NewHost(agenttest.DisplayTools()))
			if err != nil {
				t.Fatal(err)
			}
			if err := next.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

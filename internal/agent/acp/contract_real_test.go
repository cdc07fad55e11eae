package acp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/acp/presets"
	"webchat/internal/agent/agenttest"
	"webchat/internal/canary/scripted"
)

// The real Claude Code, Codex and Copilot CLI keep the contract of a backend. It takes
// them a minute each, so that only CI tries it, and who sets WEBCHAT_TEST_AGENTS.
func TestContractOfRealAgents(t *testing.T) {
	if os.Getenv("CI") == "" && os.Getenv("WEBCHAT_TEST_AGENTS") == "" {
		t.Skip("WEBCHAT_TEST_AGENTS is not set, so the contract is not tried with real agents")
	}
	for name, a := range map[string]struct {
		folder string
		write  func(path string) scripted.Step
	}{
		"claude": {"agents", func(path string) scripted.Step {
			return scripted.Step{Tool: "Write", Arguments: fmt.Sprintf(`{"file_path":%q,"content":"new\n"}`, path)}
		}},
		"codex": {"agents", func(path string) scripted.Step {
			return scripted.Step{Tool: "exec_command", Arguments: fmt.Sprintf(`{"cmd":"touch %s","sandbox_permissions":"require_escalated","justification":"May I write it?"}`, path)}
		}},
		"copilot-acp": {"copilot", func(path string) scripted.Step {
			return scripted.Step{Tool: "create", Arguments: fmt.Sprintf(`{"path":%q,"file_text":"new\n"}`, path)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bin, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", a.folder, "node_modules", ".bin"))
			if err != nil {
				t.Fatal(err)
			}
			p := presets.All()[name]
			if _, err := os.Stat(filepath.Join(bin, p.Command[0])); err != nil {
				t.Fatal("it is not installed: run scripts/agents.sh and scripts/copilot.sh, which need npm")
			}
			model, err := scripted.New(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = model.Close() }) // it says how its last request ended
			state := t.TempDir()
			env, err := p.Offline(model.URL(), state)
			if err != nil {
				t.Fatal(err)
			}
			b := newBackend(t, "", func(c *acp.Config) {
				c.Command = append([]string{filepath.Join(bin, p.Command[0])}, p.Command[1:]...)
				c.Mark = acp.Mark(p.Mark)
				c.Mode, c.Asks, c.Failures, c.Notices, c.NoPrograms = p.Mode, p.Asks, p.Failures, p.Notices, p.NoPrograms
				c.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
				if p.Meta != nil {
					c.Meta = p.Meta(false)
				}
			})
			realContract(t, b, model, a.write)
		})
	}
}

func realContract(t *testing.T, b *acp.Backend, model *scripted.Model, write func(path string) scripted.Step) {
	play := func(s scripted.Step) string {
		model.Play(s)
		return "Do it. " + scripted.BeBrief
	}
	agenttest.Run(t, b, agenttest.Options{
		Show: func(path string) string {
			return play(scripted.Step{Tool: "render_file_contents", Arguments: fmt.Sprintf(`{"path":%q}`, path)})
		},
		Run: func(command string) string {
			return play(scripted.Step{Tool: "run_and_display", Arguments: fmt.Sprintf(`{"command":%q}`, command)})
		},
		Write:  func(path string) string { return play(write(path)) },
		Answer: scripted.BeBrief, Talk: scripted.TalkOn,
		Offered: func(tb testing.TB) (names []string) {
			host := agenttest.NewHost(agenttest.DisplayTools())
			conn, err := b.Open(tb.Context(), agent.Options{SessionID: "offered", Workspace: tb.TempDir(), Tools: agenttest.DisplayTools()}, host)
			if err != nil {
				tb.Fatal(err)
			}
			host.Begin()
			err = conn.Prompt(tb.Context(), agent.Prompt{MessageID: "m", Content: scripted.BeBrief})
			host.End(err)
			if err != nil {
				tb.Fatal(err)
			}
			if err := conn.Close(); err != nil {
				tb.Error(err)
			}
			for _, name := range model.Offered() {
				names = append(names, strings.TrimPrefix(strings.TrimPrefix(name, "mcp__webchat__"), "webchat-"))
			}
			return names
		},
		Patience: 60 * time.Second,
	})
}

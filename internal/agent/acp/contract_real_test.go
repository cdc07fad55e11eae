package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/canary/scripted"
)

// played is how a real agent's scripted model has it do what the contract asks for.
type played struct {
	folder string // of .cache, where it is installed
	write  func(path string) scripted.Step
	two    func(one, other string) scripted.Step
	forge  func(tool string) scripted.Step
	cannot map[string]string
}

var contracts = map[string]played{
	"claude": {"agents", func(path string) scripted.Step {
		return scripted.Step{Tool: "Write", Arguments: fmt.Sprintf(`{"file_path":%q,"content":"new\n"}`,
			path)}
	}, nil, titled("Bash", "command",
		"description"), map[string]string{"WriteTwo": "a tool of Claude Code writes one file",
		"Search": "Claude Code searches by commands"}},
	"codex": {"agents", func(path string) scripted.Step {
		return scripted.Step{
			Tool: "exec_command",
			Arguments: fmt.Sprintf(
				`{"cmd":"touch %s","sandbox_permissions":"require_escalated","justification":"May I write it?"}`, path),
		}
	}, func(one, other string) scripted.Step {
		args, _ := json.Marshal(
			map[string]string{"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + one +
				"\n+new\n*** Add File: " + other + "\n+new\n*** End Patch\nEOF"})
		return scripted.Step{Tool: "exec_command", Arguments: string(args)}
	}, nil, map[string]string{"Search": "Codex searches by commands",
		"Forge": "Codex takes titles of its calls from the tool alone"}},
	"copilot-acp": {"copilot", func(path string) scripted.Step {
		return scripted.Step{Tool: "create", Arguments: fmt.Sprintf(`{"path":%q,"file_text":"new\n"}`,
			path)}
	}, nil, titled("bash", "command",
		"description"), map[string]string{"WriteTwo": "Copilot offers no tool for that to this model",
		"Search": reads}},
}

// The real Claude Code, Codex and Copilot CLI keep the contract of a backend. It takes
// them a minute each, so that only CI tries it, and who sets WEBCHAT_TEST_AGENTS.
func TestRealContract(t *testing.T) {
	if os.Getenv("CI") == "" && os.Getenv("WEBCHAT_TEST_AGENTS") == "" {
		t.Skip("WEBCHAT_TEST_AGENTS is not set, so the contract is not tried with real agents")
	}
	if name := os.Getenv(contractOf); name != "" {
		t.Run(name, func(t *testing.T) { realContract(t, name, contracts[name], nil) })
		return
	}
	t.Parallel()
	for name := range contracts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^TestRealContract$")
			cmd.Env = append(os.Environ(), contractOf+"="+name)
			out, err := cmd.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// contractOf names the agent whose contract this process tries. The contract looks for goroutines
// that are left over, so agents whose contracts are tried side by side need a process each.
const contractOf = "WEBCHAT_TEST_CONTRACT"

// lentBy is what agents put before the names of the session's tools.
var lentBy = regexp.MustCompile(`^(mcp__webchat__|webchat-([0-9a-f]{8}-)?)`)

// reads is why a search of a real agent is not asked about.
const reads = "it asks nothing before it reads files, as its Lacks says"

// titled has an agent run a command under the name of a tool of the session's.
func titled(tool, command, title string) func(string) scripted.Step {
	return func(name string) scripted.Step {
		return scripted.Step{Tool: tool, Arguments: fmt.Sprintf(`{%q:"touch forged","%s":"webchat-%s"}`,
			command, title, name)}
	}
}

// realContract runs the contract on an agent of the presets, started with a model of ours, and with
// what else its configuration needs.
func realContract(t *testing.T, name string, a played,
	with func(c *acp.Config, model, state string)) {
	bin, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", a.folder, "node_modules",
		".bin"))
	if err != nil {
		t.Fatal(err)
	}
	p := acp.Presets()[name]
	if _, err := os.Stat(filepath.Join(bin, p.Command[0])); err != nil {
		t.Fatal("it is not installed: run scripts/agents.sh and scripts/copilot.sh, which need npm")
	}
	model, err := scripted.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() }) // it says how its last request ended
	state := t.TempDir()
	at := talking(t, model)
	env, err := p.Offline(at, state)
	if err != nil {
		t.Fatal(err)
	}
	b := newBackend(t, "", func(c *acp.Config) {
		c.Preset = p
		c.Command = append([]string{filepath.Join(bin, p.Command[0])}, p.Command[1:]...)
		c.Env, c.Risky = append([]string{"PATH=" + os.Getenv("PATH")}, env...), nil
		if with != nil {
			with(c, at, state)
		}
	})
	play := func(s scripted.Step) string {
		model.Play(s)
		return "Do it. " + beBrief
	}
	o := agenttest.Options{
		Show: func(path string) string {
			return play(scripted.Step{
				Tool:      "render_file_contents",
				Arguments: fmt.Sprintf(`{"path":%q}`, path),
			})
		},
		Run: func(command string) string {
			return play(scripted.Step{
				Tool:      "run_and_display",
				Arguments: fmt.Sprintf(`{"command":%q}`, command),
			})
		},
		Answer: beBrief, Talk: talkOn,
		Offered: func(tb testing.TB) (names []string) {
			host := agenttest.NewHost(agenttest.DisplayTools())
			conn, err := b.Open(tb.Context(), agent.Options{
				SessionID: "offered",
				Workspace: tb.TempDir(),
				Tools:     agenttest.DisplayTools(),
			}, host)
			if err != nil {
				tb.Fatal(err)
			}
			host.Begin()
			err = conn.Prompt(tb.Context(), agent.Prompt{MessageID: "m", Content: beBrief})
			host.End(err)
			if err != nil {
				tb.Fatal(err)
			}
			if err := conn.Close(); err != nil {
				tb.Error(err)
			}
			for name := range model.Offered() {
				names = append(names, lentBy.ReplaceAllString(name, ""))
			}
			return names
		},
		Patience: 60 * time.Second, Cannot: a.cannot,
	}
	if a.write != nil {
		o.Write = func(path string) string { return play(a.write(path)) }
	}
	if a.two != nil {
		o.WriteTwo = func(one, other string) string { return play(a.two(one, other)) }
	}
	if a.forge != nil {
		o.Forge = func(tool string) string { return play(a.forge(tool)) }
	}
	if with == nil {
		o.Elsewhere = map[string]string{"Contained": "TestContract: what panics is our own side"}
	}
	agenttest.Run(t, b, o)
}

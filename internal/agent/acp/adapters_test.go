package acp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/canary/scripted"
	"webchat/internal/event"
	"webchat/internal/policy"
)

// adapter is a real agent behind its adapter.
type adapter struct {
	with  func(t *testing.T, c *acp.Config, model, home string)
	write func(path string) scripted.Step
}

// adapters are the real Claude Code and Codex, as scripts/agents.sh installs them.
var adapters = map[string]adapter{
	"claude-agent-acp": {func(t *testing.T, c *acp.Config, model, home string) {
		// its user's
		write(t, filepath.Join(home, ".claude", "settings.json"),
			`{"permissions":{"allow":["Bash","Grep","Edit","Write","mcp__pad"]}}`)
		p := acp.Presets()["claude"]
		c.Mode, c.Asks, c.Mark, c.Meta = p.Mode, p.Asks, p.Mark, p.Meta
		c.Env = append(c.Env, "ANTHROPIC_BASE_URL="+model, "ANTHROPIC_API_KEY=none",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	}, func(path string) scripted.Step {
		return scripted.Step{Tool: "Write", Arguments: fmt.Sprintf(`{"file_path":%q,"content":"new\n"}`,
			path)}
	}},
	"codex-acp": {func(t *testing.T, c *acp.Config, model, home string) {
		c.Mode, c.Asks, c.Notices, c.Mark, c.Hides = "read-only", []string{"read-only"},
			[]string{"Warning: "}, acp.MarkCodex, true
		config := "model = \"m\"\nmodel_provider = \"m\"\n[model_providers.m]\nname = \"m\"\nbase_url " +
			"= \"" + model + "/v1\"\nwire_api = \"responses\"\nenv_key = \"KEY\"\n"
		if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		c.Env = append(c.Env, "CODEX_HOME="+home, "KEY=none")
	}, func(path string) scripted.Step {
		return scripted.Step{
			Tool: "exec_command",
			Arguments: fmt.Sprintf(
				`{"cmd":"touch %s","sandbox_permissions":"require_escalated","justification":"May I write it?"}`, path),
		}
	}},
}

// sitWith is a conversation with a real agent, whose model does what it is given.
func sitWith(t *testing.T, name string,
	host func(*agenttest.Host)) (*table, *scripted.Model, func(*acp.Config)) {
	t.Helper()
	model, with := realAgent(t, name)
	return sit(t, "", with, host), model, with
}

// realAgent returns how a real agent is started, and its model.
func realAgent(t *testing.T, name string) (*scripted.Model, func(*acp.Config)) {
	t.Helper()
	bin, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", "agents", "node_modules",
		".bin"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
		if _, npm := exec.LookPath("npm"); npm == nil && os.Getenv("CI") != "" {
			t.Fatal("the adapters are not installed: run scripts/agents.sh, which needs npm")
		}
		t.Skip("the adapters are not installed, so real agents are not tried: run scripts/agents.sh")
	}
	model, err := scripted.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	with := func(c *acp.Config) {
		c.Command = []string{filepath.Join(bin, name)}
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
		adapters[name].with(t, c, model.URL(), home)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	return model, with
}

// THREATS 53: the real Codex patches two files in one call. It is asked about once, about
// both, and what is refused changes neither.
func TestThreat53RealCodexPatchesElsewhere(t *testing.T) {
	for _, decision := range []event.Decision{event.Deny, event.Allow} {
		t.Run(string(decision), func(t *testing.T) {
			h, model, _ := sitWith(t, "codex-acp", func(h *agenttest.Host) {
				h.Permit = func(agent.Permission) agent.Verdict {
					return agent.Verdict{
						Decision: decision,
						Scope:    event.Once,
						Reason:   "a test",
						By:       event.DecidedByUser,
					}
				}
			})
			inside, outside := filepath.Join(h.dir, "a.txt"), filepath.Join(t.TempDir(), "b.txt")
			for _, name := range []string{inside, outside} {
				if err := os.WriteFile(name, []byte("old\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			patch := "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** " +
				"Update File: " + outside + "\n@@\n-old\n+new\n*** End Patch\nEOF"
			args, err := json.Marshal(map[string]string{"cmd": patch})
			if err != nil {
				t.Fatal(err)
			}
			model.Play(scripted.Step{Tool: "exec_command", Arguments: string(args)})
			if err := h.prompt(t.Context(), "patch both"); err != nil {
				t.Fatal(err)
			}
			asked := h.Asked()
			if len(asked) != 1 || len(asked[0].Parts()) != 2 {
				t.Fatalf("asked %+v, want once, about two files", asked)
			}
			for i, want := range []string{inside, outside} {
				if p := asked[0].Parts()[i]; p.Kind != agent.KindWrite || p.Resource != want {
					t.Errorf("part %d is %s %s, want a write of %s", i, p.Kind, p.Resource, want)
				}
				text, err := os.ReadFile(want)
				if now := map[event.Decision]string{event.Deny: "old\n",
					event.Allow: "new\n"}[decision]; err != nil || string(text) != now {
					t.Errorf("%s holds %q, %v", want, text, err)
				}
			}
		})
	}
}

// The real Codex reports neither a command that it refuses nor the refusal of a provider, which it
// presents as an answer. A warning stands for the first, and an error for the second.
func TestRealCodexTellsNothingOfWhatItRefuses(t *testing.T) {
	t.Parallel()
	h, model, _ := sitWith(t, "codex-acp", nil)
	const refused,
		runs = `{"cmd":"touch a","sandbox_permissions":"with_additional_permissions","additional_permissions":{"file_system":{"write":["/etc"]}}}`, `{"cmd":"ls"}`
	said := func() (n int) {
		for _, e := range all[event.SessionError](h) {
			if strings.HasSuffix(e.Message, "It does not show a command that it refuses by itself.") {
				n++
			}
		}
		return n
	}
	for i, arguments := range []string{runs, refused} {
		model.Play(scripted.Step{Tool: "exec_command", Arguments: arguments})
		if err := h.prompt(t.Context(), "go"); err != nil || said() != i {
			t.Errorf("%s: it was said %d times, %v", arguments, said(), err)
		}
	}
	if rows := len(all[event.ToolExecutionStart](h)); rows != 1 {
		t.Errorf("%d rows, want that of what ran", rows)
	}
	if err := h.conn.Close(); err != nil {
		t.Error(err)
	}

	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"slow down","type":"rate_limit_error"}}`,
			http.StatusTooManyRequests)
	}))
	defer busy.Close()
	_, with := realAgent(t, "codex-acp")
	h = sit(t, "", func(c *acp.Config) {
		with(c)
		c.Env = slices.DeleteFunc(c.Env, func(kv string) bool {
			return strings.HasPrefix(kv, "CODEX_HOME=")
		})
		adapters["codex-acp"].with(t, c, busy.URL, t.TempDir())
	}, nil)
	if err := h.prompt(t.Context(), "go"); err == nil ||
		!strings.Contains(err.Error(), "429 Too Many Requests") ||
		len(all[event.AssistantMessage](h)) > 0 {
		t.Errorf("a 429 is %v, and the answer %+v", err, all[event.AssistantMessage](h))
	}
}

// The real Claude Code keeps the folder of its shell: a command is asked about with its folder, so
// that what was granted there covers it, until one may have left it.
func TestRealClaudeKeepsItsFolder(t *testing.T) {
	t.Parallel()
	h, model, _ := sitWith(t, "claude-agent-acp", nil)
	if err := os.MkdirAll(filepath.Join(h.dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	wants := []struct {
		command string
		known   bool
	}{{"go test ./middleware", true}, {"cd ./sub && touch two", true}, {"touch three", false}}
	var steps []scripted.Step
	for _, w := range wants {
		args, err := json.Marshal(map[string]string{"command": w.command, "description": "try it"})
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, scripted.Step{Tool: "Bash", Arguments: string(args)})
	}
	model.Play(steps...)
	if err := h.prompt(t.Context(), "run them"); err != nil {
		t.Fatal(err)
	}
	asked := h.Asked()
	if len(asked) != len(wants) {
		t.Fatalf("asked %+v", asked)
	}
	for i, w := range wants {
		got := !asked[i].CwdUnknown && asked[i].Cwd == policy.Resolve(h.dir)
		if got != w.known || asked[i].Resource != w.command {
			t.Errorf("%q is asked about in %q, known: %v", asked[i].Resource, asked[i].Cwd, got)
		}
	}
	p := policy.New(policy.Config{Workspace: h.dir})
	if got := p.Grants(asked[0]); len(got) != 4 ||
		!strings.HasPrefix(got[1].Text, "commands that begin with `go test`") {
		t.Errorf("it may be granted by %+v", got)
	}
	for _, name := range []string{"sub/two", "sub/three"} {
		if _, err := os.Stat(filepath.Join(h.dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// The real Claude Code asks before each way in which its shell or its searches read a file with a
// secret, also where its user's own settings allow the shell, and what is refused does not reach
// the model.
func TestRealClaudeAsksBeforeItReads(t *testing.T) {
	t.Parallel()
	model, with := realAgent(t, "claude-agent-acp")
	h := sit(t, "", func(c *acp.Config) {
		with(c)
		c.Env = append(c.Env, "ENABLE_TOOL_SEARCH=false") // the model is offered all tools at once
	}, func(h *agenttest.Host) {
		h.Permit = func(agent.Permission) agent.Verdict {
			return agent.Verdict{
				Decision: event.Deny,
				Scope:    event.Once,
				Reason:   "a test",
				By:       event.DecidedByUser,
			}
		}
	})
	const word = "f3c1d97a-sensitive"
	write(t, filepath.Join(h.dir, ".env"), "KEY="+word+"\n")
	commands := []string{"cat .env", "cat ./.e*", "grep -r KEY .", "head -c 99 < .env",
		"sed -n 1p .env | sort"}
	for _, command := range commands {
		args, err := json.Marshal(map[string]string{"command": command, "description": "look"})
		if err != nil {
			t.Fatal(err)
		}
		model.Play(scripted.Step{Tool: "Bash", Arguments: string(args)})
		if err := h.prompt(t.Context(), "look"); err != nil {
			t.Fatal(err)
		}
	}
	model.Play(scripted.Step{Tool: "render_file_contents", Arguments: `{"path":"go.mod"}`})
	if err := h.prompt(t.Context(), "peek"); err != nil {
		t.Fatal(err)
	}
	asked := h.Asked()
	if calls := h.Calls(); len(calls) != 1 || calls[0].Name != "render_file_contents" {
		t.Errorf("calls of the session's tools: %+v", calls)
	}
	if len(asked) != len(commands) {
		t.Fatalf("asked %d times, want %d: %+v", len(asked), len(commands), asked)
	}
	for i, p := range asked {
		if p.Kind != agent.KindShell || p.Resource != commands[i] {
			t.Errorf("asked about %s %q, want the command %q", p.Kind, p.Resource, commands[i])
		}
	}
	if bodies := model.Requests(); len(bodies) < 2*len(commands) {
		t.Errorf("the model was called %d times", len(bodies))
	} else if bytes.Contains(bytes.Join(bodies, nil), []byte(word)) {
		t.Error("what was refused reached the model")
	}
}

// Of a large output the real Claude Code shows its client more than its model reads. What is
// reported as read is what the model was sent, and the user sees the rest.
func TestRealClaudeReadsLessThanItShows(t *testing.T) {
	t.Parallel()
	h, model, _ := sitWith(t, "claude-agent-acp", nil)
	write(t, filepath.Join(h.dir, "large.txt"), strings.Repeat("a line of thirty-two characters\n",
		2500))
	model.Play(scripted.Step{
		Tool:      "Bash",
		Arguments: `{"command":"cat large.txt","description":"read"}`,
	})
	if err := h.prompt(t.Context(), "read it"); err != nil {
		t.Fatal(err)
	}
	ends := all[event.ToolExecutionComplete](h)
	if len(ends) != 1 || ends[0].Result == nil {
		t.Fatalf("ended calls: %+v", ends)
	}
	read, shown := ends[0].Result.Content, ends[0].Result.DetailedContent
	sent := string(bytes.Join(model.Requests(), nil)) // the last one may be for the title
	for line := range strings.Lines(read) {
		if !strings.Contains(sent, strings.Trim(line, "<>/\n")) {
			t.Errorf("%q was not sent to the model", line)
		}
	}
	if !strings.Contains(read, "Output too large") || len(read) > 5_000 {
		t.Errorf("reported as read: %d bytes, %.200q", len(read), read)
	}
	if len(shown) < 25_000 {
		t.Errorf("the user sees %d bytes", len(shown))
	}
}

// The real Claude Code tries a call of its model again by itself, and it is reported while it
// waits.
func TestRealClaudeSaysThatItTriesAgain(t *testing.T) {
	t.Parallel()
	model, with := realAgent(t, "claude-agent-acp")
	to, err := url.Parse(model.URL())
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	forward := httputil.NewSingleHostReverseProxy(to)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := asked.Add(1); r.URL.Path == "/v1/messages" && n <= 2 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(map[int64]int{1: 429, 2: 500}[n])
			fmt.Fprint(w, `{"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}}`)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(provider.Close)
	h := sit(t, "", func(c *acp.Config) {
		with(c)
		c.Env[slices.Index(c.Env, "ANTHROPIC_BASE_URL="+model.URL())] = "ANTHROPIC_BASE_URL=" +
			provider.URL
	}, nil)
	if err := h.prompt(t.Context(), "hello"); err != nil {
		t.Fatal(err)
	}
	var reported []string
	for _, e := range all[event.SessionError](h) {
		reported = append(reported, e.Message)
		if e.Kind != event.KindRetrying || !e.Waits || e.RetryAfterMs <= 0 {
			t.Errorf("it is reported as %+v", e)
		}
	}
	if len(reported) != 2 || !strings.HasPrefix(reported[0],
		"The provider answered 429. Trying again in 1 second, 1 of ") ||
		!strings.HasPrefix(reported[1], "The provider answered 500. Trying again in ") {
		t.Errorf("the session reports %q", reported)
	}
	if said := h.Said(); !slices.Equal(said, []string{"Done."}) {
		t.Errorf("it says %q", said)
	}
}

// Each of the real agents shows a file by the session's tool, without a question of its
// own, and asks before it writes one.
func TestRealAdapters(t *testing.T) {
	t.Parallel()
	for name, a := range adapters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, model, _ := sitWith(t, name, nil)
			written := filepath.Join(t.TempDir(), "new.txt")
			model.Play(scripted.Step{Tool: "render_file_contents", Arguments: `{"path":"go.mod"}`},
				a.write(written))
			if err := h.prompt(t.Context(), "show it, then write it"); err != nil {
				t.Fatal(err)
			}
			if calls := h.Calls(); len(calls) != 1 || calls[0].Name != "render_file_contents" {
				t.Errorf("calls of the session's tools: %+v", calls)
			}
			if asked := h.Asked(); len(asked) != 1 || !strings.Contains(asked[0].Resource+asked[0].Diff,
				written) {
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
					t.Errorf("the session reports %q", e.Message)
				}
			}
			if said := h.Said(); len(said) == 0 || said[len(said)-1] != "Done." {
				t.Errorf("it says %q", said)
			}
			if err := h.conn.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

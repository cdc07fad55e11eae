package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/cage"
	"webchat/internal/canary/scripted"
	"webchat/internal/mcp"
	"webchat/internal/proc"
)

// The real Claude Code and Codex work confined: they reach their model and the tools that are lent
// to them, those of the user's servers among them; their shells find the workspace and nothing
// else.
func TestRealClaudeConfined(t *testing.T) {
	t.Parallel()
	realConfined(t, "claude", "Bash", "command", 1,
		map[string]string{".claude/settings.json": `{}`, ".claude.json": `{"numStartups":1}`,
			".claude/projects/other/canary.jsonl": "canary"})
}

func TestRealCodexConfined(t *testing.T) {
	t.Parallel()
	realConfined(t, "codex", "exec_command", "cmd", 0,
		map[string]string{".codex/history.jsonl": "canary"})
}

func realConfined(t *testing.T, name, tool, argument string, asks int, files map[string]string) {
	if err := proc.Confines(); err != nil {
		t.Skip("nothing can be confined here:", err)
	}
	bin := installed(t, filepath.Join("..", "..", ".cache", "agents", "node_modules", ".bin"), name)
	model, err := scripted.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	own, err := mcp.LendHere(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	home := t.TempDir()
	work := filepath.Join(home, "work")
	env := []string{"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + home,
		"ANTHROPIC_BASE_URL=" + model.URL(), "ANTHROPIC_API_KEY=none", "KEY=none",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	files["secret"], files["work/.env"], files["work/seen.txt"] = "canary", "KEY=canary", ""
	files[".codex/config.toml"] =
		"model = \"m\"\nmodel_provider = \"m\"\n[model_providers.m]\nname = \"m\"\nbase_url = \"" +
			model.URL() + "/v1\"\nwire_api = \"responses\"\nenv_key = \"KEY\"\n"
	for file, text := range files {
		at := filepath.Join(home, file)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o, err := parseOptions([]string{"--data-dir", filepath.Join(home, "data"), "--workspace", work},
		env)
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	c := &config{EnvAllow: []string{"KEY"}}
	cells := o.with(c).cages(sandbox{mode: sandboxRequire, support: cage.Support{}}, o.dataPath(),
		nothingKept, quiet)
	b, err := o.roster(c).speaker(acp.Presets()[name], name, cells, o.dataPath(),
		cells.lend(own.ToAgent),
		quiet)
	if err != nil {
		t.Fatal(err)
	}
	tools := append(agenttest.DisplayTools(), agent.ToolSpec{
		Name:        "mine-strike",
		Description: "Strikes.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{}}`),
		Server:      "mine",
	})
	host := agenttest.NewHost(tools)
	conn, err := b.Open(t.Context(), agent.Options{
		SessionID: "s",
		Workspace: work,
		Tools:     tools,
	}, host)
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(other.Addr().String())
	command := fmt.Sprintf(
		"(cat ~/secret .env ~/.claude/projects/other/* ~/.codex/history.jsonl; echo x >~/new; (exec "+
			"3<>/dev/tcp/127.0.0.1/%s) && echo reached; pwd) >seen.txt 2>&1; echo made >made.txt", port)
	args, err := json.Marshal(map[string]string{argument: "bash -c '" + command + "'",
		"description": "look"})
	if err != nil {
		t.Fatal(err)
	}
	model.Play(scripted.Step{Tool: "render_file_contents", Arguments: `{"path":"go.mod"}`},
		scripted.Step{Tool: tool, Arguments: string(args)},
		scripted.Step{Tool: "strike", Arguments: `{}`})
	host.Begin()
	err = conn.Prompt(t.Context(), agent.Prompt{MessageID: "m", Content: "show it, then look"})
	host.End(err)
	if err != nil {
		t.Error(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	seen, err := os.ReadFile(work + "/seen.txt")
	if text := string(seen); err != nil || strings.Contains(text, "canary") ||
		strings.Contains(text, "reached") || !strings.HasSuffix(text, work+"\n") {
		t.Errorf("its shell printed %.2000q, %v", text, err)
	}
	if made, err := os.ReadFile(work + "/made.txt"); string(made) != "made\n" {
		t.Errorf("it made %q, %v", made, err)
	}
	if _, err := os.Stat(home + "/new"); err == nil {
		t.Error("it wrote outside")
	}
	if calls := host.Calls(); len(calls) != 2 || calls[0].Name != "render_file_contents" ||
		calls[1].Name != "mine-strike" {
		t.Errorf("calls of the session's tools, the user's server's among them: %+v", calls)
	}
	if n := len(host.Asked()); n != asks {
		t.Errorf("it asked %d times: %+v", n, host.Asked())
	}
	if kept, _ := filepath.Glob(filepath.Join(o.dataPath(), agentsFolder, name, "workspaces", "*", "*",
		"*")); len(kept) < 2 {
		t.Errorf("it keeps %q", kept)
	}
}

// A folder in which nothing can be confined is not opened, and the answer names the reason.
func TestSandboxOpensNoHome(t *testing.T) {
	if err := proc.Confines(); err != nil {
		t.Skip("nothing can be confined here:", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	p := prepare(t, self, []string{"HOME=" + home}, "--sandbox", "auto", "--backend", "offline")
	p.start(t)
	var got struct{ Code, Error string }
	status := p.request(t, "POST", "/api/workspaces", fmt.Sprintf(`{"path":%q}`, home), &got)
	why := home + " cannot be confined: it is or holds your home folder"
	if status != http.StatusConflict || got.Code != "not_confined" ||
		!strings.HasPrefix(got.Error, why) {
		t.Errorf("%d %+v", status, got)
	}
	cmd := exec.Command(self, "open", "--no-open", "--sandbox", "auto", home)
	cmd.Args[0], cmd.Env = "webchat", append(slices.Clone(p.cmd.Env), "WEBCHAT_DATA_DIR="+p.data)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), why) {
		t.Errorf("open: %v %s", err, out)
	}
}

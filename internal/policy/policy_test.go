package policy

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

func act(kind agent.Kind, tool, resource string) agent.Permission {
	return agent.Permission{ToolName: tool, Kind: kind, Resource: resource, Cwd: "/ws"}
}

// decided is what a ruling decides, in a word.
func decided(r agent.Ruling) event.Decision {
	if r.Ask {
		return Ask
	}
	return r.Decision
}

func TestRules(t *testing.T) {
	p := New(Config{Rules: []Rule{
		{Tool: "run_and_display", Command: "go test ./...", Decision: event.Allow},
		{Kind: agent.KindShell, Command: "make", Decision: event.Allow},
		{Kind: agent.KindWrite, Path: "/etc/**", Decision: event.Deny},
		{Kind: agent.KindWrite, Path: "docs/private/*", Decision: Ask},
		{Kind: agent.KindWrite, Path: "docs/**/*.md", Decision: event.Allow},
		{Kind: agent.KindRead, Path: "src/**/*.go", Decision: event.Allow},
		{Kind: agent.KindRead, Path: "~/notes/?.txt", Decision: event.Allow},
		{Tool: "fetch", Decision: event.Deny},
	}, Workspace: "/ws", Home: "/home/me"})
	write, read := agent.KindWrite, agent.KindRead
	for _, c := range []struct {
		p    agent.Permission
		want event.Decision
	}{
		{act(agent.KindShell, "run_and_display", "go test ./..."), event.Allow},
		{act(agent.KindShell, "bash", "go test ./..."), ""},
		{act(agent.KindShell, "bash", "make"), event.Allow},
		{act(write, "x", "/etc/passwd"), event.Deny},
		{act(write, "x", "/ws/../etc/ssh/x"), event.Deny},
		{act(write, "x", "../etc/x"), event.Deny},
		{act(read, "x", "/etc/passwd"), ""},
		{act(write, "x", "docs/a.md"), event.Allow},
		{act(write, "x", "docs/private/a.md"), Ask},
		{act(write, "x", "/ws/docs/a.md"), event.Allow},
		{act(write, "x", "docs/a.md/../../x"), ""},
		{act(read, "x", "src/main.go"), event.Allow},
		{act(read, "x", "src/a/b/main.go"), event.Allow},
		{act(read, "x", "src/main.go.txt"), ""},
		{act(read, "x", "/home/me/notes/a.txt"), event.Allow},
		{act(read, "x", "file:///home/me/notes/a.txt"), event.Allow},
		{act(read, "x", "/home/me/notes/ab.txt"), ""},
		{act(agent.KindMCP, "x", "docs/a.md"), ""},
		{act(agent.KindURL, "fetch", "https://x"), event.Deny},
	} {
		got := p.Rule(t.Context(), c.p)
		outside := c.want == "" && (c.p.Resource == "/etc/passwd" ||
			c.p.Resource == "/home/me/notes/ab.txt")
		if decided(got) != c.want || (got.Reason == "") != (c.want == "") || got.Sensitive != outside {
			t.Errorf("%+v: %+v, want %q", c.p, got, c.want)
		}
	}
	if got := New(Config{Workspace: "/ws"}).Rule(t.Context(),
		act(write, "x", "a")); got != (agent.Ruling{}) {
		t.Errorf("no rules say %+v", got)
	}
}

// THREATS 113: a rule names a tool of an MCP server as SERVER-TOOL, whichever agent calls it.
func TestThreat113RulesNameToolsOfServers(t *testing.T) {
	rule := func(tool string, d event.Decision, act agent.Permission) bool {
		act.Kind = cmp.Or(act.Kind, agent.KindMCP)
		return New(Config{Workspace: t.TempDir(), Rules: []Rule{{
			Tool:     tool,
			Decision: d,
		}}}).Rule(t.Context(), act).Decision == d
	}
	for _, c := range []struct {
		act         agent.Permission
		deny, allow bool
	}{
		// Copilot CLI
		{agent.Permission{Server: "my.pad", ToolName: "my.pad-read_all"}, true, true},
		// Claude Code
		{agent.Permission{Server: "my.pad", ToolName: "mcp__my_pad__read_all"}, true, true},
		// Qwen Code, Autohand CLI
		{agent.Permission{Server: "my.pad", ToolName: "mcp__my.pad__read_all"}, true, true},
		{agent.Permission{Server: "my.pad", ToolName: "read_all"}, true, true}, // Codex
		{agent.Permission{ToolName: "mcp_my.pad_read_all"}, true, false},       // Gemini CLI
		{agent.Permission{ToolName: "my.pad_read_all"}, true, false},           // OpenCode
		{agent.Permission{ToolName: "mcp__My_pad__read_all"}, true, false},
		{agent.Permission{ToolName: "my.pad/read_all"}, true, false},
		{agent.Permission{Server: "my.pad", ToolName: "mcp__my_pad__read"}, false, false},
		// a name that the server chose
		{agent.Permission{Server: "other", ToolName: "my.pad-read_all"}, true, false},
		{agent.Permission{Server: "other", ToolName: "read_all"}, false, false},
		{agent.Permission{ToolName: "read_all"}, false, false},
		{agent.Permission{Kind: agent.KindTool, ToolName: "my.pad_read_all"}, false, false},
	} {
		if got := rule("my.pad-read_all", event.Deny, c.act); got != c.deny {
			t.Errorf("%s of %q is denied: %v", c.act.ToolName, c.act.Server, got)
		}
		if got := rule("my.pad-read_all", event.Allow, c.act); got != c.allow {
			t.Errorf("%s of %q is allowed: %v", c.act.ToolName, c.act.Server, got)
		}
	}
}

// THREATS 46: the address of a file is asked about each time, whatever a rule says of
// addresses or of reading; one that all programs read as the same path is that path.
func TestThreat46AddressesOfFiles(t *testing.T) {
	p := New(Config{
		Workspace: "/ws",
		Reading:   true,
		Rules:     []Rule{{Kind: agent.KindURL, Decision: event.Allow}},
	})
	for _, address := range []string{"file:///etc/passwd", "FILE:///home/me/.ssh/id_rsa",
		"file:/etc/passwd", " file:x", "view-source:file:///etc/passwd", "file://localhost/etc/passwd"} {
		if got := p.Rule(t.Context(), act(agent.KindURL, "fetch", address)); !got.Sensitive ||
			got.Why == "" {
			t.Errorf("%s: %+v", address, got)
		}
	}
	for _, address := range []string{"https://example.com/file:/x", "profile:x",
		"what is a file: in Unix"} {
		if got := p.Rule(t.Context(), act(agent.KindURL, "fetch", address)); got.Sensitive ||
			got.Decision != event.Allow {
			t.Errorf("%s: %+v", address, got)
		}
	}
	for _, name := range []string{"FILE:///etc/passwd", "file:/etc/passwd",
		"file://localhost/etc/passwd", "file:///ws/%2e%2e/etc/passwd"} {
		if got := p.Rule(t.Context(), act(agent.KindRead, "read", name)); !got.Sensitive {
			t.Errorf("reading %s: %+v", name, got)
		}
	}
	if got := p.Rule(t.Context(), act(agent.KindRead, "read", "file:///ws/a.txt")); got.Sensitive ||
		got.Decision != event.Allow {
		t.Errorf("a file of the workspace: %+v", got)
	}
}

// THREATS 52: an allowed command is that command, byte by byte.
func TestThreat52NoPartOfACommandIsAllowed(t *testing.T) {
	p := New(Config{Rules: []Rule{{
		Kind:     agent.KindShell,
		Command:  "git status",
		Decision: event.Allow,
	}}, Workspace: "/ws"})
	if got := p.Rule(t.Context(), act(agent.KindShell, "bash",
		"git status")); got.Decision != event.Allow {
		t.Fatalf("%+v", got)
	}
	for _, tricky := range []string{
		"git status; rm -rf ~", "git status && rm -rf ~", "git status || x", "git status | sh",
		"git status & x", "git status\nx", "git status\rx",
		"git status $(x)", "git status `x`", "git status ${x@P}", "git status <(x)",
		"git status > /etc/passwd", "git status ", " git status", "git  status",
		"git\tstatus", "git status\x00", "git status #", "GIT STATUS", "git status -c core.fsmonitor=x",
		"\u202egit status", "git\u00a0status", "env git status", "git", "",
	} {
		if got := p.Rule(t.Context(), act(agent.KindShell, "bash", tricky)); decided(got) != "" {
			t.Errorf("%q: %+v", tricky, got)
		}
	}
}

// Keys are asked about whatever a rule says, by whatever name they are reached.
func TestSensitiveAfterLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, own := filepath.Join(dir, "ws"), filepath.Join(dir, "own")
	for name, text := range map[string]string{"ws/.env": "K=1", "ws/sub/x.go": "", "own/token": "t",
		"elsewhere/f": ""} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"harmless.txt": ".env", "up": "..",
		"later.txt": "sub/id_rsa", "loop": "loop", "away": "../elsewhere", "two": "harmless.txt"} {
		if err := os.Symlink(to, filepath.Join(ws, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	p := New(Config{Rules: []Rule{
		{Kind: agent.KindWrite, Path: filepath.Join(dir, "elsewhere/**"), Decision: event.Deny},
		{Kind: agent.KindWrite, Path: "**", Decision: event.Allow},
		{Kind: agent.KindRead, Path: "**", Decision: event.Allow},
	}, Workspace: ws, Private: []string{own, filepath.Join(dir, "config.yaml")}})
	for name, want := range map[string]bool{
		".env": true, "harmless.txt": true, "two": true, "later.txt": true, "sub/id_rsa": true,
		"sub/../.env": true, "new/.ssh/config": true,
		"up/own/token": true, "up/own/new": true, filepath.Join(dir, "own"): true,
		filepath.Join(dir, "config.yaml"): true,
		"sub/x.go":                        false, "new.txt": false, "loop": false,
		"up/owner": true, // not webchat's, but outside
	} {
		for _, kind := range []agent.Kind{agent.KindRead, agent.KindWrite} {
			if got := p.Rule(t.Context(), agent.Permission{
				ToolName: "x",
				Kind:     kind,
				Resource: name,
			}); got.Sensitive != want {
				t.Errorf("%s %s: %+v, want %v", kind, name, got, want)
			}
		}
	}
	if got := p.Rule(t.Context(), agent.Permission{
		ToolName: "x",
		Kind:     agent.KindWrite,
		Resource: "away/f",
	}); got.Decision != event.Deny {
		t.Errorf("a link out of the allowed: %+v", got)
	}
	inside := New(Config{Rules: []Rule{{
		Kind:     agent.KindWrite,
		Path:     "away/**",
		Decision: event.Allow,
	}}, Workspace: ws})
	if got := inside.Rule(t.Context(), agent.Permission{
		ToolName: "x",
		Kind:     agent.KindWrite,
		Resource: "away/f",
	}); got.Decision != "" {
		t.Errorf("an allowed name that leads elsewhere: %+v", got)
	}
}

// A shell runs the lines before the one that is no command, so a deny by a prefix must not
// depend on whether the whole can be parsed.
func TestThreat52ACommandThatCannotBeParsedIsAsked(t *testing.T) {
	const command = "rm -rf build\nif"
	for _, rules := range [][]Rule{
		{{Kind: agent.KindShell, Prefix: "rm", Decision: event.Deny}},
		{{Kind: agent.KindShell, Prefix: "rm", Decision: Ask},
			{Kind: agent.KindShell, Decision: event.Allow}},
	} {
		p := New(Config{Rules: rules, Workspace: "/ws"})
		got := p.Rule(t.Context(), agent.Permission{
			Kind:     agent.KindShell,
			ToolName: "bash",
			Resource: command,
			Cwd:      "/ws",
		})
		if !got.Ask || got.Decision != "" || !strings.Contains(got.Reason,
			"read this one in different ways") {
			t.Errorf("%+v: %+v", rules, got)
		}
	}
	p := New(Config{Workspace: "/ws"})
	if got := p.Rule(t.Context(), agent.Permission{
		Kind:     agent.KindShell,
		ToolName: "bash",
		Resource: command,
		Cwd:      "/ws",
	}); got.Sensitive {
		t.Errorf("without such a rule: %+v", got)
	}
}

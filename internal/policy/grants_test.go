package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

func texts(grants []event.Grant) []string {
	var out []string
	for _, g := range grants {
		out = append(out, g.Text)
	}
	return out
}

// begins returns the beginning that may be granted of a command in the workspace.
func begins(p *Policy, command string) string {
	for _, text := range texts(p.Grants(agent.Permission{
		ToolName: "bash",
		Kind:     agent.KindShell,
		Resource: command,
		Cwd:      p.workspace,
	})) {
		for _, of := range []string{"commands that begin with `", "the script `"} {
			if rest, ok := strings.CutPrefix(text, of); ok {
				begin, _, _ := strings.Cut(rest, "`")
				return begin
			}
		}
	}
	return ""
}

func TestBeginningsThatMayBeGranted(t *testing.T) {
	p := New(Config{Workspace: lay(t, "a.txt", "src/", ".env", "prod.env", "sub/secrets.yml")})
	for command, want := range map[string]string{
		"go test ./...":                       "go test",
		"go test -run 'TestA|TestB' -v ./src": "go test",
		`go test -run "Test A" ./...`:         "go test",
		"go vet ./...":                        "go vet",
		"cargo test --workspace":              "cargo test",
		"pytest -q src":                       "pytest",
		"pytest -vv --lf -k 'a or b'":         "pytest",
		// All of its output, or the end of it.
		"go test ./... 2>&1 | tail -5": "go test", "go test | head": "go test", "go test 2>&1": "go test",
		"go test | wc -l": "go test", "go test | tail -n 3": "go test",
		"cat a.txt && go test": "", "go test; go test -v": "", "if go test; then echo ok; fi": "",
		"(go test)": "", "time go test >/dev/null": "", "go test <a.txt": "",
		"go test && go vet": "", "go test | tee x": "", "go test > x": "", "go test 2> x": "",
		"go test | tail -f": "", "go test | tail -5 a.txt": "", "cd ./src && go test": "",
		"for x in .; do go test $x; done": "",
		// What only some of its uses make harmless is allowed word for word.
		"go test -exec ./evil ./...": "", "go test --exec=./evil": "", "go test -toolexec evil": "",
		"go test -C sub": "", "go test -o x": "",
		"go test -coverprofile=.git/hooks/x": "", "go test -modfile=x": "", "go vet -vettool=x": "",
		"go test -args -x":             "",
		"npm test --script-shell=evil": "", "npm test --prefix sub": "", "npm --prefix sub test": "",
		"npm install": "", "npm run": "", "npm run -- x": "",
		"cargo test --config evil": "", "pytest -p evil": "", "pytest -c x": "",
		"pytest --rootdir=sub": "",
		"pytest -co":           "", "pytest -lf": "", "cargo test -release": "", "go test -- -exec x": "",
		"npm test -silent": "",
		"go build ./...":   "go", "go run .": "", "go generate ./...": "", "go env -w X=1": "",
		"goo test": "", "./go test": "", "/usr/bin/ls": "", "GO test": "",
		// What is sensitive, outside or run later is not covered.
		"cat .env": "", "cat ./src/../.env": "", "cat sub/secrets.yml": "", "head prod.env": "",
		"cat /etc/passwd": "", "cat ../x": "", "ls ..": "", "ls /": "",
		"wc --files0-from=/etc/x": "", "cat ~/x": "", "go test ../other": "", "go test .git": "",
		"pytest .vscode/tasks.json": "",
	} {
		if got := begins(p, command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

// Programs whose arguments write files or start programs are never granted by how a
// command begins.
func TestProgramsThatAreNeverGrantedByTheirBeginning(t *testing.T) {
	p := New(Config{Workspace: t.TempDir()})
	for _, program := range strings.Fields(
		`git find tar env xargs ssh scp rsync sh bash zsh fish dash ksh csh sudo su doas nohup setsid nice timeout time watch
		make cmake ninja just rake gradle mvn ant bazel awk gawk sed perl python python3 node deno ruby php lua Rscript java osascript
		npx pnpx bunx uvx pipx pip pip3 uv poetry conda gem bundle docker podman kubectl helm terraform ansible aws gcloud az
		vi vim nvim emacs ed ex nano less more man tee dd cp mv rm ln install chmod chown truncate split sort uniq tree file
		curl wget nc socat telnet ftp sftp dig crontab at batch systemctl launchctl gdb strace ltrace script screen tmux expect
		eval exec source . command builtin alias unalias trap type export set unset cd pushd umask kill jq yq rg grep diff patch zip unzip gzip openssl gpg`) {
		for _, command := range []string{program, program + " x", program + " -x y", program +
			" status"} {
			if got := begins(p, command); got != "" {
				t.Errorf("%q may be granted by %q", command, got)
			}
		}
	}
	for _, x := range prefixes {
		if x.permits("--") || x.permits("-") || x.permits("-_") || x.permits("--unknown") ||
			x.permits("@x") {
			t.Errorf("%v permits what no tool has", x.words)
		}
	}
}

// THREATS 85: a beginning covers one simple command and nothing else a shell could
// make of the text.
func TestThreat85ABeginningIsOneSimpleCommand(t *testing.T) {
	ws := t.TempDir()
	p := New(Config{Workspace: ws, Rules: []Rule{{
		Kind:     agent.KindShell,
		Prefix:   "go test",
		Decision: event.Allow,
	}}})
	for _, command := range tricky {
		if got := begins(p, command); got != "" {
			t.Errorf("%q may be granted by %q", command, got)
		}
		if got := p.Rule(t.Context(), agent.Permission{
			ToolName: "bash",
			Kind:     agent.KindShell,
			Resource: command,
			Cwd:      ws,
		}); got.Decision != "" {
			t.Errorf("%q: a rule with a prefix says %+v", command, got)
		}
	}
	for _, command := range []string{"go test", "go test ./...", "go  test ./...",
		"go test -run 'A B'", `"go" test`} {
		if got := p.Rule(t.Context(), agent.Permission{
			ToolName: "bash",
			Kind:     agent.KindShell,
			Resource: command,
			Cwd:      ws,
		}); got.Decision != event.Allow {
			t.Errorf("%q: %+v", command, got)
		}
	}
}

var tricky = []string{
	"go test ./... && rm -rf x", "go test; rm x", "go test || rm x", "go test | sh", "go test |& sh",
	"go test & rm x", "go test &", "go test;",
	"go test\nrm x", "go test \\\nx", "go test\rx", "go test\x00x", "go test $(rm x)",
	"go test `rm x`", "go test ${x@P}", "go test $x", `go test "$x"`,
	`go test "$(rm x)"`, "go test $((x))", "go test $'\\n'", `go test $"x"`, "go test <(rm x)",
	"go test >(rm x)", "go test > x", "go test >> x", "go test 2>x",
	"go test < x", "go test <<< x", "go test << E\nx\nE", "go test &> x", "go test >&2",
	"VAR=x go test", "GOFLAGS=-exec=evil go test", "VAR=x",
	"! go test", "time go test", "coproc go test", "{ go test; }", "(go test)",
	"if go test; then x; fi", "while go test; do x; done",
	"for x in y; do go test; done", "f() { go test; }", "function f { go test; }", "[[ go test ]]",
	"((go test))", "let go=test", "export go test", "declare go",
	"go test *", "go test ?", "go test [a]", "go test {a,b}", "go test {1..3}", "go test ~",
	"go test ~root", "go test @(a|b)", "go test =ls", "go test a^b",
	"go test # x", "go test !x", "go test \\;", `go test 'a\'' ; rm x #'`, `go test 'a''b'`,
	`go test "a"'b'`, `go test 'a"b'`, `go test "a'b"`, `go test "a\"b"`,
	"go test \u00a0x", "go test\u00a0x", "go\u200b test", "go tesт", "", " ", "'go test'",
	"go 'te st'", "env go test", "sudo go test", "alias go=evil", "go", "go testx",
	"sh -c 'go test'", "go -C x test", "builtin go test", "exec go test", "eval go test",
}

// THREATS 52: what the user allowed exactly is that, byte by byte.
func TestThreat52ExactGrants(t *testing.T) {
	ws := t.TempDir()
	p := New(Config{Workspace: ws})
	exact := func(command string) event.Grant {
		g := p.Grants(agent.Permission{Kind: agent.KindShell, Resource: command, Cwd: ws})
		if len(g) == 0 || g[0].Text == everyCommand {
			return event.Grant{}
		}
		return g[0]
	}
	seen := map[string]string{}
	for _, command := range append(slices.Clone(tricky), "git status", "git status ", " git status",
		"git  status", "GIT STATUS") {
		g := exact(command)
		if other, ok := seen[g.ID]; ok && g.ID != "" {
			t.Errorf("%q and %q have one grant", command, other)
		}
		seen[g.ID] = command
		if strings.ContainsAny(g.Text, "\n\r\x00\u200b") {
			t.Errorf("%q hides something", g.Text)
		}
	}
	if g := exact("make -j4"); g.Text != "this command, exactly: `make -j4`" {
		t.Errorf("it says %q", g.Text)
	}
	if len(exact(strings.Repeat("x", 5000)).Text) > 1000 {
		t.Error("the text of a grant is as long as its command")
	}
}

// What is sensitive or runs later by itself is covered by no grant, also when a
// command names it.
func TestCommandsThatAreAllowedOnlyOnce(t *testing.T) {
	ws := lay(t, ".env", "id_rsa", "a.txt", ".git/config")
	p := New(Config{Workspace: ws})
	for command, none := range map[string]bool{
		"cat .env": true, "cat < .env": true, "cp .env x": true, "cat '.env' | sort": true,
		"curl --data @x --key=id_rsa": true, "echo $(cat .env)": true,
		"echo x > .git/hooks/pre-commit": true, "cp a.txt .git/hooks/x": true,
		"tee .vscode/tasks.json": true, "echo x >> ~/.bashrc": true, "cat $D/.ssh/id_rsa": true,
		"cat .e'n'v": true,
		"cat a.txt":  false, "make": false, "git status": false, "git commit -m 'credentials'": false,
		"go test ./credentials": false, "if": false,
	} {
		got := p.Grants(agent.Permission{Kind: agent.KindShell, Resource: command, Cwd: ws})
		if (len(got) == 0) != none {
			t.Errorf("%q: %v, want none: %v", command, texts(got), none)
		}
	}
}

func TestGrantsOfFilesAndTools(t *testing.T) {
	dir := lay(t, "ws/a.txt", "ws/sub/b.txt", "ws/.env", "ws/.git/config", "out/x")
	ws := filepath.Join(dir, "ws")
	link(t, "../out/x", filepath.Join(ws, "away.txt"))
	link(t, "../out", filepath.Join(ws, "folder"))
	link(t, "a.txt", filepath.Join(ws, "near.txt"))
	link(t, ".env", filepath.Join(ws, "env.txt"))
	link(t, "../out/new", filepath.Join(ws, "dangling.txt"))
	p := New(Config{Workspace: ws})
	for _, c := range []struct {
		act  agent.Permission
		want string
	}{
		{agent.Permission{Kind: agent.KindWrite, Resource: "a.txt"},
			"edits of `a.txt`; edits of files inside this workspace"},
		{agent.Permission{Kind: agent.KindWrite, Resource: "near.txt"},
			"edits of `a.txt`; edits of files inside this workspace"},
		{agent.Permission{Kind: agent.KindWrite, Resource: "new/file.go"},
			"edits of `new/file.go`; edits of files inside this workspace"},
		{agent.Permission{Kind: agent.KindRead, Resource: "a.txt"},
			"reading `a.txt`; reading files inside this workspace"},
		{agent.Permission{Kind: agent.KindRead, Resource: ".", Search: &agent.Search{Pattern: "x"}},
			"searches for `x` in `.`; reading files inside this workspace"},
		{agent.Permission{
			Kind:     agent.KindMCP,
			Server:   "docs",
			ToolName: "find",
			Resource: `find {"q":1}`,
		}, "this call, exactly: `find {\"q\":1}`; this MCP tool: `find` of `docs`"},
		{agent.Permission{Kind: agent.KindMCP, ToolName: "find", Resource: `find {}`},
			"this call, exactly: `find {}`"},
		{agent.Permission{Kind: agent.KindURL, ToolName: "web_fetch", Resource: "https://x/"},
			"this address, exactly: `https://x/`"},
		{agent.Permission{
			Kind:     agent.KindURL,
			ToolName: "web_fetch",
			Resource: "https://x/?of=file:///etc/passwd",
		}, "this address, exactly: `https://x/?of=file:///etc/passwd`"},
		{agent.Permission{
			Kind:     agent.KindURL,
			ToolName: "web_search",
			Resource: "what is a file: in Unix",
		}, "this address, exactly: `what is a file: in Unix`"},
		{agent.Permission{Kind: agent.KindURL, ToolName: "web_fetch", Resource: "file:///etc/passwd"},
			""},
		{agent.Permission{Kind: "new", ToolName: "x", Resource: "y"}, ""},
		{agent.Permission{Kind: agent.KindShell, Resource: "make", Cwd: ws, Sensitive: true}, ""},
		{agent.Permission{Kind: agent.KindWrite, Resource: "away.txt"}, ""},
		{agent.Permission{Kind: agent.KindWrite, Resource: "folder/new.txt"}, ""},
		{agent.Permission{Kind: agent.KindWrite, Resource: "dangling.txt"}, ""},
		{agent.Permission{Kind: agent.KindRead, Resource: "away.txt"}, ""},
		{agent.Permission{Kind: agent.KindWrite, Resource: "../x"}, ""},
		{agent.Permission{
			Kind:     agent.KindWrite,
			Resource: "a.txt",
			Target:   filepath.Join(dir, "out", "x"),
		}, ""},
		// the folder above, or this one
		{agent.Permission{Kind: agent.KindWrite, Resource: "folder/../ws/a.txt"}, ""},
		{agent.Permission{Kind: agent.KindRead, Resource: "env.txt"}, ""},
		{agent.Permission{Kind: agent.KindRead, Resource: ".env"}, ""},
		{agent.Permission{Kind: agent.KindWrite, Resource: ".git/hooks/pre-commit"}, ""},
	} {
		if got := strings.Join(texts(p.Grants(c.act)), "; "); got != c.want {
			t.Errorf("%+v:\n got %s\nwant %s", c.act, got, c.want)
		}
	}
	other := New(Config{Workspace: filepath.Join(dir, "out")})
	if a, b := p.Grants(agent.Permission{Kind: agent.KindWrite, Resource: "a"}),
		other.Grants(agent.Permission{Kind: agent.KindWrite, Resource: "a"}); a[1].ID == b[1].ID {
		t.Error("a grant of one workspace is one of another, too")
	}
}

// THREATS 108: what runs later without being asked about, or instructs agents, is asked about when
// it is written, each time, whatever rules and modes say. What runs only by a command of its own is
// not.
func TestThreat108WhatRunsLater(t *testing.T) {
	ws := t.TempDir()
	p := New(Config{Workspace: ws, Rules: []Rule{{
		Kind:     agent.KindWrite,
		Path:     "**",
		Decision: event.Allow,
	}}})
	later := strings.Fields(
		`.git/hooks/pre-commit .git/config sub/.git/config .GIT/hooks/x .git./hooks/x git~1/hooks/x .github/hooks/x.json .github/copilot/settings.json
		.github/lsp.json .claude/settings.json sub/.claude/settings.local.json .cursor/mcp.json .gemini/settings.json .codex/config.toml .mcp.json .vscode/tasks.json
		.vscode/settings.json .idea/workspace.xml .zed/tasks.json .devcontainer/devcontainer.json .bashrc .profile .zshenv .config/fish/config.fish
		.husky/pre-commit .direnv/x mise.toml .pre-commit-config.yaml lefthook.yml .exrc .gdbinit .gitconfig .git
		.opencode/plugin/x.js opencode.json sub/opencode.jsonc .qwen/settings.json .github/mcp.json .hg/hgrc .helix/languages.toml .Rprofile .yarnrc.yml
		.cargo/config.toml app.code-workspace sub/.CODE-WORKSPACE .autohand/extensions/x`)
	for _, name := range append(later, ".g\u200cit/hooks/x") {
		got := p.Rule(t.Context(), agent.Permission{
			Kind:     agent.KindWrite,
			ToolName: "edit",
			Resource: name,
		})
		if !got.Sensitive || got.Why != whyLater {
			t.Errorf("%s: %+v", name, got)
		}
		if got := p.Rule(t.Context(), agent.Permission{
			Kind:     agent.KindRead,
			ToolName: "view",
			Resource: name,
		}); got.Sensitive {
			t.Errorf("reading %s: %+v", name, got)
		}
	}
	for _, name := range strings.Fields(
		`AGENTS.md CLAUDE.md sub/claude.md AGENTS.override.md GEMINI.md .github/copilot-instructions.md .github/instructions/a/b.instructions.md .claude/rules/x.md`) {
		if got := p.Rule(t.Context(), agent.Permission{
			Kind:     agent.KindWrite,
			ToolName: "edit",
			Resource: name,
		}); !got.Sensitive || got.Why != whyInstructs {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, name := range strings.Fields(
		`Makefile package.json .github/workflows/ci.yml .github/CODEOWNERS .gitignore gitlab/x src/git.go vscode/tasks.json Dockerfile
		agents/x.md .hg/store/x config/x config.toml .cargo/registry/x code-workspace`) {
		if got := p.Rule(t.Context(), agent.Permission{
			Kind:     agent.KindWrite,
			ToolName: "edit",
			Resource: name,
		}); got.Sensitive || got.Decision != event.Allow {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// THREATS 78: a name inside that leads outside is judged by both, asked about under
// every mode, and allowed by nothing but a rule that names where it leads.
func TestThreat78LinksThatLeadOutside(t *testing.T) {
	dir := lay(t, "ws/a.txt", "ws/.env", "out/x", "out/.env")
	ws := filepath.Join(dir, "ws")
	for name, to := range map[string]string{"notes.txt": "../out/x", "folder": "../out",
		"dangling.txt": "../out/new", "chain": "notes.txt", "deep": "folder/sub"} {
		link(t, to, filepath.Join(ws, name))
	}
	if err := os.Link(filepath.Join(ws, ".env"), filepath.Join(ws, "hard.txt")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	all := New(Config{Workspace: ws, Reading: true, Rules: []Rule{
		{Kind: agent.KindWrite, Path: "**", Decision: event.Allow}, {Tool: "edit", Decision: event.Allow},
		{Tool: "view", Decision: event.Allow}}})
	for name, target := range map[string]string{"notes.txt": "out/x", "chain": "out/x",
		"folder/new": "out/new", "folder/a/b": "out/a/b", "dangling.txt": "out/new",
		"deep/x": "out/sub/x", "../out/x": "out/x", filepath.Join(dir, "out", "x"): "out/x"} {
		for kind, tool := range map[agent.Kind]string{agent.KindWrite: "edit", agent.KindRead: "view"} {
			act := agent.Permission{Kind: kind, ToolName: tool, Resource: name}
			if got := all.Rule(t.Context(), act); !got.Sensitive || got.Decision != "" ||
				!strings.Contains(got.Why, "outside the workspace") {
				t.Errorf("%s %s: %+v", kind, name, got)
			}
			if got := all.Target(act); got != filepath.Join(dir, target) {
				t.Errorf("%s leads to %s, want %s", name, got, target)
			}
		}
	}
	for _, name := range []string{"hard.txt", "folder/.env"} {
		if got := all.Rule(t.Context(), agent.Permission{
			Kind:     agent.KindRead,
			ToolName: "view",
			Resource: name,
		}); !got.Sensitive || !strings.Contains(got.Why, "keys or passwords") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	named := New(Config{Workspace: ws, Rules: []Rule{{
		Kind:     agent.KindWrite,
		Path:     filepath.Join(dir, "out/**"),
		Decision: event.Allow,
	}}})
	if got := named.Rule(t.Context(), agent.Permission{
		Kind:     agent.KindWrite,
		Resource: filepath.Join(dir, "out/x"),
	}); got.Decision != event.Allow || got.Sensitive {
		t.Errorf("a rule that names it: %+v", got)
	}
	if got := named.Rule(t.Context(), agent.Permission{
		Kind:     agent.KindWrite,
		Resource: "notes.txt",
	}); got.Decision != "" || !got.Sensitive {
		t.Errorf("by the link's name: %+v", got)
	}
}

// Reading inside the workspace is allowed, judged where links lead, unless a rule of
// the user's says otherwise.
func TestReadingIsNotActing(t *testing.T) {
	dir := lay(t, "ws/a.txt", "ws/prod.env", "ws/secrets.yml", "ws/clean/b.txt", "out/x")
	ws := filepath.Join(dir, "ws")
	link(t, "../out", filepath.Join(ws, "away"))
	p := New(Config{Workspace: ws, Reading: true})
	search := func(path, glob string, names bool) agent.Permission {
		return agent.Permission{
			Kind:     agent.KindRead,
			ToolName: "grep",
			Resource: filepath.Join(ws, path),
			Search:   &agent.Search{Pattern: "x", Path: path, Glob: glob, Names: names},
		}
	}
	for name, c := range map[string]struct {
		act   agent.Permission
		allow bool
		why   string
	}{
		"file": {agent.Permission{Kind: agent.KindRead, ToolName: "view", Resource: "a.txt"},
			true, ""},
		"sensitive": {agent.Permission{
			Kind:     agent.KindRead,
			ToolName: "view",
			Resource: "prod.env",
		}, false, "keys or passwords"},
		"outside": {agent.Permission{Kind: agent.KindRead, ToolName: "view", Resource: "away/x"},
			false, "outside"},
		"write": {agent.Permission{Kind: agent.KindWrite, ToolName: "edit", Resource: "a.txt"},
			false, ""},
		"command": {agent.Permission{
			Kind:     agent.KindShell,
			ToolName: "bash",
			Resource: "cat a.txt",
			Cwd:      ws,
		}, true, ""},
		"another command": {agent.Permission{
			Kind:     agent.KindShell,
			ToolName: "bash",
			Resource: "touch a.txt",
			Cwd:      ws,
		}, false, ""},
		"search":           {search("", "", false), false, "prod.env, secrets.yml"},
		"search by a glob": {search("", "*.txt", false), true, ""},
		"search for keys":  {search("", "*.env", false), false, "prod.env"},
		"search below":     {search("clean", "", false), true, ""},
		"search outside":   {search("away", "", false), false, "outside"},
		"names":            {search("", "**/*", true), true, ""},
	} {
		got := p.Rule(t.Context(), c.act)
		if (got.Decision == event.Allow) != c.allow || got.Sensitive != (c.why != "") ||
			!strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	asks := New(Config{
		Workspace: ws,
		Reading:   true,
		Rules:     []Rule{{Kind: agent.KindRead, Path: "**", Decision: Ask}},
	})
	for _, act := range []agent.Permission{{Kind: agent.KindRead, Resource: "a.txt"},
		{Kind: agent.KindRead, Resource: ws}, search("clean", "", false)} {
		if got := asks.Rule(t.Context(), act); !got.Ask || got.Decision != "" {
			t.Errorf("%+v: %+v", act, got)
		}
	}
	if got := New(Config{Workspace: ws}).Rule(t.Context(),
		agent.Permission{Kind: agent.KindRead, Resource: "a.txt"}); got.Decision != "" {
		t.Errorf("without the built-in rule: %+v", got)
	}
}

// A program that builds, checks and tests is granted as a whole: each of its commands has the
// grant, and none that writes, runs or fetches what is named.
func TestProgramsThatMayBeGranted(t *testing.T) {
	p := New(Config{Workspace: lay(t, "src/")})
	program := func(command string) string {
		act := agent.Permission{
			ToolName: "bash",
			Kind:     agent.KindShell,
			Resource: command,
			Cwd:      p.workspace,
		}
		for _, g := range p.Grants(act) {
			if strings.Contains(g.Text, "build, check, test or query") {
				return g.ID
			}
		}
		return ""
	}
	of := program("go test ./...")
	if of == "" {
		t.Fatal("go is not granted")
	}
	for _, command := range []string{"go build ./...", "go vet ./...", "go test ./... | tail -5",
		"go test -run A ./src"} {
		if got := program(command); got != of {
			t.Errorf("%q has the grant %q, want %q", command, got, of)
		}
	}
	if cargo := program("cargo build --release"); cargo == "" || cargo == of {
		t.Errorf("cargo has the grant %q", cargo)
	}
	for _, command := range append(tricky, "go build ./... && go run .", "go vet ./... && go generate",
		"go build ./... && go vet ./...", "go get x && go test",
		"go env -w X=1; go test", "go tool x", "go install ./...", "go build -o x ./...", "npm test",
		"npm run build", "pytest", "cargo run", "cargo install x") {
		if got := program(command); got != "" {
			t.Errorf("%q is granted with its program", command)
		}
	}
}

package main

import (
	"strings"
	"testing"

	"webchat/internal/event"
)

const everySection = `
providers:
  acme: {type: openai, url: "http://127.0.0.1:11434/v1", key_env: ACME_KEY, models: [small, {id: large, input_price: 3, output_price: 15}]}
mcpServers:
  files: {type: stdio, command: npx, args: ["-y", "some-server"], env: {A: b}, cwd: /srv}
  docs:  {type: http, url: https://example.com/mcp, headers: {Authorization: "Bearer x"}}
agents:
  gemini: {command: gemini, args: ["--acp"], env: {}}
permissions:
  - {tool: run_and_display, command: "go test ./...", decision: allow}
  - {kind: shell, prefix: "go vet", decision: allow}
  - {kind: shell, command: make, cwd: "vendor/**", decision: deny}
  - {kind: read, path: "**", decision: ask}
  - {kind: write, path: "/etc/**", decision: deny}
hooks:
  - {event: before_tool, matcher: "run_and_display|bash", command: "/home/me/check.sh", timeout: 10s, best_effort: false}
env_allow: [MY_VAR]
editor: vscode://file{path}:{line}
veil: false
budget: 500k
`

func TestConfigTakesEverySection(t *testing.T) {
	c, err := parseConfig([]byte(everySection))
	if err != nil {
		t.Fatal(err)
	}
	if m := c.Providers["acme"].Models; len(m) != 2 || m[0].ID != "small" || m[1].OutputPrice != 15 {
		t.Errorf("models %+v", m)
	}
	if a := c.Agents["gemini"]; a.Command != "gemini" || len(a.Args) == 0 {
		t.Errorf("agents %+v", c.Agents)
	}
	if got := strings.Join(c.keyVariables(), " "); got != "ACME_KEY" {
		t.Errorf("keys: %s", got)
	}
	if !c.unveiled() {
		t.Error("the veil is on")
	}
	for flag, want := range map[string]limits{
		"":              {session: event.Budget{Tokens: 500_000}},
		"1.5m":          {session: event.Budget{Tokens: 1_500_000}},
		"5usd":          {session: event.Budget{Money: 5}},
		"$0.5":          {session: event.Budget{Money: 0.5}},
		"2m/day":        {day: event.Budget{Tokens: 2_000_000}},
		"10k, 5usd/day": {event.Budget{Tokens: 10_000}, event.Budget{Money: 5}},
	} {
		o, err := parseOptions([]string{"--budget=" + flag}, nil)
		if flag == "" {
			o, err = parseOptions(nil, nil)
		}
		if err != nil || o.with(c).budget() != want {
			t.Errorf("--budget %s: %+v, %v", flag, o.with(c).budget(), err)
		}
	}
	for _, nothing := range []string{"", "\n", "# a comment\n"} {
		if c, err := parseConfig([]byte(nothing)); err != nil || len(c.Agents) != 0 || c.unveiled() {
			t.Errorf("%q: %v", nothing, err)
		}
	}
}

func TestConfigErrorsNameKeyAndLine(t *testing.T) {
	for text, says := range map[string][]string{
		"env_allow: [A]\nenv_alow: [B]\n": {"line 2",
			`unknown key "env_alow"`},
		"providers:\n  a:\n    type: x\n    adress: y\n": {"line 4",
			`unknown key "adress"`},
		"providers:\n  a: {type: x, url: http://h, models: [{id: a, cost: 1}]}": {"line 2",
			`unknown key "cost"`},
		"budget: much\n":                   {"budget", "500k"},
		"env_allow: 3\n":                   {"line 1", "does not belong here"},
		"editor: 'javascript:{path}'":      {"editor", "javascript:{path}"},
		"editor: vscode://file\n":          {"editor", "vscode://file{path}:{line}"},
		"env_allow: [A]\nenv_allow: [B]\n": {"line 2", "env_allow", "already defined"},
		"hooks: [\n":                       {"line 2"},
		"env_allow: [\"A B\"]":             {"env_allow", "A B"},
		"env_allow: [WEBCHAT_TOKEN]":       {"env_allow", "WEBCHAT_TOKEN"},
		"permissions: [{tool: x, kind: shell, decision: allow}]": {"permissions", "rule 1",
			"tool or kind"},
		"permissions: [{kind: fly, decision: allow}]": {"rule 1", "fly"},
		"permissions: [{tool: x, decision: maybe}]":   {"rule 1", "maybe"},
		"permissions: [{kind: shell, command: a, path: b, decision: allow}]": {"rule 1",
			"only have one"},
		"permissions: [{decision: allow}]": {"rule 1",
			"tool or kind"},
		"permissions: [{kind: shell, command: a, prefix: b, decision: allow}]": {"rule 1",
			"command and a prefix"},
		"permissions: [{kind: shell, prefix: \"a && b\", decision: allow}]": {"rule 1", "a && b",
			"one simple command"},
		"permissions: [{kind: read, cwd: a, decision: allow}]":       {"rule 1", "kind shell", "read"},
		"permissions: [{tool: x, path: a, cwd: b, decision: allow}]": {"rule 1", "path", "cwd"},
		"permissions: [{kind: shell, prefx: a, decision: allow}]":    {"line 1", `unknown key "prefx"`},
		"hooks: [{event: at_night, command: x}]":                     {"hooks", "at_night"},
		"hooks: [{event: error}]":                                    {"command"},
		"hooks: [{event: error, command: x, matcher: \"(\"}]":        {"matcher"},
		"hooks: [{event: error, command: x, timeout: soon}]":         {"timeout"},
		"hooks: [{event: error, command: x, cwd: here}]":             {"here", "absolute"},
		"hooks: [{event: error, command: x, matcher: bash}]":         {"hook 1", "about no tool"},
		"providers: {a: {type: x, url: nowhere}}":                    {"providers", "url"},
		"mcpServers: {webchat: {type: stdio, command: x}}":           {"webchat's own tools"},
		"mcpServers: {a: {type: pipe}}":                              {"mcpServers", "pipe"},
		"mcpServers: {a: {type: stdio}}":                             {"command"},
		"agents: {a: {args: [x]}}":                                   {"agents", "command"},
		"agents: {a: {command: x, state: [/etc]}}":                   {"agents, a", "begins with ~/"},
		"agents: {a: {command: x, hosts: [\"http://x\"]}}":           {"agents, a", "hosts"},
	} {
		_, err := parseConfig([]byte(text))
		if err == nil {
			t.Errorf("%q was accepted", text)
			continue
		}
		for _, s := range says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%q: %v, want %q", text, err, s)
			}
		}
		if strings.Contains(err.Error(), "main.") || strings.Contains(err.Error(), "struct {") {
			t.Errorf("%q: speaks Go: %v", text, err)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(everySection))
	f.Add([]byte("env_allow: [A]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseConfig(b)
		if err != nil {
			return
		}
		if err := c.check(); err != nil {
			t.Errorf("accepted and not valid: %v", err)
		}
		(&options{}).with(c).policy("/ws", "/data")
	})
}

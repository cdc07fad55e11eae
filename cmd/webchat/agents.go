package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/policy"
)

// preset is an agent that speaks the Agent Client Protocol, as it is started so that
// it asks before it acts and leaves reading to the display tools, as far as it can be
// told.
type preset struct {
	title   string
	command []string
	env     []string
	mode    string   // the strictest that still asks
	asks    []string // all that do
	fails   []string // how its errors begin that come as text
	notices []string // and what stands before its answers
	meta    map[string]any
	login   string
}

// presets are found on PATH. Those for Goose, Cline and Auggie follow their
// documentation and were never run; the others were recorded.
func presets() map[string]preset {
	type object = map[string]any
	return map[string]preset{
		"claude": {title: "Claude Code", command: []string{"claude-agent-acp"}, mode: "default", asks: []string{"default", "plan", "dontAsk"}, fails: []string{"API Error: "},
			meta: object{"claudeCode": object{"options": object{"disallowedTools": []string{"Read"}}}}},
		"codex":    {title: "Codex", command: []string{"codex-acp"}, mode: "workspace-write", asks: []string{"workspace-write", "read-only"}, notices: []string{"Warning: "}},
		"gemini":   {title: "Gemini CLI", command: []string{"gemini", "--acp"}, mode: "default", asks: []string{"default", "plan"}},
		"opencode": {title: "OpenCode", command: []string{"opencode", "acp"}, env: []string{`OPENCODE_PERMISSION={"bash":"ask","edit":"ask"}`}, mode: "build", asks: []string{"build", "plan"}},
		"qwen":     {title: "Qwen Code", command: []string{"qwen", "--acp"}, mode: "default", asks: []string{"default", "plan"}},
		"copilot-acp": {title: "Copilot CLI over ACP", command: []string{"copilot", "--acp", "--no-auto-update", "--excluded-tools=view"}, mode: "agent", asks: []string{"agent", "plan"},
			fails: []string{"Error: "}, notices: []string{"Info: "}},
		"goose":  {title: "Goose", command: []string{"goose", "acp"}},
		"cline":  {title: "Cline", command: []string{"cline", "--acp"}},
		"auggie": {title: "Auggie", command: []string{"auggie", "--acp"}},
	}
}

// agents makes the agents of the configuration, which auto may choose, and those
// presets that are found or asked for.
func (o *options) agents(c *config, dir string, lend agent.Lender, log *slog.Logger) (own, found []agent.Backend, err error) {
	base := policy.InheritWhole(o.env, c.keyVariables())
	make := func(name string, p preset) (*acp.Backend, error) {
		return acp.New(acp.Config{Name: name, Title: p.title, Command: p.command, Env: append(slices.Clone(base), p.env...), Lend: lend,
			Home: filepath.Join(dir, "agents", name), Mode: p.mode, Asks: p.asks, Failures: p.fails, Notices: p.notices, Meta: p.meta, Login: p.login, Logger: log})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[name]
		p := preset{title: name, command: append([]string{a.Command}, a.Args...)}
		if known, ok := presets()[name]; ok { // another way to start it
			p.title, p.mode, p.asks, p.fails, p.notices, p.meta, p.env = known.title, known.mode, known.asks, known.fails, known.notices, known.meta, known.env
		}
		for _, k := range slices.Sorted(maps.Keys(a.Env)) {
			p.env = append(p.env, k+"="+a.Env[k])
		}
		if slices.Contains(kinds, name) {
			return nil, nil, usage("agents, %s: webchat has an agent of this name; call yours otherwise", name)
		}
		b, err := make(name, p)
		if err != nil {
			return nil, nil, usage("agents: %v", err)
		}
		own = append(own, b)
	}
	for _, name := range slices.Sorted(maps.Keys(presets())) {
		if _, given := c.Agents[name]; given {
			continue
		}
		b, err := make(name, presets()[name])
		if err != nil {
			return nil, nil, err
		}
		if b.Info(context.Background()).Available || o.Backend == name {
			found = append(found, b)
		}
	}
	return own, found, nil
}

// host lends a session's tools to its agent, by a key of its own.
func (l *lender) host(sessionID string, call func(context.Context, agent.ToolCall) (agent.Result, error)) (agent.Lent, func(), error) {
	base, name := l.address(), "s-"+sessionID
	key, err := l.keys.MCPKey(name)
	if err != nil || base == "" {
		return agent.Lent{}, nil, errors.Join(err, fmt.Errorf("the server does not listen yet"))
	}
	return agent.Lent{URL: base + "/mcp", Header: "Authorization", Value: "Bearer " + key}, l.Host("key "+name, call), nil
}

// lendNothing is for commands without a server.
func lendNothing(string, func(context.Context, agent.ToolCall) (agent.Result, error)) (agent.Lent, func(), error) {
	return agent.Lent{}, nil, errors.New("its display tools are lent by a running server only; start webchat with this --backend")
}

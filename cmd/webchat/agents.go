package main

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/policy"
)

// agents makes the agents of the configuration, which auto may choose, and those
// presets that are found or asked for.
func (o *options) agents(c *config, dir string, lend agent.Lender, log *slog.Logger) (own, found []agent.Backend, err error) {
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		if slices.Contains(kinds, name) {
			return nil, nil, usage("agents, %s: webchat has an agent of this name; call yours otherwise", name)
		}
		b, err := o.preset(c, name).backend(name, c, o, dir, lend, log)
		if err != nil {
			return nil, nil, usage("agents: %v", err)
		}
		own = append(own, b)
	}
	for _, name := range slices.Sorted(maps.Keys(presets())) {
		if _, given := c.Agents[name]; given {
			continue
		}
		b, err := presets()[name].backend(name, c, o, dir, lend, log)
		if err != nil {
			return nil, nil, err
		}
		if b.Info(context.Background()).Available || o.Backend == name {
			found = append(found, b)
		}
	}
	return own, found, nil
}

// preset returns how an agent is started: as the configuration says, else as it is
// known.
func (o *options) preset(c *config, name string) preset {
	p, known := presets()[name]
	a, given := c.Agents[name]
	if !given {
		return p
	}
	if !known {
		p = preset{title: name, signIn: a.Command, untried: true}
	}
	p.command = append([]string{a.Command}, a.Args...)
	for _, k := range slices.Sorted(maps.Keys(a.Env)) {
		p.env = append(p.env, k+"="+a.Env[k])
	}
	return p
}

// backend makes an agent; more is added to its environment.
func (p preset) backend(name string, c *config, o *options, dir string, lend agent.Lender, log *slog.Logger, more ...string) (*acp.Backend, error) {
	var meta map[string]any
	if p.meta != nil {
		meta = p.meta(o.Permissions == "allow")
	}
	env := append(policy.InheritWhole(o.env, c.keyVariables()), p.env...)
	return acp.New(acp.Config{Name: name, Title: p.title, Command: p.command, Env: append(env, more...), Lend: lend,
		Home: filepath.Join(dir, "agents", name), Mode: p.mode, Asks: p.asks, Failures: p.fails, Notices: p.notices, Meta: meta, Login: p.login,
		SignIn: p.signIn, Servers: o.mcpServers(c).Answering, NoPrograms: p.noPrograms, Lacks: p.lacks(), Logger: log})
}

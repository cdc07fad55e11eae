package main

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/policy"
)

// agents makes the agents of the configuration, which auto may choose, and those
// presets that are found or asked for.
func (r roster) agents(cells *cages, dir string, lend agent.Lender,
	log *slog.Logger) (own, found []agent.Backend, err error) {
	for _, name := range slices.Sorted(maps.Keys(r.c.Agents)) {
		if slices.Contains(kinds, name) {
			return nil, nil, usage("agents, %s: webchat has an agent of this name; give yours another name",
				name)
		}
		b, err := r.speaker(r.preset(name), name, cells, dir, lend, log)
		if err != nil {
			return nil, nil, usage("agents: %v", err)
		}
		own = append(own, b)
	}
	for _, name := range slices.Sorted(maps.Keys(acp.Presets())) {
		if _, given := r.c.Agents[name]; given {
			continue
		}
		b, err := r.speaker(acp.Presets()[name], name, cells, dir, lend, log)
		if err != nil {
			return nil, nil, err
		}
		if b.Info(context.Background()).Available || r.Backend == name {
			found = append(found, b)
		}
	}
	return own, found, nil
}

// preset returns how an agent is started: as the configuration says, else as it is
// known.
func (r roster) preset(name string) acp.Preset {
	p, known := acp.Presets()[name]
	a, given := r.c.Agents[name]
	if !given {
		return p
	}
	if !known {
		p = acp.Preset{Title: name, SignIn: a.Command, Untried: true}
	}
	p.Command = append([]string{a.Command}, a.Args...)
	p.Hosts = append(slices.Clone(p.Hosts), a.Hosts...)
	for _, path := range a.State {
		p.State = append(p.State[:len(p.State):len(p.State)],
			acp.State{Path: strings.TrimPrefix(path, "~/")})
	}
	for _, k := range slices.Sorted(maps.Keys(a.Env)) {
		p.Env = append(p.Env, k+"="+a.Env[k])
	}
	return p
}

// speaker makes an agent that speaks the Agent Client Protocol; more is added to its
// environment.
func (r roster) speaker(p acp.Preset, name string, cells *cages, dir string,
	lend agent.Lender, log *slog.Logger, more ...string) (*acp.Backend, error) {
	// What an agent has, its shells and its model can read.
	env, _ := policy.Inherit(r.env, slices.Concat(r.c.EnvAllow, p.Signs), r.c.keyVariables())
	if cells != nil && r.leavesCommands() {
		p = p.InTree()
	}
	env = slices.Concat(env, p.Env, more)
	login := ""
	if key, _ := lookup(env, p.Key); key != "" {
		login = p.KeyLogin
	}
	inside := cells.agent(agentNeeds{
		name:    name,
		state:   p.State,
		ownHome: true,
		hosts:   p.Hosts,
	})
	return acp.New(acp.Config{
		Preset:         p,
		Confine:        inside,
		Name:           name,
		Env:            env,
		Lend:           lend,
		Login:          login,
		Unasked:        r.Permissions == "allow",
		NoInstructions: r.Instructions == "off",
		Home:           filepath.Join(r.shared(dir), agentsFolder, name),
		UserHome:       r.home(),
		Logger:         log,
	})
}

// leavesCommands reports whether commands may be left to the sandbox: no rule of the user's is
// about them, and none is denied.
func (r roster) leavesCommands() bool {
	return r.Permissions != string(consent.ModeDeny) &&
		!slices.ContainsFunc(r.c.Permissions, func(r policy.Rule) bool {
			return r.Decision != event.Allow && r.Path == "" && (r.Kind == "" || r.Kind == agent.KindShell)
		})
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/autohand"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/offline"
	"webchat/internal/displaytools"
	"webchat/internal/mcp"
	"webchat/internal/policy"
	"webchat/internal/tokens"
)

// kinds are the agents this version knows, in the order in which --backend auto
// looks for them.
var kinds = []string{"copilot", autohand.Name, "offline"}

func (r roster) checkBackend() error {
	others := slices.Sorted(maps.Keys(acp.Presets()))
	for _, name := range slices.Sorted(maps.Keys(r.c.Agents)) {
		if !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	all := append(slices.Clone(kinds), others...)
	if r.Backend == "auto" || slices.Contains(all, r.Backend) {
		return nil
	}
	return usage("--backend %q: there are auto, %s", r.Backend, strings.Join(all, ", "))
}

// backends makes the agents, unstarted and in the order in which auto looks for them.
// What they keep lies below dir.
func (r roster) backends(cells *cages, dir string, lend agent.Lender,
	log *slog.Logger) ([]agent.Backend, error) {
	cfg, err := r.copilot(dir, log)
	if err != nil {
		return nil, err
	}
	cfg.Confine = cells.copilot(r.copilotReaches(cfg.Providers))
	cli, err := copilot.New(cfg)
	if err != nil {
		return nil, usage("%s", strings.TrimPrefix(err.Error(), "copilot: "))
	}
	own, found, err := r.agents(cells, dir, cells.lend(lend), log)
	if err != nil {
		return nil, err
	}
	hand, err := r.autohand(cells, dir, cells.lend(lend), log)
	if err != nil {
		return nil, err
	}
	third, err := autohand.New(hand)
	if err != nil {
		return nil, err
	}
	path, _ := lookup(r.env, "PATH")
	all := append(append([]agent.Backend{cli}, own...), third)
	return append(append(all, offline.New(offline.Config{Path: path})), found...), nil
}

// mcpServers are the user's MCP servers, which are tried when that is first needed.
func (r roster) mcpServers() *mcp.UserServers {
	if r.c.tried == nil {
		whole := policy.InheritWhole(r.env, r.c.keyVariables())
		first, _ := r.workspaceDirs() // webchat does not start without
		r.c.tried = mcp.NewUserServers(mcp.UserServersConfig{
			Servers:   r.c.MCPServers,
			Env:       func(workspace string) []string { return r.trusted(whole, workspace) },
			First:     slices.Concat(first, []string{""})[0],
			Documents: r.documents(r.dataPath()),
		})
	}
	return r.c.tried
}

// warnServers tries the user's MCP servers and logs which do not answer.
func (r roster) warnServers(ctx context.Context, log *slog.Logger) {
	if len(r.c.MCPServers) == 0 {
		return
	}
	all, err := r.mcpServers().Status(ctx, mcp.In{})
	if err != nil {
		return // the program ends
	}
	for _, s := range all {
		if s.State != mcp.Ready {
			log.Warn("agents go on without an MCP server", "server", s.Name, "why", s.Failure)
		}
	}
}

// copilot is what the GitHub Copilot CLI gets of flags, environment and file.
func (r roster) copilot(dir string, log *slog.Logger) (copilot.Config, error) {
	providers, err := r.providers()
	if err != nil {
		return copilot.Config{}, err
	}
	cfg := copilot.Config{
		Path:           r.CopilotPath,
		Home:           filepath.Join(r.shared(dir), copilotFolder),
		Env:            r.env,
		Providers:      providers,
		Login:          r.CopilotLogin,
		Model:          r.Model,
		Logger:         log,
		NoInstructions: r.Instructions == "off",
		SearchHits:     r.searchHits(dir),
		Large:          r.LargeResults,
		Count:          func(text string) int { n, _ := tokens.Count(text); return n },
	}
	return cfg, nil
}

// modelsOf are the models of sessions that name none, where webchat gives the agent one.
func modelsOf(ctx context.Context, all []agent.Backend) map[string]string {
	models := map[string]string{}
	for _, b := range all {
		if o, ok := b.(agent.Offerer); ok && b.Name() == "copilot" {
			models[b.Name()] = o.Offers(ctx).Model
		}
	}
	return models
}

// copilotAt is the GitHub Copilot CLI with its state in a folder and only the model at an address.
func (r roster) copilotAt(model, state string) (agent.Backend, error) {
	cfg, err := r.copilot(state, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	cfg.Providers, cfg.Login, cfg.Model = copilot.Providers{{
		URL:    model + "/v1",
		Key:    acp.NoKey,
		Models: []copilot.ProviderModel{{ID: "canary"}},
	}}, false, ""
	return copilot.New(cfg)
}

// defaultBackend is what new sessions get: with auto the first that is found.
// Nothing is started for that.
func (r roster) defaultBackend(ctx context.Context, all []agent.Backend) string {
	if r.Backend != "auto" {
		return r.Backend
	}
	for _, b := range all {
		if b.Info(ctx).Available {
			return b.Name()
		}
	}
	return offline.Name
}

// toolsOf are the names of tools that backends and the display tools are known by.
func toolsOf(all []agent.Backend) []string {
	var names []string
	for _, spec := range displaytools.Specs() {
		names = append(names, spec.Name)
	}
	for _, b := range all {
		if n, ok := b.(agent.ToolNamer); ok {
			names = append(names, n.ToolNames()...)
		}
	}
	return names
}

// missedRules says of which rules nothing is known that they could be about: the
// tool they name is none of a backend, nor of a configured MCP server.
func missedRules(c *config, all []agent.Backend) (missed []string) {
	names := toolsOf(all)
	for i, r := range c.Permissions {
		ofServer := false
		for server := range c.MCPServers {
			ofServer = ofServer || strings.HasPrefix(r.Tool, server+"-")
		}
		if r.Tool != "" && !ofServer && !slices.Contains(names, r.Tool) {
			missed = append(missed, fmt.Sprintf("rule %d names the tool %q", i+1, r.Tool))
		}
	}
	return missed
}

// warnBackend says when what was asked for cannot be had; the server works all
// the same, and each session says it again.
func (r roster) warnBackend(ctx context.Context, all []agent.Backend, log *slog.Logger) {
	for _, b := range all {
		wanted := r.Backend == b.Name() || b.Name() == "copilot" &&
			(r.Provider.URL != "" || r.CopilotPath != "") || b.Name() == autohand.Name &&
			r.AutohandPath != ""
		if !wanted {
			continue
		}
		if info := b.Info(ctx); !info.Available {
			log.Warn("the backend cannot be used", "backend", b.Name(), "reason", info.Reason)
		}
	}
}

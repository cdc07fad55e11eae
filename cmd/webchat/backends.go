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

func (o *options) checkBackend(c *config) error {
	others := slices.Sorted(maps.Keys(acp.Presets()))
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		if !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	all := append(slices.Clone(kinds), others...)
	if o.Backend == "auto" || slices.Contains(all, o.Backend) {
		return nil
	}
	return usage("--backend %q: there are auto, %s", o.Backend, strings.Join(all, ", "))
}

// backends makes the agents, unstarted and in the order in which auto looks for them.
// What they keep lies below dir.
func (o *options) backends(c *config, cells *cages, dir string, lend agent.Lender,
	log *slog.Logger) ([]agent.Backend, error) {
	cfg, err := o.copilot(c, dir, log)
	if err != nil {
		return nil, err
	}
	cfg.Confine = cells.copilot(o.copilotReaches(cfg.Providers))
	cli, err := copilot.New(cfg)
	if err != nil {
		return nil, usage("%s", strings.TrimPrefix(err.Error(), "copilot: "))
	}
	own, found, err := o.agents(c, cells, dir, cells.lend(lend), log)
	if err != nil {
		return nil, err
	}
	hand, err := o.autohand(c, cells, dir, cells.lend(lend), log)
	if err != nil {
		return nil, err
	}
	third, err := autohand.New(hand)
	if err != nil {
		return nil, err
	}
	path, _ := lookup(o.env, "PATH")
	all := append(append([]agent.Backend{cli}, own...), third)
	return append(append(all, offline.New(offline.Config{Path: path})), found...), nil
}

// mcpServers are the user's MCP servers, which are tried when that is first needed.
func (o *options) mcpServers(c *config) *mcp.UserServers {
	if c.tried == nil {
		whole := policy.InheritWhole(o.env, c.keyVariables())
		first, _ := o.workspaceDirs() // webchat does not start without
		c.tried = mcp.NewUserServers(mcp.UserServersConfig{
			Servers:   c.MCPServers,
			Env:       func(workspace string) []string { return o.trusted(whole, workspace) },
			First:     slices.Concat(first, []string{""})[0],
			Large:     largeResult,
			Documents: o.documents(o.dataPath()),
		})
	}
	return c.tried
}

// largeResult is of how many tokens a result of a user's MCP server is at most that a model gets
// whole.
const largeResult = 4000

// warnServers tries the user's MCP servers and logs which do not answer.
func (o *options) warnServers(ctx context.Context, c *config, log *slog.Logger) {
	if len(c.MCPServers) == 0 {
		return
	}
	all, err := o.mcpServers(c).Status(ctx)
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
func (o *options) copilot(c *config, dir string, log *slog.Logger) (copilot.Config, error) {
	providers, err := o.providers(c)
	if err != nil {
		return copilot.Config{}, err
	}
	cfg := copilot.Config{
		Path:           o.CopilotPath,
		Home:           filepath.Join(o.shared(dir), copilotFolder),
		Env:            o.env,
		Providers:      providers,
		Login:          o.CopilotLogin,
		Model:          o.Model,
		Logger:         log,
		NoInstructions: o.Instructions == "off",
		SearchHits:     o.searchHits(c, dir),
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
func (o *options) copilotAt(c *config, model, state string) (agent.Backend, error) {
	cfg, err := o.copilot(c, state, slog.New(slog.DiscardHandler))
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
func (o *options) defaultBackend(ctx context.Context, all []agent.Backend) string {
	if o.Backend != "auto" {
		return o.Backend
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
func (o *options) warnBackend(ctx context.Context, all []agent.Backend, log *slog.Logger) {
	for _, b := range all {
		wanted := o.Backend == b.Name() || b.Name() == "copilot" &&
			(o.Provider.URL != "" || o.CopilotPath != "") || b.Name() == autohand.Name &&
			o.AutohandPath != ""
		if !wanted {
			continue
		}
		if info := b.Info(ctx); !info.Available {
			log.Warn("the backend cannot be used", "backend", b.Name(), "reason", info.Reason)
		}
	}
}

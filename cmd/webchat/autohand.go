package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/autohand"
	"webchat/internal/policy"
)

// agentHook is the hidden command that the Autohand CLI runs as its hook; the name of a
// socket follows.
const agentHook = "agent-hook"

// hooked runs this process as a hook of an agent, if it is one, and does not return then.
// Status 2 refuses what the agent wants to do.
func hooked(args []string) {
	if len(args) != 2 || args[0] != agentHook {
		return
	}
	if err := autohand.Forward(args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}

// autohand is what the Autohand CLI gets of flags, environment and file.
func (r roster) autohand(cells *cages, dir string, lend agent.Lender,
	log *slog.Logger) (autohand.Config, error) {
	self, err := os.Executable()
	if err != nil {
		return autohand.Config{}, fmt.Errorf("find this program: %w", err)
	}
	env, _ := policy.Inherit(r.env, r.c.EnvAllow, r.c.keyVariables())
	cfg := autohand.Config{
		Path:           r.AutohandPath,
		Env:            env,
		NoInstructions: r.Instructions == "off",
		Home:           filepath.Join(r.shared(dir), agentsFolder, autohand.Name),
		UserHome:       r.home(),
		Settings:       r.autohandSettings(),
		Lend:           lend,
		Hook:           []string{self, agentHook},
		Logger:         log,
	}
	providers, err := r.providers()
	if err != nil {
		return cfg, err
	}
	for _, p := range providers {
		if r.Provider.URL != "" && p.Name == "" && (p.Type == "" || p.Type == "openai") &&
			p.WireAPI == "" {
			cfg.Provider = &autohand.Provider{URL: p.URL, Key: p.Key, Model: r.Model}
		}
	}
	cfg.Confine = cells.autohand(cfg, self)
	return cfg, nil
}

// home is the user's folder; empty means unknown.
func (o *options) home() string {
	variable := "HOME"
	if runtime.GOOS == "windows" {
		variable = "USERPROFILE"
	}
	home, _ := lookup(o.env, variable)
	return home
}

// autohandSettings is where the Autohand CLI keeps its settings.
func (o *options) autohandSettings() string {
	if file, _ := lookup(o.env, "AUTOHAND_CONFIG"); file != "" {
		return file
	}
	dir, _ := lookup(o.env, "AUTOHAND_HOME")
	if dir == "" {
		dir = cmp.Or(o.home(), ".") + "/.autohand"
	}
	return filepath.Join(filepath.FromSlash(dir), "config.json")
}

// autohandAt is the Autohand CLI with a home in a folder and a model at an address, which
// also answers for its login.
func (r roster) autohandAt(model, state string,
	lend agent.Lender) (agent.Backend, error) {
	cfg, err := r.autohand(nil, state, lend, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	cfg.Settings = filepath.Join(state, "settings.json")
	cfg.Provider = &autohand.Provider{URL: model + "/v1", Model: "canary"}
	cfg.Env = append(cfg.Env, "HOME="+state, "AUTOHAND_API_URL="+model, "AUTOHAND_AUTH_API_URL="+model)
	if err := os.WriteFile(cfg.Settings, []byte(`{"auth":{"token":"`+acp.NoKey+`"}}`),
		0o600); err != nil {
		return nil, err
	}
	return autohand.New(cfg)
}

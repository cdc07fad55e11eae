package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/files"
	"webchat/internal/policy"
	"webchat/internal/server"
	"webchat/internal/store"
)

// hookConfig is a hook as the configuration file has it.
type hookConfig struct {
	Event      consent.Moment `yaml:"event"`
	Matcher    string         `yaml:"matcher"`
	Command    string         `yaml:"command"`
	Cwd        string         `yaml:"cwd"`
	Timeout    string         `yaml:"timeout"`
	BestEffort bool           `yaml:"best_effort"`
}

// hook returns what h says, or what is wrong with it.
func (h hookConfig) hook() (consent.Hook, error) {
	hook := consent.Hook{
		Event:      h.Event,
		Matcher:    h.Matcher,
		Command:    h.Command,
		Dir:        h.Cwd,
		BestEffort: h.BestEffort,
	}
	if h.Timeout != "" {
		d, err := time.ParseDuration(h.Timeout)
		if err != nil || d <= 0 {
			return hook, fmt.Errorf("the timeout %q is not a duration such as 10s", h.Timeout)
		}
		hook.Timeout = d
	}
	return hook, hook.Check()
}

// hooks makes the user's hooks. Commands get what the user's own commands get.
func (o setup) hooks(workspace string) (*consent.Hooks, error) {
	var list []consent.Hook
	for i, h := range o.c.Hooks {
		hook, err := h.hook()
		if err != nil {
			return nil, usage("hooks, hook %d: %v", i+1, err)
		}
		list = append(list, hook)
	}
	return consent.NewHooks(consent.HookConfig{
		Hooks:     list,
		Workspace: workspace,
		Env:       policy.InheritWhole(o.env, o.c.keyVariables()),
	})
}

// foreign are names a repository could hope to have its own settings read from.
var foreign = []string{".webchat", ".webchat.yaml", ".webchat.yml", "webchat.yaml", "webchat.yml",
	".env"}

// warnWorkspace says what of the workspace is not read, and whether agents could
// write what is.
func (o *options) warnWorkspace(workspace string, log *slog.Logger) {
	var there []string
	for _, name := range foreign {
		if _, err := os.Lstat(filepath.Join(workspace, name)); !errors.Is(err, fs.ErrNotExist) {
			there = append(there, name)
		}
	}
	if len(there) > 0 {
		log.Info("ignored in the workspace: settings, rules and hooks come from the user's own "+
			"configuration only", "ignored", strings.Join(there, ", "))
	}
	if o.Config == "" {
		return
	}
	for _, name := range policy.New(policy.Config{Workspace: workspace}).Names(o.Config) {
		if rel, err := filepath.Rel(workspace, filepath.FromSlash(name)); err == nil &&
			filepath.IsLocal(rel) {
			log.Warn("the configuration is in the workspace: agents that may write there can change the "+
				"rules and hooks of the next start; move it elsewhere", "config", rel)
			return
		}
	}
}

// consent is what pages and clients are shown of rules and hooks.
func (o setup) consent() server.Consent {
	out := server.Consent{Mode: consent.Mode(o.Permissions), Timeout: o.PermissionTimeout}
	for _, r := range o.c.Permissions {
		out.Rules = append(out.Rules, server.Rule{Rule: r})
	}
	if out.Mode == consent.ModeAsk { // policy.Config.Reading
		out.Rules = append(out.Rules, server.Rule{Rule: policy.Rule{
			Kind:     agent.KindRead,
			Path:     "**",
			Decision: event.Allow,
		}, Builtin: true},
			server.Rule{
				Rule:    policy.Rule{Kind: agent.KindShell, Decision: event.Allow},
				Builtin: true,
				Covers:  policy.ReadingCommands,
			})
	}
	for _, h := range o.c.Hooks {
		timeout := h.Timeout
		if timeout == "" {
			timeout = consent.DefaultTimeout.String()
		}
		out.Hooks = append(out.Hooks, server.Hook{
			Event:      string(h.Event),
			Matcher:    h.Matcher,
			Command:    h.Command,
			Timeout:    timeout,
			BestEffort: h.BestEffort,
		})
	}
	return out
}

// searchHits asks the policy of each workspace, which is made once.
func (r roster) searchHits(dataDir string) func(context.Context, string,
	agent.Search) ([]string, bool) {
	var made sync.Map // of workspace, *policy.Policy
	return func(ctx context.Context, workspace string, s agent.Search) ([]string, bool) {
		p, ok := made.Load(workspace)
		if !ok {
			p, _ = made.LoadOrStore(workspace, r.policy(workspace, dataDir))
		}
		return p.(*policy.Policy).SearchHits(ctx, s)
	}
}

// secrets are webchat's own files that no act opens, and what of the data folder is not
// among them: the homes of agents, which an agent is asked about, and a workspace in it.
func (o *options) secrets(workspace, dataDir string) []policy.Secret {
	in := func(name string) string { return filepath.Join(dataDir, name) }
	shared := func(name string) string { return filepath.Join(o.shared(dataDir), name) }
	list := []policy.Secret{
		{Path: o.TokenFile, What: "webchat's API token"},
		{Path: in("token"), What: "webchat's API token"},
		{Path: o.EngineFile, What: "the password of webchat's database"},
		{Path: o.Provider.KeyFile, What: "the key of webchat's model"},
		{Path: in(store.FileName), What: "webchat's sessions"},
		{Path: in(policy.GrantsName), What: "webchat's list of what you allowed"},
		{Path: shared(outputsFolder), What: "webchat's store of outputs"}, {Path: shared(agentsFolder)},
		{Path: shared(copilotFolder)},
	}
	if rel, below := belowData(workspace, dataDir); below {
		first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		// else an older version's
		if _, err := os.Lstat(filepath.Join(in(first), "token")); errors.Is(err, fs.ErrNotExist) {
			list = append(list, policy.Secret{Path: workspace})
		}
	}
	list = append(list, policy.Secret{Path: dataDir, What: "part of webchat's data folder"})
	return slices.DeleteFunc(list, func(s policy.Secret) bool { return s.Path == "" })
}

// belowData returns the path of a workspace in the data folder; false if it is not below it.
func belowData(workspace, dataDir string) (rel string, below bool) {
	rel, err := filepath.Rel(dataDir, workspace)
	return rel, err == nil && rel != "." && filepath.IsLocal(rel)
}

// isBelow reports whether a path is a folder or below it.
func isBelow(name, dir string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// policy is what c says about acts in workspace, with webchat's own files private.
func (o setup) policy(workspace, dataDir string) *policy.Policy {
	programs, _ := lookup(o.env, "PATH")
	own := []string{o.configPath(), filepath.Join(xdg.ConfigHome, "webchat"),
		filepath.Join(o.shared(dataDir), agentsFolder), filepath.Join(o.shared(dataDir), copilotFolder)}
	if _, below := belowData(workspace, dataDir); !below {
		own = append(own, dataDir)
	}
	git := o.trusted(policy.InheritWhole(o.env, o.c.keyVariables()), workspace)
	return policy.New(policy.Config{
		Rules:     o.c.Permissions,
		Reading:   o.Permissions == string(consent.ModeAsk),
		Workspace: workspace,
		Home:      o.home(),
		Path:      programs,
		Asks:      []string{displaytools.RunCommand},
		Tracked:   func(name string) bool { return tracked(git, name) },
		Private:   slices.DeleteFunc(own, func(name string) bool { return name == "" }),
		Secrets:   o.secrets(workspace, dataDir),
	})
}

// tracked reports whether git tracks a file. Without an answer in 5 s it does not.
func tracked(env []string, name string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	found, err := files.Tracked(ctx, env, filepath.Dir(name), []string{filepath.Base(name)})
	return err == nil && len(found) > 0
}

package autohand

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/policy"
	"webchat/internal/wording"
)

// Excluded are tools of the CLI that its settings refuse: one reads files into the context, the
// others start agents without a question, change the folder that is worked in, make tools that run
// later, run one that was made under another line, or begin turns by themselves.
var Excluded = []string{"read_file", "create_team", "add_teammate", "enter_worktree",
	"exit_worktree",
	"create_meta_tool", "custom_command", "install_specialist_roster", "cron_create"}

// environment is what the CLI inherits, with a home below dir. Variables that make it answer for
// the user are left out.
func (b *Backend) environment(dir string) []string {
	env := slices.DeleteFunc(slices.Clone(b.cfg.Env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "HOME", "USERPROFILE", "CI", "AUTOHAND_NON_INTERACTIVE", "AUTOHAND_HOME", "AUTOHAND_CONFIG",
			"AUTOHAND_DEBUG",
			"AUTOHAND_MODEL", "AUTOHAND_CODE_SIMPLE", "AUTOHAND_STREAM_TOOL_OUTPUT":
			return true
		}
		return false
	})
	home := filepath.Join(dir, "home")
	return append(env, "HOME="+home, "USERPROFILE="+home, "AUTOHAND_HOME="+filepath.Join(dir, "state"))
}

// furnish makes the folder of a conversation: its settings, state and home.
func (b *Backend) furnish(dir string, servers []any, socket string) error {
	for _, d := range []string{dir, filepath.Join(dir, "state"), filepath.Join(dir, "home")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("make the folder of a conversation: %w", err)
		}
	}
	if err := b.mirrorHome(filepath.Join(dir, "home")); err != nil {
		return fmt.Errorf("make the home of a conversation: %w", err)
	}
	settings, err := b.settings(servers, socket)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config.json"), settings, 0o600)
}

// mirrorHome shows what is in the user's home in another, so that commands find their settings
// there. The CLI's own folder is left out.
func (b *Backend) mirrorHome(to string) error {
	var from string
	for _, v := range b.cfg.Env {
		if value, ok := strings.CutPrefix(v, "HOME="); ok {
			from = value
		}
	}
	if from == "" || runtime.GOOS == "windows" { // where links need a privilege
		return nil
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil // a user without a home has nothing to show
	}
	for _, e := range entries {
		if e.Name() == ".autohand" {
			continue
		}
		err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// own reads the user's settings.
func (b *Backend) own() (map[string]json.RawMessage, error) {
	own := map[string]json.RawMessage{}
	if b.cfg.Settings == "" {
		return own, nil
	}
	text, err := os.ReadFile(b.cfg.Settings)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return own, nil
	case err != nil:
		return nil, fmt.Errorf("read the settings of Autohand CLI: %w", err)
	}
	if err := json.Unmarshal(text, &own); err != nil {
		return nil,
			fmt.Errorf(
				"the settings of Autohand CLI in %s are no JSON; start autohand once, which writes them anew",
				b.cfg.Settings)
	}
	return own, nil
}

// settings are those of a conversation: of the user's only the provider and the login.
func (b *Backend) settings(servers []any, socket string) ([]byte, error) {
	own, err := b.own()
	if err != nil {
		return nil, err
	}
	all := object{}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if name == "provider" || name == "customProviders" || name == "auth" || isProvider(own[name]) {
			all[name] = own[name]
		}
	}
	if p := b.cfg.Provider; p != nil {
		all["provider"] = "custom:webchat"
		all["customProviders"] = object{"webchat": object{"id": "webchat", "displayName": "webchat",
			"apiFormat": "openai-compatible",
			"baseUrl":   p.URL, "apiKeyRequired": p.Key != "", "apiKey": p.Key, "model": p.Model,
			"contextWindow": 128000}}
	}
	if all["provider"] == nil {
		return nil,
			fmt.Errorf(
				"%w: Autohand CLI has no model set up; run autohand once and choose a provider, or give "+
					"--provider-url", agent.ErrUnavailable)
	}
	off := object{"enabled": false}
	all["telemetry"] = object{"enabled": false, "enableSessionSync": false}
	all["autoReport"], all["sync"], all["externalAgents"] = off, off, off
	all["communitySkills"] = object{"enabled": false, "showSuggestionsOnStartup": false,
		"autoBackup": false}
	all["ui"] = object{"checkForUpdates": false, "promptSuggestions": false, "notifications": false,
		"autoConfirm": false}
	all["agent"] = object{"autoMemory": false}
	var refused []any
	for _, name := range Excluded {
		refused = append(refused, object{"kind": name})
	}
	all["permissions"] = object{"mode": "interactive", "rememberSession": false,
		"excludedTools": refused}
	all["mcp"] = object{"enabled": true, "servers": servers}
	all["hooks"] = object{"enabled": true, "hooks": []any{b.hookSetting("pre-tool", socket),
		b.hookSetting("post-tool", socket)}}
	return json.MarshalIndent(all, "", " ")
}

// Reading says how far the CLI's model is kept from reading files into its context.
func Reading() string {
	return "its own read_file is offered to the model and refused when it is called; searches, " +
		"lists and changes in git are read after the rules or you allowed it"
}

// hookPatience is how long the CLI waits for a hook, in milliseconds: users' hooks and questions
// have limits of their own.
const hookPatience = 24 * 60 * 60 * 1000

func (b *Backend) hookSetting(moment, socket string) object {
	words := append(slices.Clone(b.cfg.Hook), socket)
	command := "exec " + wording.CommandLine(words...)
	if runtime.GOOS == "windows" {
		command = `"` + strings.Join(words, `" "`) + `"`
	}
	return object{"event": moment, "command": command, "description": "webchat", "enabled": true,
		"timeout": hookPatience}
}

// isProvider reports whether a setting describes a provider of models.
func isProvider(raw json.RawMessage) bool {
	var s struct {
		Model, APIKey, BaseURL *string
		Enabled                *bool
	}
	return json.Unmarshal(raw, &s) == nil && s.Enabled == nil &&
		(s.Model != nil || s.APIKey != nil || s.BaseURL != nil)
}

// risky are the places of a folder from which the CLI runs code by itself.
var risky = policy.RunBy(Name)

// tidy removes what the CLI makes in a workspace at each start. What holds something stays: the
// index of its memory goes only with an empty memory.
func tidy(dir string) {
	if os.Remove(filepath.Join(dir, "memory", "events")) == nil {
		_ = os.Remove(filepath.Join(dir, "memory", "index.json"))
	}
	for _, name := range []string{"memory", "tools", ""} {
		_ = os.Remove(filepath.Join(dir, name)) // it is not empty
	}
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	// meta goes with each new conversation; all says that the agent may act unasked.
	meta       func(all bool) map[string]any
	login      string
	signIn     string // the command that signs in
	noPrograms bool   // it takes no MCP server that is a program
	untried    bool   // it was never run with webchat: what is said of it is its documentation's
	reads      string // how far its own tools for reading are off
	consent    string // what it does without asking
	// offline returns the environment with which it uses the model at an address and
	// keeps its state in a folder. nil: it cannot be told.
	offline func(model, state string) ([]string, error)
}

// lacks is what a user should know before they choose the agent.
func (p preset) lacks() (all []string) {
	for _, s := range []string{p.consent, p.reads} {
		if s != "" {
			all = append(all, s)
		}
	}
	all = append(all, "cannot be steered while it works")
	if p.untried {
		all = append(all, "was never tried with webchat")
	}
	return all
}

// presets are found on PATH. Those that are not marked as untried were recorded.
func presets() map[string]preset {
	type object = map[string]any
	const reading = "asks nothing before it reads files"
	return map[string]preset{
		"claude": {title: "Claude Code", command: []string{"claude-agent-acp"}, mode: "default", asks: []string{"default", "plan", "dontAsk"}, fails: []string{"API Error: "},
			meta: func(all bool) object {
				return object{"claudeCode": object{"options": object{"disallowedTools": []string{"Read"}, "allowDangerouslySkipPermissions": all}}}
			},
			signIn: "claude /login", consent: reading, offline: claudeOffline},
		"codex": {title: "Codex", command: []string{"codex-acp"}, mode: "read-only", asks: []string{"read-only"}, notices: []string{"Warning: "},
			signIn: "codex login", consent: "runs commands that only read without asking", offline: codexOffline},
		"gemini": {title: "Gemini CLI", command: []string{"gemini", "--acp"}, mode: "default", asks: []string{"default", "plan"},
			signIn: "gemini", consent: reading, reads: "can read files by its own tools", offline: geminiOffline},
		"opencode": {title: "OpenCode", command: []string{"opencode", "acp"}, env: []string{`OPENCODE_PERMISSION={"bash":"ask","edit":"ask"}`}, mode: "build", asks: []string{"build", "plan"},
			signIn: "opencode auth login", consent: reading, reads: "can read files by its own tools", offline: openCodeOffline},
		"qwen": {title: "Qwen Code", command: []string{"qwen", "--acp"}, mode: "default", asks: []string{"default", "plan"},
			signIn: "qwen", consent: reading, reads: "can read files by its own tools", offline: qwenOffline},
		"copilot-acp": {title: "Copilot CLI over ACP", command: []string{"copilot", "--acp", "--no-auto-update", "--excluded-tools=view"}, mode: "agent", asks: []string{"agent", "plan"},
			fails: []string{"Error: "}, notices: []string{"Info: "}, signIn: "copilot login", noPrograms: true, consent: reading, offline: copilotOffline},
		"goose":        {title: "Goose", command: []string{"goose", "acp"}, signIn: "goose configure", untried: true, reads: "can read files by its own tools"},
		"cline":        {title: "Cline", command: []string{"cline", "--acp"}, signIn: "cline auth", untried: true, reads: "can read files by its own tools"},
		"auggie":       {title: "Auggie", command: []string{"auggie", "--acp"}, signIn: "auggie login", untried: true, reads: "can read files by its own tools"},
		"autohand-acp": {title: "Autohand over ACP", command: []string{"autohand", "--mode", "acp"}, fails: []string{"Error ("}, signIn: "autohand login", untried: true, reads: "can read files by its own tools"},
	}
}

// The key that a model in this program gets; it asks for none.
const noKey = "webchat-canary"

func claudeOffline(model, state string) ([]string, error) {
	return []string{"HOME=" + state, "CLAUDE_CONFIG_DIR=" + filepath.Join(state, "claude"), "ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=" + noKey,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}, nil
}

func codexOffline(model, state string) ([]string, error) {
	config := fmt.Sprintf("model = \"canary\"\nmodel_provider = \"canary\"\n\n[model_providers.canary]\nname = \"canary\"\nbase_url = %q\nwire_api = \"responses\"\nenv_key = \"CANARY_KEY\"\n", model+"/v1")
	return []string{"HOME=" + state, "CODEX_HOME=" + state, "CANARY_KEY=" + noKey}, os.WriteFile(filepath.Join(state, "config.toml"), []byte(config), 0o600)
}

func geminiOffline(model, state string) ([]string, error) {
	dir := filepath.Join(state, ".gemini")
	return []string{"HOME=" + state, "GEMINI_API_KEY=" + noKey, "GOOGLE_GEMINI_BASE_URL=" + model},
		errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"security":{"auth":{"selectedType":"gemini-api-key"}}}`), 0o600))
}

func openCodeOffline(model, state string) ([]string, error) {
	type object = map[string]any
	config, err := json.Marshal(object{"model": "canary/canary", "provider": object{"canary": object{"npm": "@ai-sdk/openai-compatible", "name": "canary",
		"options": object{"baseURL": model + "/v1", "apiKey": noKey}, "models": object{"canary": object{"name": "canary"}}}}})
	name := filepath.Join(state, "opencode.json")
	return []string{"HOME=" + state, "XDG_CONFIG_HOME=" + state, "XDG_DATA_HOME=" + state, "XDG_STATE_HOME=" + state, "OPENCODE_CONFIG=" + name},
		errors.Join(err, os.WriteFile(name, config, 0o600))
}

func qwenOffline(model, state string) ([]string, error) {
	return []string{"HOME=" + state, "OPENAI_BASE_URL=" + model + "/v1", "OPENAI_API_KEY=" + noKey, "OPENAI_MODEL=canary"}, nil
}

func copilotOffline(model, state string) ([]string, error) {
	return []string{"HOME=" + state, "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + model + "/v1", "COPILOT_PROVIDER_API_KEY=" + noKey, "COPILOT_MODEL=canary"}, nil
}

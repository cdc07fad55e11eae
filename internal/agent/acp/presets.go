package acp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/policy"
	"webchat/internal/proc"
)

// Preset is an agent that speaks the Agent Client Protocol, as it is started so that it asks before
// it acts and leaves reading to the display tools, as far as it has settings for that.
type Preset struct {
	Title   string
	Command []string // see acp.Config
	Env     []string
	// Signs are the variables that it signs in with, and hands on to what it starts.
	Signs []string
	// Instructed is what more it is started with to load the instruction files of a folder, and
	// Uninstructed what keeps it from that. Both empty: nothing does.
	Instructed, Uninstructed Added
	// Risky are the paths in a folder from which it would run commands without asking; see
	// [policy.RunBy].
	Risky []string
	// Mark is the field in which its program says that a call is of webchat's tools; see Mark.
	// Empty: it has none, or asks nothing about them.
	Mark     Mark
	Mode     string   // the strictest that still asks
	Asks     []string // all that do
	Failures []string // how its errors begin that come as text
	Notices  []string // and what stands before its answers
	// Meta goes with each new conversation; all says that the agent may act unasked.
	Meta   func(all bool) map[string]any
	SignIn string // the command that signs in
	// Key is a variable with a key, and KeyLogin the method by which it signs in with that.
	Key, KeyLogin string
	AsksTools     bool   // it asks before each tool of an MCP server, whatever the tool says of itself
	Hides         bool   // it does not show what it refuses by itself; see steps
	Untried       bool   // an agent of the configuration: it was never run with webchat
	Namespaces    bool   // what confines its commands needs namespaces
	Obeys         bool   // what its user's own settings allow, it does without asking
	Reads         string // how far its own tools for reading are off
	Consent       string // what it does without asking, as long as that was not tried; see convo.Tried
	Commands      string // what its questions about commands lack
	// Hosts are where it signs in and where its models are, as the sandbox names them.
	Hosts []string
	// State are the folders in which it keeps what it needs again. Empty: it is given a home of its
	// own where it is confined.
	State []State
	// ConfinedMode is the mode that it has where its tree is confined, since its own sandbox cannot be
	// had there; empty: Mode.
	ConfinedMode string
	// Offline returns the environment with which it uses the model at an address and keeps its
	// state in a folder. nil: it has no settings for that.
	Offline func(model, state string) ([]string, error)
}

// State is a folder of an agent's own. A confined tree has one of its workspace's in its place.
type State struct {
	Path   string            // from ~/
	Var    string            // the variable that names it; empty: none does
	Own    []string          // files in it that sign in, which a confined tree uses as they are
	Read   []string          // files and folders in it that the user wrote, which it reads
	Copied map[string]string // files in it that it gets a copy of, by where they are, from ~/
	// Servers are files in it that name MCP servers of its own, and the key under which they do.
	Servers map[string]string
}

// InTree is the preset in a tree that is confined.
func (p Preset) InTree() Preset {
	if p.ConfinedMode != "" {
		p.Mode, p.Asks, p.Namespaces = p.ConfinedMode, append(slices.Clone(p.Asks), p.ConfinedMode), false
		p.Consent = "runs commands and edits files without asking; the sandbox holds it to its folder"
	}
	return p
}

// Added is what an agent is started with beside its command and environment.
type Added struct{ Args, Env []string }

func (a Added) isZero() bool { return len(a.Args)+len(a.Env) == 0 }

// skips reports whether the agent can be kept from loading instruction files.
func (p Preset) skips() bool { return !p.Instructed.isZero() || !p.Uninstructed.isZero() }

// lacks is what a user should know before they choose the agent, of which a was tried.
func (p Preset) lacks(a agent.Asking) (all []string) {
	if len(p.Risky) > 0 {
		all = append(all, "opens no folder with "+p.Risky[0]+
			" or the like in it or above it, from which it would run commands without asking")
	}
	unasked := convo.Unasked(a)
	if len(unasked) == 0 && p.Consent != "" && a != (agent.Asking{
		Writes: agent.AskedYes,
		Runs:   agent.AskedYes,
		Reads:  agent.AskedYes,
	}) {
		unasked = []string{p.Consent}
	}
	all = append(all, unasked...)
	if !p.AsksTools {
		all = append(all,
			"may run a tool of an MCP server without asking if the tool says that it only reads; webchat "+
				"does not stop it")
	}
	if p.Hides {
		all = append(all, "shows no command that it refuses by itself, only that there was one")
	}
	for _, s := range []string{p.Commands, p.Reads} {
		if s != "" {
			all = append(all, s)
		}
	}
	if p.Namespaces {
		if err := proc.Namespaces(); err != nil {
			all = append(all,
				fmt.Sprintf("cannot start its own sandbox here, so each of its commands fails: %v", err))
		}
	}
	if p.Obeys {
		all = append(all, "does what your own settings of it allow without asking")
	}
	all = append(all, "cannot be steered while it works")
	if p.Untried {
		all = append(all, "was never tried with webchat")
	}
	return all
}

// start is a digest of what the agent is started with so that it asks.
func (p Preset) start() string {
	v := object{"command": p.Command, "env": p.Env, "mode": p.Mode, "asks": p.Asks}
	if p.Meta != nil {
		v["meta"] = p.Meta(false)
	}
	text, _ := json.Marshal(v) // it never fails
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Presets are the presets by name; they are found on PATH. Each was recorded.
func Presets() map[string]Preset {
	type object = map[string]any
	const reading = "asks nothing before it reads files"
	return map[string]Preset{
		"claude": {Title: "Claude Code", Command: []string{"claude-agent-acp"}, Mark: "_meta.claudeCode",
			Mode: "default", Asks: []string{"default", "plan", "dontAsk"}, AsksTools: true,
			Signs: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS",
				"CLAUDE_CODE_OAUTH_TOKEN"},
			Instructed: Added{Env: []string{"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1"}},
			Failures:   []string{"API Error: "},
			// In a folder that its user trusts it ran hooks of these in a part of the runs, despite
			// settingSources: 2.1.316.
			Risky: policy.RunBy("claude"),
			Meta: func(all bool) object {
				// Settings of a folder would run its servers; its CLAUDE.md comes as that of one
				// more folder.
				options := object{"disallowedTools": []string{"Read"}, "allowDangerouslySkipPermissions": all,
					"settingSources": []string{"user"}, "additionalDirectories": []string{"."}}
				// By itself it asks nothing before what it takes for reading, such as cat .env, nor before what
				// its user's own settings allow, tools of servers among it: 2.1.316. These settings are of this
				// conversation only, and go before those.
				options["settings"] = object{"permissions": object{"ask": []string{"Bash", "Grep", "Glob",
					"Edit", "Write", "NotebookEdit", "WebFetch", "mcp__*"}}}
				// What might be typed next, which webchat does not show, would be a call of the
				// model after each turn.
				options["promptSuggestions"] = false
				// The protocol has no word for a call of the model that is tried again: see retried.
				tries := []object{{"type": "system", "subtype": "api_retry"}}
				return object{"claudeCode": object{"options": options, "emitRawSDKMessages": tries}}
			},
			// In a folder that a variable names it keeps .claude.json too, which it replaces.
			State: []State{{
				Path:    ".claude",
				Var:     "CLAUDE_CONFIG_DIR",
				Own:     []string{".credentials.json"},
				Copied:  map[string]string{".claude.json": ".claude.json"},
				Servers: map[string]string{".claude.json": "mcpServers", "settings.json": "mcpServers"},
				Read: []string{"settings.json", "settings.local.json", "CLAUDE.md", "commands", "agents",
					"skills", "plugins", "rules", "hooks", "output-styles"},
			}},
			Hosts: []string{"api.anthropic.com", "console.anthropic.com", "platform.claude.com",
				"claude.ai"},
			SignIn: "claude /login", Offline: claudeOffline},
		"codex": {Title: "Codex", Command: []string{"codex-acp"}, Mark: "_meta.is_mcp_",
			Mode: "read-only", Asks: []string{"read-only"}, Notices: []string{"Warning: "},
			Signs:        []string{"OPENAI_API_KEY", "CODEX_API_KEY"},
			Uninstructed: Added{Env: []string{`CODEX_CONFIG={"project_doc_max_bytes":0}`}},
			// Its own sandbox takes namespaces, which a confined tree cannot have. Only this mode goes
			// without, and asks nothing: 0.166.
			ConfinedMode: "agent-full-access",
			State: []State{{
				Path: ".codex",
				Var:  "CODEX_HOME",
				Own:  []string{"auth.json"},
				Read: []string{"config.toml", "AGENTS.md", "AGENTS.override.md", "prompts", "rules",
					"skills", "hooks.json"},
				Servers: map[string]string{"config.toml": "mcp_servers"},
			}},
			Hosts:  []string{"api.openai.com", "auth.openai.com", "chatgpt.com", "*.chatgpt.com"},
			SignIn: "codex login", Namespaces: true, Hides: true, Obeys: true, Risky: policy.RunBy("codex"),
			Consent: "runs read commands without asking; webchat does not stop it", Offline: codexOffline},
		"gemini": {
			Title:   "Gemini CLI",
			Command: []string{"gemini", "--acp"},
			Risky:   policy.RunBy("gemini"),
			Mark:    "toolCallId",
			Mode:    "default",
			Asks:    []string{"default", "plan"},
			Hosts: []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com",
				"oauth2.googleapis.com", "accounts.google.com", "www.googleapis.com"},
			State: []State{{
				Path:    ".gemini",
				Own:     []string{"oauth_creds.json", "google_accounts.json"},
				Read:    []string{"settings.json", "GEMINI.md", "commands", "extensions", "skills", ".env"},
				Servers: map[string]string{"settings.json": "mcpServers"},
			}},
			Signs:    []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
			SignIn:   "gemini",
			Obeys:    true,
			Key:      "GEMINI_API_KEY",
			KeyLogin: "gemini-api-key",
			Consent:  reading,
			Commands: "shows a command in a title only, so you are asked about each",
			Reads:    "can read files by its own tools",
			Offline:  geminiOffline,
		},
		"opencode": {
			Title:   "OpenCode",
			Command: []string{"opencode", "acp"},
			Risky:   policy.RunBy("opencode"),
			Env:     []string{`OPENCODE_PERMISSION={"bash":"ask","edit":"ask"}`},
			Mode:    "build",
			Asks:    []string{"build", "plan"},
			Hosts: []string{"opencode.ai", "*.opencode.ai", "models.dev", "api.anthropic.com",
				"api.openai.com", "generativelanguage.googleapis.com", "openrouter.ai"},
			State: []State{{Path: ".config/opencode", Read: []string{"opencode.json", "opencode.jsonc",
				"AGENTS.md", "agent", "command", "plugin"},
				Servers: map[string]string{"opencode.json": "mcp", "opencode.jsonc": "mcp"}},
				{Path: ".local/share/opencode", Own: []string{"auth.json"}}, {Path: ".local/state/opencode"},
				{Path: ".cache/opencode"}},
			Signs:   []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"},
			SignIn:  "opencode auth login",
			Obeys:   true,
			Consent: reading,
			Reads:   "can read files by its own tools",
			Offline: openCodeOffline,
		},
		"qwen": {
			Title:   "Qwen Code",
			Command: []string{"qwen", "--acp"},
			Risky:   policy.RunBy("qwen"),
			Mark:    "_meta.provenance",
			Mode:    "default",
			Asks:    []string{"default", "plan"},
			Hosts: []string{"chat.qwen.ai", "portal.qwen.ai", "dashscope.aliyuncs.com",
				"dashscope-intl.aliyuncs.com", "api.openai.com"},
			State: []State{{
				Path:    ".qwen",
				Own:     []string{"oauth_creds.json"},
				Read:    []string{"settings.json", "QWEN.md", "commands", "extensions", "skills", ".env"},
				Servers: map[string]string{"settings.json": "mcpServers"},
			}},
			Signs:   []string{"OPENAI_API_KEY", "DASHSCOPE_API_KEY"},
			SignIn:  "qwen",
			Obeys:   true,
			Consent: reading,
			Reads:   "can read files by its own tools",
			Offline: qwenOffline,
		},
		// all tools of the server of exactly that name: 1.0.102
		"copilot-acp": {
			Title: "Copilot CLI over ACP",
			Command: []string{"copilot", "--acp", "--no-auto-update", "--excluded-tools=view,lsp",
				"--allow-tool={webchat}"},
			Mode:     "agent",
			Asks:     []string{"agent", "plan"},
			Failures: []string{"Error: "},
			Notices:  []string{"Info: "},
			SignIn:   "copilot login",
			Obeys:    true,
			Env:      []string{"COPILOT_ALLOW_ALL=false"},
			Hosts: []string{"github.com", "api.github.com", "*.githubcopilot.com",
				"copilot-proxy.githubusercontent.com"},
			State: []State{{
				Path: ".copilot",
				Var:  "COPILOT_HOME",
				Own:  []string{"config.json"},
				Read: []string{"mcp-config.json", "settings.json", "agents", "skills",
					"copilot-instructions.md"},
				Servers: map[string]string{"mcp-config.json": "mcpServers"},
			}},
			Signs:        []string{"COPILOT_GITHUB_TOKEN"},
			Uninstructed: Added{Args: []string{"--no-custom-instructions"}},
			Risky:        policy.RunBy("copilot-acp"),
			Consent:      reading,
			Offline:      copilotOffline,
		},
	}
}

// NoKey is the key that a model in this program gets, which asks for none.
const NoKey = "webchat-canary"

func claudeOffline(model, state string) ([]string, error) {
	return []string{"HOME=" + state, "CLAUDE_CONFIG_DIR=" + filepath.Join(state, "claude"),
		"ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=" + NoKey,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}, nil
}

func codexOffline(model, state string) ([]string, error) {
	config := fmt.Sprintf(
		"model = \"canary\"\nmodel_provider = \"canary\"\n\n[model_providers.canary]\nname = "+
			"\"canary\"\nbase_url = %q\nwire_api = \"responses\"\nenv_key = \"CANARY_KEY\"\n", model+"/v1")
	return []string{"HOME=" + state, "CODEX_HOME=" + state, "CANARY_KEY=" + NoKey},
		os.WriteFile(filepath.Join(state, "config.toml"), []byte(config), 0o600)
}

func geminiOffline(model, state string) ([]string, error) {
	dir := filepath.Join(state, ".gemini")
	return []string{"HOME=" + state, "GEMINI_API_KEY=" + NoKey, "GOOGLE_GEMINI_BASE_URL=" + model},
		errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "settings.json"),
			[]byte(`{"security":{"auth":{"selectedType":"gemini-api-key"}}}`), 0o600))
}

func openCodeOffline(model, state string) ([]string, error) {
	type object = map[string]any
	config, err := json.Marshal(object{"model": "canary/canary",
		"provider": object{"canary": object{"npm": "@ai-sdk/openai-compatible", "name": "canary",
			"options": object{"baseURL": model + "/v1", "apiKey": NoKey},
			"models":  object{"canary": object{"name": "canary"}}}}})
	name := filepath.Join(state, "opencode.json")
	return []string{"HOME=" + state, "XDG_CONFIG_HOME=" + state, "XDG_DATA_HOME=" + state,
			"XDG_STATE_HOME=" + state, "OPENCODE_CONFIG=" + name},
		errors.Join(err, os.WriteFile(name, config, 0o600))
}

func qwenOffline(model, state string) ([]string, error) {
	return []string{"HOME=" + state, "OPENAI_BASE_URL=" + model + "/v1", "OPENAI_API_KEY=" + NoKey,
		"OPENAI_MODEL=canary"}, nil
}

func copilotOffline(model, state string) ([]string, error) {
	return []string{"HOME=" + state, "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + model +
		"/v1", "COPILOT_PROVIDER_API_KEY=" + NoKey, "COPILOT_MODEL=canary"}, nil
}

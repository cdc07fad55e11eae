package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Relative names are those of the folder the program was started in, wherever the
// workspace is, and what they name is as protected as under its whole name.
func TestRelativeFilesAreProtected(t *testing.T) {
	here, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	if err := os.WriteFile("my.yaml", []byte("env_allow: [A]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := parseOptions([]string{"--config", "my.yaml", "--token-file", "deep/../token.txt",
		"--copilot-path", "./bin/copilot"},
		[]string{"WEBCHAT_PROVIDER_KEY_FILE=key.txt"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{o.Config: "my.yaml", o.TokenFile: "token.txt",
		o.Provider.KeyFile: "key.txt", o.CopilotPath: "bin/copilot"} {
		if want = filepath.Join(here, want); name != want {
			t.Errorf("%s, want %s", name, want)
		}
	}
	if byName, err := parseOptions([]string{"--copilot-path", "copilot"}, nil); err != nil ||
		byName.CopilotPath != "copilot" {
		t.Errorf("a program that PATH finds became %s, %v", byName.CopilotPath, err)
	}
	c, err := o.loadConfig()
	if err != nil || len(c.EnvAllow) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	p := o.with(c).policy(t.TempDir(), t.TempDir())
	for name, want := range map[string]bool{"my.yaml": true, "token.txt": true, "key.txt": true,
		"other.txt": false} {
		for _, kind := range []agent.Kind{agent.KindRead, agent.KindWrite} {
			got := p.Rule(t.Context(), agent.Permission{Kind: kind, Resource: filepath.Join(here, name)})
			if got := got.Sensitive && strings.Contains(got.Why, "webchat's own") ||
				got.Decision == event.Deny && strings.Contains(got.Reason, "webchat's"); got != want {
				t.Errorf("%s %s is protected: %v, want %v", kind, name, got, want)
			}
		}
	}
}

// The data folder opens no file also as a workspace. A user's folder below it is one like
// any other, and those that webchat made there are not.
func TestTheDataFolderIsPrivate(t *testing.T) {
	o, err := parseOptions(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	in := func(name string) string { return filepath.Join(data, name) }
	old := in("relay-0123456789ab")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(old, "token"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const asked event.Decision = "asked"
	for _, c := range []struct {
		workspace, name string
		want            event.Decision
	}{
		{data, "below/x", event.Deny}, {t.TempDir(), "below/x", event.Deny},
		{in("below"), "below/x", event.Allow}, {in("below"), "token", event.Deny},
		{in("below"), "webchat.db-wal", event.Deny},
		{in("outputs"), "outputs/x", event.Deny}, {old, "relay-0123456789ab/token", event.Deny},
		{in("agents/autohand"), "agents/autohand/config.json", asked},
		{data, "copilot/session-state/x", asked}, {t.TempDir(), "agents/claude/x", asked},
	} {
		got := o.with(&config{}).policy(c.workspace, data).Rule(t.Context(),
			agent.Permission{Kind: agent.KindRead, Resource: in(c.name)})
		if decided := map[bool]event.Decision{
			true:  asked,
			false: got.Decision,
		}[got.Sensitive]; decided != c.want {
			t.Errorf("%s in %s: %+v, want %q", c.name, c.workspace, got, c.want)
		}
	}
}

// A name that JSON cannot hold is refused as it is, not looked for as another.
func TestNamesThatAreNotText(t *testing.T) {
	_, err := parseOptions([]string{"open", "a\xff"}, nil)
	if _, ok := errors.AsType[*usageError](err); !ok ||
		!strings.Contains(err.Error(), `"a\xff" is not UTF-8`) {
		t.Errorf("%v", err)
	}
}

// A path in the configuration file begins at the folder of that file.
func TestPathsOfTheConfiguration(t *testing.T) {
	name := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(name, []byte(`mcpServers:
  mine: {type: stdio, command: bin/server, cwd: data}
  found: {type: stdio, command: npx, cwd: /srv}
  far: {type: http, url: "https://example.com/mcp"}
agents:
  own: {command: ./agent, args: ["./left-alone"]}
  found: {command: gemini}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := parseOptions([]string{"--config", name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.loadConfig()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(name)
	for got, want := range map[string]string{
		c.MCPServers["mine"].Command:  filepath.Join(dir, "bin/server"),
		c.MCPServers["mine"].Cwd:      filepath.Join(dir, "data"),
		c.MCPServers["found"].Command: "npx", c.MCPServers["found"].Cwd: "/srv",
		c.MCPServers["far"].Cwd: "",
		c.Agents["own"].Command: filepath.Join(dir, "agent"), c.Agents["own"].Args[0]: "./left-alone",
		c.Agents["found"].Command: "gemini",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

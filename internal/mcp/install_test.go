package mcp_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"webchat/internal/mcp"
)

// A client is connected by its own command, once the user agreed, and what that says is passed on.
// Without a command the user reads what to add where.
func TestConnect(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the client is a shell script")
	}
	dir := t.TempDir()
	program := "#!/bin/sh\nfor a; do echo \"<$a>\"; done >> \"$ADDED\"\n"
	for _, name := range []string{"claude", "codex"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(program), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, c := range map[string]struct {
		client, answer string
		http, yes      bool
		added          string // the arguments of the client's command
		says, fails    string
	}{
		"agreed":    {client: "claude", answer: "yes\n", added: "<mcp>\n<add>\n<--scope>\n<user>\n<webchat>\n<-->\n</opt/web chat>\n<mcp>\n", says: `'/opt/web chat' mcp`},
		"refused":   {client: "claude", answer: "n\n", says: "Nothing was changed"},
		"no answer": {client: "claude", says: "Nothing was changed"},
		"unasked":   {client: "codex", yes: true, http: true, added: "<mcp>\n<add>\n<webchat>\n<--url>\n<http://localhost:1/mcp/w/1>\n<--bearer-token-env-var>\n<WEBCHAT_MCP_KEY>\n", says: "WEBCHAT_MCP_KEY=codex-key"},
		"a file":    {client: "cursor", says: ".cursor/mcp.json"},
		"http":      {client: "claude", http: true, yes: true, added: "<mcp>\n<add>\n<--transport>\n<http>\n<webchat>\n<http://localhost:1/mcp/w/1>\n<--header>\n<Authorization: Bearer ${WEBCHAT_MCP_KEY}>\n", says: "WEBCHAT_MCP_KEY=claude-key"},
		"not here":  {client: "gemini", yes: true, fails: "gemini is not on PATH: install Gemini CLI"},
		"unknown":   {client: "emacs", fails: "webchat mcp install knows claude"},
		"by file":   {client: "vscode", http: true, fails: "takes no address by its command"},
	} {
		t.Run(name, func(t *testing.T) {
			added := filepath.Join(t.TempDir(), "added")
			var out bytes.Buffer
			err := mcp.Installation{Server: []string{"/opt/web chat", "mcp"}, Env: append(os.Environ(), "PATH="+dir+":/bin:/usr/bin", "ADDED="+added),
				Address: func(client string) (string, string, error) { return "http://localhost:1/mcp/w/1", client + "-key", nil },
				In:      strings.NewReader(c.answer), Out: &out, HTTP: c.http, Yes: c.yes}.Connect(t.Context(), c.client)
			if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("it ends with %v, want %q", err, c.fails)
			}
			got, err := os.ReadFile(added)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if string(got) != c.added || !strings.Contains(out.String(), c.says) {
				t.Errorf("the client is told\n%s\nthe user reads\n%s", got, &out)
			}
		})
	}
}

// Everybody on the machine can read the arguments of a command, so that none holds the key.
func TestNoKeyInArguments(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the client is a shell script")
	}
	dir := t.TempDir()
	for _, name := range []string{"claude", "codex", "gemini", "copilot", "qwen"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho \"arguments: $*\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+string(os.PathListSeparator)+"/bin:/usr/bin")
		var out bytes.Buffer
		err := mcp.Installation{Server: []string{"webchat", "mcp"}, Env: os.Environ(), In: strings.NewReader(""), Out: &out, HTTP: true, Yes: true,
			Address: func(string) (string, string, error) { return "http://localhost:1/mcp", "the-key", nil }}.Connect(t.Context(), name)
		_, ran, _ := strings.Cut(out.String(), "arguments: ")
		if err != nil || !strings.Contains(ran, "WEBCHAT_MCP_KEY") || strings.Contains(ran, "the-key") || strings.Count(out.String(), "the-key") != 1 {
			t.Errorf("%s: %v, the user reads\n%s", name, err, &out)
		}
	}
}

// What the client's command says of its failure is passed on, with its status.
func TestClientRefuses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the client is a shell script")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte("#!/bin/sh\necho no such scope\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	var out bytes.Buffer
	err := mcp.Installation{Server: []string{"webchat", "mcp"}, Env: os.Environ(), In: strings.NewReader(""), Out: &out, Yes: true}.Connect(t.Context(), "claude")
	if err == nil || !strings.Contains(err.Error(), "claude ended with 3") || !strings.Contains(out.String(), "no such scope") {
		t.Errorf("it ends with %v, the user reads\n%s", err, &out)
	}
}

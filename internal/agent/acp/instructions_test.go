package acp_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/event"
)

// workspace makes a folder "ws" with files: "name: text", "name -> where a link leads" or, for
// another name of a file, "name -> =file".
func workspace(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range append([]string{"ws/.env: KEY=canary", "key: KEY=canary"}, files...) {
		name, text, _ := strings.Cut(f, ": ")
		name, to, linked := strings.Cut(name, " -> ")
		name = filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		if other, hard := strings.CutPrefix(to, "="); hard {
			err = errors.Join(err, os.Link(filepath.Join(filepath.Dir(name), other), name))
		} else if linked {
			err = errors.Join(err, os.Symlink(to, name))
		} else {
			err = errors.Join(err, os.WriteFile(name, []byte(text), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "ws")
}

// leadAway are instruction files that lead to what the user was not asked about.
var leadAway = map[string][]string{
	"link to a secret":      {"ws/CLAUDE.md -> .env"},
	"hard link to a secret": {"ws/AGENTS.md -> =.env"},
	"imports a hard link":   {"ws/CLAUDE.md: see @plain.md", "ws/plain.md -> =.env"},
	"link outside":          {"ws/AGENTS.md -> ../key"},
	"override":              {"ws/AGENTS.md: be kind", "ws/AGENTS.override.md -> ../key"},
	"local":                 {"ws/CLAUDE.local.md -> .env"},
	"imports a secret":      {"ws/CLAUDE.md: see @.env"},
	"imports in an import": {"ws/CLAUDE.md: see @doc/a.md", "ws/doc/a.md: @b.md",
		"ws/doc/b.md: @../.env"},
	"imports with a part":  {"ws/CLAUDE.md: see @.env#keys"},
	"imports with a space": {`ws/CLAUDE.md: see @my\ dir/.env`, "ws/my dir/.env: KEY=canary"},
	"imports from a link": {"ws/CLAUDE.md -> doc/a.md", "ws/doc/a.md: @b.env",
		"ws/doc/b.env: KEY=canary"},
	"imports content": {"ws/CLAUDE.md: see @settings.yml",
		"ws/settings.yml: password: hunter2-hunter2"},
	"imports outside": {"ws/CLAUDE.md: @../key"},
	"linked folder":   {"ws/.claude -> ../out", "out/CLAUDE.md: x"},
	"rules":           {"ws/.claude/rules/a.md -> ../../.env"},
	"above":           {"CLAUDE.md -> ws/.env", "ws/a.txt: x"},
}

// THREATS 111: an agent that loads the instruction files of a folder is started without them where
// one leads to a secret or outside, or is not started.
func TestThreat111InstructionsThatLeadAway(t *testing.T) {
	open := func(ws string, with func(*acp.Config)) (*agenttest.Host, error) {
		h := agenttest.NewHost(agenttest.DisplayTools())
		conn, err := newBackend(t, "polite", with).Open(t.Context(),
			agent.Options{SessionID: "s1", Workspace: ws, Tools: agenttest.DisplayTools()}, h)
		if err == nil {
			err = conn.Close()
		}
		return h, err
	}
	for name, files := range leadAway {
		ws := workspace(t, files...)
		if _, err := open(ws, nil); !errors.Is(err, agent.ErrUnavailable) ||
			!strings.Contains(err.Error(), "change that, or choose another agent") {
			t.Errorf("%s: %v", name, err)
		}
		var env []string
		h, err := open(ws, func(c *acp.Config) {
			c.Uninstructed = acp.Added{Env: []string{"ACP_REQUIRED=1"}}
			env = c.Env
		})
		warned := slices.ContainsFunc(h.Events(), func(d event.Data) bool {
			e, ok := d.(event.SessionError)
			return ok && strings.Contains(e.Message, "No instruction file of this folder was loaded: ")
		})
		if err != nil || !warned {
			t.Errorf("%s: %v, a warning: %v (%q)", name, err, warned, env)
		}
	}
	for _, files := range [][]string{{"ws/CLAUDE.md: be kind to @doc/a.md, me@example.com",
		"ws/doc/a.md: x", "ws/AGENTS.md -> CLAUDE.md"}, {"CLAUDE.md: above", "ws/a.txt: x"}} {
		if _, err := open(workspace(t, files...), nil); err != nil {
			t.Errorf("%q: %v", files, err)
		}
	}
}

// The real Claude Code and Codex load a plain file, none that is switched off, and send no model
// what such files lead to.
func TestRealThreat111InstructionsThatLeadAway(t *testing.T) {
	t.Parallel()
	for name, plain := range map[string]string{"claude-agent-acp": "CLAUDE.md",
		"codex-acp": "AGENTS.md"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			preset := acp.Presets()[strings.Split(name, "-")[0]]
			sent := func(off bool, files ...string) []byte {
				t.Helper()
				model, with := realAgent(t, name)
				h := &table{
					Host: agenttest.NewHost(agenttest.DisplayTools()),
					t:    t,
					dir:  workspace(t, files...),
				}
				b := newBackend(t, "", func(c *acp.Config) {
					with(c)
					c.Instructed, c.Uninstructed, c.NoInstructions = preset.Instructed, preset.Uninstructed, off
				})
				conn, err := b.Open(t.Context(), agent.Options{
					SessionID: "s1",
					Workspace: h.dir,
					Tools:     agenttest.DisplayTools(),
				}, h)
				if err != nil {
					t.Fatal(err)
				}
				h.conn = conn
				if err := h.prompt(t.Context(), "hello"); err != nil {
					t.Error(err)
				}
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
				return bytes.Join(model.Requests(), []byte("\n"))
			}
			if got := sent(false, "ws/"+plain+": MARK-plain"); !bytes.Contains(got, []byte("MARK-plain")) {
				t.Error("a plain file is not loaded")
			}
			if got := sent(true, "ws/"+plain+": MARK-plain"); bytes.Contains(got, []byte("MARK-plain")) ||
				len(got) == 0 {
				t.Error("it is loaded though it is switched off")
			}
			// All at once: each of them alone is refused above.
			all := []string{"ws/CLAUDE.md: @.env @../key @doc/a.md", "ws/doc/a.md: @../.env",
				"ws/AGENTS.md -> .env", "ws/AGENTS.override.md -> ../key", "ws/CLAUDE.local.md -> ../key",
				"ws/.claude/rules/a.md -> ../../.env", "AGENTS.md -> key"}
			if got := sent(false, all...); bytes.Contains(got, []byte("canary")) || len(got) == 0 {
				t.Error("a model was sent what they lead to")
			}
		})
	}
}

package acp_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
)

// THREATS 108: an agent is not started where it would take commands from a folder: the workspace,
// or any above it, whatever stands between them. The user's own folder and those above it are the
// user's.
func TestThreat108RiskyFolders(t *testing.T) {
	top := t.TempDir()
	home := filepath.Join(top, "home")
	repository := filepath.Join(home, "outer", "repository")
	below := filepath.Join(repository, "a", "b")
	for _, dir := range []string{filepath.Join(repository, ".git"),
		filepath.Join(below, ".agent", "hooks"), filepath.Join(top, ".agent", "hooks")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	linked := filepath.Join(top, "linked")
	if err := os.Symlink(below, linked); err != nil {
		t.Skip("no links here")
	}
	b := newBackend(t, "polite", func(c *acp.Config) {
		c.Risky, c.UserHome = []string{".agent/settings.json", ".agent/hooks"}, home
	})
	write := func(name string) string {
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			err = os.WriteFile(name, []byte("{}"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	write(filepath.Join(top, ".agent", "hooks", "x"))
	write(filepath.Join(home, ".agent", "settings.json"))
	open := func(workspace string) error {
		conn, err := b.Open(t.Context(), agent.Options{
			SessionID: "s",
			Workspace: workspace,
			Tools:     agenttest.DisplayTools(),
		}, agenttest.NewHost(agenttest.DisplayTools()))
		if err == nil {
			err = conn.Close()
		}
		return err
	}
	if err := open(home); err != nil {
		t.Errorf("the user's own settings are risky: %v", err)
	}
	for _, name := range []string{filepath.Join(repository, ".agent", "settings.json"),
		filepath.Join(below, ".agent", "hooks", "x"),
		filepath.Join(home, "outer", ".agent", "settings.json")} {
		if err := open(below); err != nil {
			t.Errorf("nothing is risky: %v", err)
		}
		write(name)
		for _, workspace := range []string{below, linked} {
			if err := open(workspace); !errors.Is(err, agent.ErrUnavailable) ||
				!strings.Contains(err.Error(), filepath.Join(".agent", "")) {
				t.Errorf("%s with %s: %v", workspace, name, err)
			}
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

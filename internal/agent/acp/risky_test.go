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

// An agent is not started where it would take commands from a folder: the workspace, or
// one above it in the same repository.
func TestRiskyFolders(t *testing.T) {
	top := t.TempDir()
	repository := filepath.Join(top, "repository")
	below := filepath.Join(repository, "a", "b")
	for _, dir := range []string{filepath.Join(repository, ".git"), filepath.Join(below, ".agent", "hooks"), filepath.Join(top, ".agent", "hooks")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b := newBackend(t, "polite", func(c *acp.Config) { c.Risky = []string{".agent/settings.json", ".agent/hooks"} })
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
	write(filepath.Join(top, ".agent", "hooks", "x")) // outside of the repository
	open := func() error {
		conn, err := b.Open(t.Context(), agent.Options{SessionID: "s", Workspace: below, Tools: agenttest.DisplayTools()}, agenttest.NewHost(agenttest.DisplayTools()))
		if err == nil {
			err = conn.Close()
		}
		return err
	}
	if err := open(); err != nil {
		t.Errorf("nothing is risky: %v", err)
	}
	for _, name := range []string{filepath.Join(repository, ".agent", "settings.json"), filepath.Join(below, ".agent", "hooks", "x")} {
		if err := open(); err != nil {
			t.Errorf("nothing is risky: %v", err)
		}
		write(name)
		if err := open(); !errors.Is(err, agent.ErrUnavailable) || !strings.Contains(err.Error(), filepath.Dir(name)) {
			t.Errorf("with %s: %v", name, err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

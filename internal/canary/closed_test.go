package canary_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/canary"
)

// careless runs what a workspace brings, if it runs anything, and asks so often
// before the command.
type careless struct {
	agent.Backend
	asks int
	runs string // a file to leave in marks
}

func (c careless) Open(_ context.Context, _ agent.Options, h agent.Host) (agent.Conn, error) {
	return carelessConn{careless: c, host: h}, nil
}

type carelessConn struct {
	agent.Conn
	careless
	host agent.Host
}

func (c carelessConn) Prompt(ctx context.Context, _ agent.Prompt) error {
	if c.runs != "" {
		if err := os.WriteFile(c.runs, nil, 0o600); err != nil {
			return err
		}
	}
	for range c.asks {
		if _, err := c.host.AskPermission(ctx, agent.Permission{}); err != nil {
			return err
		}
	}
	return nil
}

func (carelessConn) Close() error { return nil }

func TestClosed(t *testing.T) {
	for name, c := range map[string]struct {
		asks int
		mark string
		want []string
	}{
		"asks about the command":        {1, "", nil},
		"asks about nothing":            {0, "", []string{"a place that is not known"}},
		"runs something of a workspace": {1, ".vscode_mcp.json.1", []string{".vscode/mcp.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := careless{asks: c.asks}
			ran, err := canary.Closed{Sources: []string{".env", ".vscode/mcp.json"},
				Plant: func(folder, marks string) error {
					if info, err := os.Stat(folder); err != nil || !info.IsDir() {
						t.Errorf("%s: %v", folder, err)
					}
					if c.mark != "" {
						b.runs = filepath.Join(marks, c.mark)
					}
					return nil
				},
				Backend: func(string, string) (agent.Backend, error) { return &b, nil }}.Try(t.Context())
			if err != nil || !slices.Equal(ran, c.want) {
				t.Errorf("%q, %v", ran, err)
			}
		})
	}
}

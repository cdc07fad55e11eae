package acp_test

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/cage"
	"webchat/internal/proc"
)

// TestSoakRealContractConfined runs the contract of every backend on the real agents, confined.
// Codex has its own sandbox off there and asks about nothing, so what it does by its own means is
// the sandbox's to hold.
func TestSoakRealContractConfined(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: make soak")
	}
	if err := proc.Confines(); err != nil {
		t.Skip("nothing can be confined here:", err)
	}
	for name, a := range contracts {
		t.Run(name, func(t *testing.T) {
			if name == "codex" {
				a.write, a.two = nil, nil
			}
			realContract(t, name, a, func(c *acp.Config, model, state string) {
				confined(t, c, model, state)
			})
		})
	}
}

// confined has the agent of a configuration confined, with its model as all it reaches beside the
// tools that are lent to it.
func confined(t *testing.T, c *acp.Config, model, state string) {
	c.Preset = c.InTree()
	scratch, home := t.TempDir(), strings.TrimPrefix(c.Env[1], "HOME=")
	needs := cage.Needs{Write: []string{state}, Own: []string{cage.HostPort(model)}}
	lend := c.Lend
	c.Lend = func(id string, tools []agent.ToolSpec,
		call func(context.Context, agent.ToolCall) (agent.Result, error)) (agent.Lent, func(), error) {
		lent, end, err := lend(id, tools, call)
		needs.Lent = lent.URL
		if u, bad := url.Parse(lent.URL); bad == nil {
			lent.URL = cage.Lent + u.Path
		}
		return lent, end, err
	}
	c.Confine = func(ctx context.Context, workspace string, cmd proc.Command) (proc.Command, error) {
		in, err := cage.New(cage.Config{
			Workspace: workspace,
			Home:      home,
			Env:       c.Env,
			Scratch:   scratch,
			Logger:    slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return cmd, err
		}
		n := needs
		n.Programs = cmd.Args[:1]
		return in.Confine(ctx, cmd, n)
	}
}

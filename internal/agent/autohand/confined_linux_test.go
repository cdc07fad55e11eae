package autohand_test

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/autohand"
	"webchat/internal/cage"
	"webchat/internal/proc"
)

// Confined, the CLI reaches the tools that are lent to it and webchat by its hook, and writes in
// the workspace and nowhere else.
func TestConfined(t *testing.T) {
	if err := proc.Confines(); err != nil {
		t.Skip("nothing can be confined here:", err)
	}
	work, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside.txt")
	h := sitWith(t, confined(t, work), work, nil)
	for _, prompt := range []string{"show go.mod", "write " + filepath.Join(work, "inside.txt"),
		"write " + outside} {
		if err := h.prompt(t.Context(), prompt); err != nil {
			t.Errorf("%s: %v", prompt, err)
		}
	}
	if calls := h.Calls(); len(calls) != 1 {
		t.Errorf("calls of the session's tools: %+v", calls)
	}
	if asked := h.Asked(); len(asked) != 2 {
		t.Errorf("asked %+v", asked)
	}
	if _, err := os.Stat(filepath.Join(work, "inside.txt")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("it wrote outside")
	}
}

func confined(t *testing.T, work string) *autohand.Backend {
	t.Helper()
	b, _ := newBackend(t, "polite", func(c *autohand.Config) {
		home := filepath.Dir(c.Settings)
		in, err := cage.New(cage.Config{
			Workspace: work,
			Home:      home,
			Env:       c.Env,
			Scratch:   filepath.Join(home, "scratch"),
			Logger:    slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		lend, at := c.Lend, ""
		c.Lend = func(id string, tools []agent.ToolSpec,
			call func(context.Context, agent.ToolCall) (agent.Result, error)) (agent.Lent, func(), error) {
			lent, end, err := lend(id, tools, call)
			at = lent.URL
			if u, bad := url.Parse(lent.URL); bad == nil {
				lent.URL = cage.Lent + u.Path
			}
			return lent, end, err
		}
		c.Confine = func(ctx context.Context, _, dir, socket string, cmd proc.Command) (proc.Command,
			error) {
			return in.Confine(ctx, cmd, cage.Needs{
				Programs: cmd.Args[:1],
				Write:    []string{dir},
				Read:     []string{filepath.Dir(socket)},
				Lent:     at,
			})
		}
	})
	return b
}

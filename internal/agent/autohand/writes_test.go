package autohand_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/autohand"
	"webchat/internal/event"
)

func TestWritesAreShownAndKept(t *testing.T) {
	dir := t.TempDir()
	b, _ := newBackend(t, "polite", nil)
	h := sitWith(t, b, dir, nil)
	name := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(name, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.must("write " + name)
	const want = "@@ -1,1 +1,1 @@\n-old\n+new\n"
	if c := all[event.ToolExecutionComplete](h); len(c) != 1 ||
		!strings.HasSuffix(c[0].Result.DetailedContent, want) {
		t.Errorf("the call is shown as %+v", c)
	}
	if asked := h.Asked(); len(asked) != 1 || !strings.HasSuffix(asked[0].Diff, want) {
		t.Errorf("it asked %+v", asked)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "new\n" {
		t.Errorf("the file holds %q: %v", text, err)
	}
	if err := h.conn.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".autohand")); err == nil {
		t.Error("something was written into the workspace")
	}
}

// What was reported as written is written also if the turn is stopped, and reported if it
// cannot be.
func TestWritesAreNotLostSilently(t *testing.T) {
	t.Run("stopped", func(t *testing.T) {
		h := sit(t, "polite", nil, nil)
		name := filepath.Join(t.TempDir(), "a.txt")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			_ = h.Wait(ctx, func(h *agenttest.Host) bool { return talks(h) })
			cancel()
		}()
		if err := h.prompt(ctx, "stopped "+name); !errors.Is(err, context.Canceled) {
			t.Errorf("a stopped turn ended with %v", err)
		}
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	})
	for manner, prompt := range map[string]string{"refuses": "write ", "polite": "halfway "} {
		t.Run(manner, func(t *testing.T) {
			h := sit(t, manner, nil, nil)
			_ = h.prompt(t.Context(), prompt+filepath.Join(t.TempDir(), "a.txt"))
			warned := all[event.SessionError](h)
			if len(warned) != 1 || !strings.Contains(warned[0].Message, "did not write") ||
				!strings.Contains(warned[0].Message, "a.txt") {
				t.Errorf("the user was told %+v", warned)
			}
			h.must("hello")
		})
	}
}

// A process of webchat that is killed with files held back cannot tell of them: the next
// one does. What is on disk at that moment is all that it has.
func TestWritesThatAKillLostAreTold(t *testing.T) {
	var home, kept string
	h := sit(t, "polite", func(c *autohand.Config) { home = c.Home }, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		if h.Wait(ctx, talks) == nil {
			kept = filepath.Join(t.TempDir(), "agents")
			if err := os.CopyFS(filepath.Join(kept, "s1"), os.DirFS(filepath.Join(home, "s1"))); err != nil {
				t.Error(err)
			}
		}
	}()
	if err := h.prompt(ctx, "stopped "+filepath.Join(t.TempDir(), "a.txt")); !errors.Is(err,
		context.Canceled) {
		t.Errorf("a stopped turn ended with %v", err)
	}
	if told := all[event.SessionError](h); len(told) > 0 {
		t.Errorf("what was written is told as lost: %+v", told)
	}
	b, _ := newBackend(t, "polite", func(c *autohand.Config) { c.Home = kept })
	next := &table{Host: agenttest.NewHost(agenttest.DisplayTools()), t: t}
	conn, err := b.Open(t.Context(), agent.Options{
		SessionID: "s1",
		Workspace: t.TempDir(),
		Resume:    true,
	}, next)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	next.conn = conn
	next.must("hello")
	next.must("hello")
	if told := all[event.SessionError](next); len(told) != 1 ||
		!strings.Contains(told[0].Message, "a.txt: webchat ended before. Ask for it again.") {
		t.Errorf("the user was told %+v", told)
	}
}

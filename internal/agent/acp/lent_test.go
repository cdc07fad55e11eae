package acp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/event"
)

// Each agent reports calls of the session's tools in its own way. None is asked about or
// shown twice; and one that never reached the session is shown.
func TestCallsOfTheSessionsTools(t *testing.T) {
	for name, mark := range map[string]acp.Mark{"claude": acp.MarkClaude, "codex": acp.MarkCodex,
		"copilot": "", "gemini": acp.MarkGemini, "qwen": acp.MarkQwen} {
		h := sit(t, "polite", func(c *acp.Config) { c.Mark = mark }, nil)
		if err := h.prompt(t.Context(), "lent "+name); err != nil {
			t.Fatal(err)
		}
		if n := len(h.Calls()); n != 1 || len(h.Asked()) > 0 ||
			len(all[event.ToolExecutionStart](h)) > 0 {
			t.Errorf("%s: %d calls, asked %+v, shown %+v", name, n, h.Asked(),
				all[event.ToolExecutionStart](h))
		}
		if err := h.prompt(t.Context(), "pretend "+name); err != nil {
			t.Fatal(err)
		}
		if n := len(all[event.ToolExecutionStart](h)); n != 1 {
			t.Errorf("%s: a call that never came is shown %d times", name, n)
		}
	}
}

// An edit is shown with the numbers of its lines, by a path of the workspace, however
// little of the file the agent reports.
func TestEditsHaveLines(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "sub", "a.txt")
	h := &table{Host: agenttest.NewHost(agenttest.DisplayTools()), t: t}
	conn, err := newBackend(t, "polite", nil).Open(t.Context(),
		agent.Options{SessionID: "s1", Workspace: dir, Tools: agenttest.DisplayTools()}, h)
	if err != nil {
		t.Fatal(err)
	}
	h.conn = conn
	defer conn.Close()
	const piece = "@@ -6,5 +6,5 @@\n six\n seven\n eight\n-nine\n+neun\n ten\n"
	for _, c := range []struct{ holds, want string }{
		{"1\n2\n3\n4\n5\nsix\nseven\neight\nnine\nten\n", piece},
		{"nine\nnine\n", "-nine\n+neun\n"}, // it may be either
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(c.holds), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := h.prompt(t.Context(), "edit "+name); err != nil {
			t.Fatal(err)
		}
		asked, ends := h.Asked(), all[event.ToolExecutionComplete](h)
		want := "--- sub/a.txt\n+++ sub/a.txt\n" + c.want
		if got := asked[len(asked)-1].Diff; got != want {
			t.Errorf("it asks about %q, want %q", got, want)
		}
		if r := ends[len(ends)-1].Result; r == nil || !strings.HasPrefix(r.DetailedContent, want) &&
			c.want == piece {
			t.Errorf("it is shown as %+v, want %q", r, want)
		}
	}
	fresh := filepath.Join(dir, "new.txt")
	if err := h.prompt(t.Context(), "write "+fresh); err != nil {
		t.Fatal(err)
	}
	ends := all[event.ToolExecutionComplete](h)
	if r := ends[len(ends)-1].Result; r == nil ||
		r.DetailedContent != "--- new.txt\n+++ new.txt\n@@ -0,0 +1,1 @@\n+new\n" {
		t.Errorf("a new file is shown as %+v", r)
	}
}

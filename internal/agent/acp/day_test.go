package acp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/canary/scripted"
	"webchat/internal/event"
	"webchat/internal/policy"
)

// clerk answers what an agent asks as a session under --permissions ask does, for a user who
// answers with the widest grant.
type clerk struct {
	policy *policy.Policy

	mu    sync.Mutex      // guards what follows
	held  map[string]bool // grants by their ids
	asked []string        // what the user had to answer
}

func (c *clerk) permit(t *testing.T, p agent.Permission) agent.Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	yes := agent.Verdict{Decision: event.Allow, Scope: event.Once, By: event.DecidedByUser}
	asks := false
	var widest []string
	for _, part := range p.Parts() {
		r := c.policy.Rule(t.Context(), part)
		part.Sensitive = part.Sensitive || r.Sensitive
		grants := c.policy.Grants(part)
		switch {
		case r.Decision == event.Allow && !part.Sensitive:
		case !part.Sensitive && slices.ContainsFunc(grants, func(g event.Grant) bool {
			return c.held[g.ID]
		}):
		default:
			asks = true
			if n := len(grants); n > 0 && !part.Sensitive {
				widest = append(widest, grants[n-1].ID)
			}
		}
	}
	if !asks {
		return yes
	}
	c.asked = append(c.asked, string(p.Kind)+" "+p.Resource)
	for _, id := range widest {
		c.held[id] = true
	}
	return yes
}

// calls is what somebody has an agent do in a day: 40 reads, of which 16 are shown and 24 are the
// agent's own by its shell, 12 searches by its shell, 8 edits, 13 commands, 3 commands in the
// background, and 2 secrets.
func calls(ws string) (steps []scripted.Step) {
	type args map[string]any
	tool := func(name string, a args) {
		b, _ := json.Marshal(a) // of texts
		steps = append(steps, scripted.Step{Tool: name, Arguments: string(b)})
	}
	shell := func(command string) { tool("Bash", args{"command": command, "description": "work"}) }
	file := func(i int) string { return fmt.Sprintf("a%d.txt", i%10) }
	for i := range 16 {
		tool("render_file_contents", args{"path": file(i)})
	}
	for i := range 8 {
		shell("sed -n '1,20p' " + file(i))
		shell("cat " + file(i) + " | head -5")
		shell("head -n 3 " + file(i) + " && wc -l sub/b.txt")
	}
	for i := range 6 {
		shell(fmt.Sprintf("grep -rn --include='*.txt' 'line %d' . | sort | uniq", i))
		shell(fmt.Sprintf("find . -name '*%d.txt' -type f", i))
	}
	for i := range 4 {
		name := filepath.Join(ws, "sub", "new-"+file(i))
		tool("Write", args{"file_path": name, "content": "one\n"})
		tool("Edit", args{"file_path": name, "old_string": "one", "new_string": "two"})
	}
	for _, command := range []string{"go build ./...", "go vet ./...", "go test ./middleware",
		"go test ./middleware", "go test ./... | tail -5", "cd ./sub && go test .", "cd " + ws +
			" && go test ./...", "go test -run TestOne ./sub",
		"git status", "git log --oneline -5", "git diff", "make lint", "make lint"} {
		shell(command)
	}
	for i := range 3 {
		tool("Bash", args{"command": fmt.Sprintf("go test -count=%d ./...", i+1), "description": "work",
			"run_in_background": true})
	}
	shell("cat .env")
	tool("render_file_contents", args{"path": ".env"})
	return steps
}

// A day's work by the real Claude Code asks at most eight questions of a user who answers with the
// widest grant, and those about the secret, by its shell and by a display, are among them.
func TestRealDayOverACP(t *testing.T) {
	t.Parallel()
	c := &clerk{held: map[string]bool{}}
	bin := t.TempDir()
	for _, name := range []string{"go", "make", "git"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho ok\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
	}
	model, with := realAgent(t, "claude-agent-acp")
	h := sit(t, "", func(c *acp.Config) {
		with(c)
		c.Env[0] = "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")
	}, func(h *agenttest.Host) {
		h.Permit = func(p agent.Permission) agent.Verdict { return c.permit(t, p) }
		h.Tool = func(_ context.Context, call agent.ToolCall) agent.Result { // as the session's tools ask
			var a struct{ Path string }
			if err := json.Unmarshal(call.Arguments, &a); err != nil {
				t.Error(err)
			}
			c.permit(t, agent.Permission{ToolName: call.Name, Kind: agent.KindRead, Resource: a.Path})
			return agent.Result{Type: agent.Success, TextForModel: "Displayed it to user (3 lines)"}
		}
	})
	c.policy = policy.New(policy.Config{Workspace: h.dir, Home: t.TempDir(), Reading: true, Path: bin +
		":/usr/bin:/bin"})
	for name, text := range map[string]string{".env": "KEY=1", "sub/b.txt": "line 1\n",
		".git/config": "[core]\n\tbare = false\n", "go.mod": "module day\n"} {
		write(t, filepath.Join(h.dir, name), text)
	}
	for i := range 10 {
		write(t, filepath.Join(h.dir, fmt.Sprintf("a%d.txt", i)), fmt.Sprintf("line %d\n", i))
	}
	for all := calls(h.dir); len(all) > 0; all = all[min(10, len(all)):] {
		model.Play(all[:min(10, len(all))]...)
		if err := h.prompt(t.Context(), "go on"); err != nil {
			t.Fatal(err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Logf("a day of %d calls asks %d questions: %q", len(calls(h.dir)), len(c.asked), c.asked)
	if n := len(c.asked); n > 8 || !slices.Equal(c.asked[max(0, n-2):],
		[]string{"shell cat .env", "read .env"}) {
		t.Errorf("asked %d times: %q", n, c.asked)
	}
	n := 0
	for _, r := range model.Requests() { // the last one may be beside the conversation
		n = max(n, bytes.Count(r, []byte("running in background")))
	}
	if n != 3 || len(h.Calls()) != 17 {
		t.Errorf("%d commands in the background, %d displays", n, len(h.Calls()))
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

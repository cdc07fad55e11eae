package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"webchat/internal/agent"
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
	for _, one := range p.Parts() {
		r := c.policy.Rule(t.Context(), one)
		one.Sensitive = one.Sensitive || r.Sensitive
		grants := c.policy.Grants(one)
		switch {
		case r.Decision == event.Allow && !one.Sensitive:
		case !one.Sensitive && slices.ContainsFunc(grants, func(g event.Grant) bool { return c.held[g.ID] }):
		default:
			asks = true
			if n := len(grants); n > 0 && !one.Sensitive {
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

// calls is what somebody has an agent do in a day by its own tools: 24 reads and 12 searches by its
// shell, 8 edits, 13 commands and 2 secrets.
func calls(ws string) (steps []scripted.Step) {
	tool := func(name string, args map[string]string) {
		b, _ := json.Marshal(args) // a map of texts
		steps = append(steps, scripted.Step{Tool: name, Arguments: string(b)})
	}
	shell := func(command string) { tool("Bash", map[string]string{"command": command, "description": "work"}) }
	file := func(i int) string { return fmt.Sprintf("a%d.txt", i%10) }
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
		tool("Write", map[string]string{"file_path": name, "content": "one\n"})
		tool("Edit", map[string]string{"file_path": name, "old_string": "one", "new_string": "two"})
	}
	for _, command := range []string{"go build ./...", "go vet ./...", "go test ./middleware", "go test ./middleware", "go test ./... | tail -5", "cd ./sub && go test .", "cd " + ws + " && go test ./...", "go test -run TestOne ./sub",
		"git status", "git log --oneline -5", "git diff", "make lint", "make lint"} {
		shell(command)
	}
	shell("cp deploy.key /dev/null")
	shell("wc -c .env && touch seen")
	return steps
}

// A day's work by the real Claude Code asks at most eight questions of a user who answers with the
// widest grant, and the two that name secrets are among them, with their files.
func TestRealDayOverACP(t *testing.T) {
	c := &clerk{held: map[string]bool{}}
	bin := t.TempDir()
	for _, name := range []string{"go", "make", "git"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho ok\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	h, model, _ := sitWith(t, "claude-agent-acp", func(h *agenttest.Host) {
		h.Permit = func(p agent.Permission) agent.Verdict { return c.permit(t, p) }
	})
	c.policy = policy.New(policy.Config{Workspace: h.dir, Home: t.TempDir(), Reading: true, Path: bin + ":/usr/bin:/bin"})
	for name, text := range map[string]string{".env": "KEY=1", "deploy.key": "x", "sub/b.txt": "line 1\n", ".git/config": "[core]\n\tbare = false\n", "go.mod": "module day\n"} {
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
	secret := func(name string) bool {
		return slices.ContainsFunc(c.asked, func(a string) bool { return strings.Contains(a, name) })
	}
	if len(c.asked) > 8 || !secret("deploy.key") || !secret(".env") {
		t.Errorf("asked %d times: %q", len(c.asked), c.asked)
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

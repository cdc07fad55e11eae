package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/canary/scripted"
)

// beside begins a session of the same program in a worktree, whose agent runs a command there.
func (d *day) beside(model *scripted.Model, command string) *day {
	d.t.Helper()
	var one struct{ ID string }
	d.request(d.t, "POST", "/api/sessions", `{"worktree":true}`, &one)
	own := &day{
		program: d.program,
		t:       d.t,
		base:    d.base,
		path:    "/api/sessions/" + one.ID,
		names:   d.names,
	}
	own.stream()
	args, err := json.Marshal(map[string]any{"command": command, "description": "work"})
	if err != nil {
		d.t.Fatal(err)
	}
	model.Play(scripted.Step{Tool: "bash", Arguments: string(args)})
	own.errand()
	return own
}

// bring brings back what a session did in its worktree, and returns the names of what came and of
// what does not fit.
func (d *day) bring(as string) (came, unfit []string) {
	d.t.Helper()
	var back struct{ Files, Unfitted []struct{ Path string } }
	if s := d.request(d.t, "POST", d.path+"/worktree/bring", `{"as":"`+as+`"}`, &back); s != 200 {
		d.t.Fatalf("bringing back as %s: %d", as, s)
	}
	for _, f := range back.Files {
		came = append(came, f.Path)
	}
	for _, f := range back.Unfitted {
		unfit = append(unfit, f.Path)
	}
	return came, unfit
}

// Two sessions of the real Copilot CLI work and commit in worktrees of one repository, confined
// where that can be. Both are brought back: the first as a commit, the second but for what the
// first wrote at the same place, until its agent made that fit.
func TestRealWorktreesSideBySide(t *testing.T) {
	t.Parallel()
	d, model, _ := startDay(t, theCLI, "--permissions", "allow")
	defer d.stop(t)
	files := func(when string, want map[string]string) {
		t.Helper()
		for name, text := range want {
			got, err := os.ReadFile(filepath.Join(d.workspace, name))
			if string(got) != text || err != nil && text != "" {
				t.Errorf("%s, %s of the checkout has %q, want %q (%v)", when, name, got, text, err)
			}
		}
	}
	came := func(own *day, as string, want, left int) {
		t.Helper()
		if came, unfit := own.bring(as); len(came) != want || len(unfit) != left {
			t.Fatalf("as %s came %q, and not %q; results %q", as, came, unfit, own.results)
		}
	}
	a := d.beside(model,
		"echo ours >shared.txt; echo a >a.txt; git add -A && git commit -qm a; git status --short")
	b := d.beside(model, "echo theirs >shared.txt; echo b >b.txt; rm docs/two.md")
	files("before", map[string]string{"shared.txt": "", "a.txt": "", "b.txt": ""})

	came(a, "commit", 2, 0)
	files("after the first", map[string]string{"shared.txt": "ours\n", "a.txt": "a\n", "b.txt": ""})
	came(b, "commit", 0, 1)
	came(b, "changes", 2, 1)
	files("after the second", map[string]string{"shared.txt": "ours\n", "b.txt": "b\n",
		"docs/two.md": ""})
	if s := b.request(t, "POST", b.path+"/worktree/undo", "{}", nil); s != 200 {
		t.Errorf("undo: %d", s)
	}
	files("undone", map[string]string{"shared.txt": "ours\n", "a.txt": "a\n", "b.txt": ""})
	model.Play(scripted.Step{Tool: "bash",
		Arguments: `{"command":"echo ours >shared.txt","description":"fit"}`})
	b.errand()
	came(b, "commit", 2, 0)
	files("in the end", map[string]string{"shared.txt": "ours\n", "a.txt": "a\n", "b.txt": "b\n",
		"docs/two.md": ""})
}

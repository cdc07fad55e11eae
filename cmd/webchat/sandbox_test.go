package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/mcp"
	"webchat/internal/policy"
)

// A session says whether what it runs is confined, and what is not held all the same.
func TestSandboxOfASession(t *testing.T) {
	work := t.TempDir()
	o, err := parseOptions([]string{"--data-dir", filepath.Join(t.TempDir(), "data"), "--workspace",
		work}, []string{"HOME=" + t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c := &config{Agents: map[string]agentConfig{"mine": {Command: "mine"},
		"stateful": {Command: "mine", State: []string{"~/.mine"}}},
		Permissions: []policy.Rule{{Kind: agent.KindWrite, Path: "**", Decision: policy.Ask}}}
	box := sandbox{mode: sandboxRequire}
	shape := o.with(c).sandboxOf(box, o.with(c).cages(box, o.dataPath(), nothingKept,
		slog.New(slog.DiscardHandler)))
	for backend, lacks := range map[string]string{"copilot": "rule 1", "claude": "rule 1",
		"mine": "home folder", "stateful": "rule 1"} {
		if got := shape(backend, work); !got.Confined || !strings.Contains(got.Lacks, lacks) ||
			strings.Contains(got.Lacks, "home") != (backend == "mine") {
			t.Errorf("%s: %+v", backend, got)
		}
	}
	if got := shape(mcp.BackendName, work); got.Confined || got.Why == "" {
		t.Errorf("another program's: %+v", got)
	}
	if got := o.with(c).sandboxOf(sandbox{mode: sandboxOff}, nil)("claude", work); got.Confined ||
		got.Why != "Switched off by the setting sandbox: off" {
		t.Errorf("without it: %+v", got)
	}
}

// Without a home folder, auto confines nothing, and require does not start.
func TestSandboxWithoutHome(t *testing.T) {
	for mode, starts := range map[string]bool{sandboxAuto: true, sandboxRequire: false} {
		o, err := parseOptions([]string{"--sandbox", mode, "--workspace", t.TempDir()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := o.with(&config{}).sandbox(); s.on() || s.why().Why == "" || (err == nil) != starts {
			t.Errorf("%s: %+v, %v", mode, s, err)
		}
	}
}

// webchat starts no program from a workspace: an agent could have put it there.
func TestTrustedPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	work, other, link := filepath.Join(dir, "work"), filepath.Join(dir, "other"),
		filepath.Join(dir, "link")
	for _, name := range []string{work + "/.venv/bin", other + "/bin"} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(work, link); err != nil {
		t.Fatal(err)
	}
	paths := []string{work + "/.venv/bin", link + "/.venv/bin", work, other + "/bin", work + "er",
		"/usr/bin"}
	env := []string{"A=1", "PATH=" + strings.Join(paths, string(filepath.ListSeparator))}
	o := &options{Workspace: []string{work}}
	want := []string{"A=1", "PATH=" + strings.Join(paths[4:], string(filepath.ListSeparator))}
	if got := o.trusted(env, other); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

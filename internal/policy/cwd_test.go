package policy

import (
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// lay makes a folder with files (and folders, by a slash at the end).
func lay(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		full := filepath.Join(dir, name)
		if name[len(name)-1] == '/' {
			full = filepath.Join(full, "x")
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if name[len(name)-1] == '/' {
			continue
		}
		if err := os.WriteFile(full, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

// THREATS 76: an allow holds in the workspace root unless it names a folder; deny and
// ask hold in every one. Where the folder is not known, no allow holds.
func TestThreat76RulesAndFolders(t *testing.T) {
	dir := lay(t, "ws/vendor/evil/", "ws/sub/deep/", "other/")
	ws := filepath.Join(dir, "ws")
	link(t, "../other", filepath.Join(ws, "away"))
	link(t, "vendor/evil", filepath.Join(ws, "kind"))
	link(t, ".", filepath.Join(ws, "here"))
	rule := func(d event.Decision, cwd string) Rule {
		return Rule{Tool: "run_and_display", Command: "make", Cwd: cwd, Decision: d}
	}
	for _, c := range []struct {
		rule    Rule
		cwd     string // relative to ws
		unknown bool
		holds   bool
	}{
		{rule(event.Allow, ""), ".", false, true},
		{rule(event.Allow, ""), "here", false, false}, // both names have to be the root's
		{rule(event.Allow, ""), "vendor/evil", false, false},
		{rule(event.Allow, ""), "kind", false, false},
		{rule(event.Allow, ""), "away", false, false},
		{rule(event.Allow, ""), "..", false, false},
		{rule(event.Allow, ""), ".", true, false},
		{rule(event.Allow, "."), ".", false, true},
		{rule(event.Allow, "sub"), "sub", false, true},
		{rule(event.Allow, "sub"), ".", false, false},
		{rule(event.Allow, "sub"), "sub/deep", false, false},
		{rule(event.Allow, "sub"), "sub", true, false},
		{rule(event.Allow, "sub/*"), "sub/deep", false, true},
		{rule(event.Allow, "sub/*"), "sub", false, false},
		{rule(event.Allow, "sub/**"), "sub/deep", false, true},
		{rule(event.Allow, "sub/**"), "sub", false, true},
		{rule(event.Allow, "**"), "vendor/evil", false, true},
		{rule(event.Allow, "**"), "away", false, false},
		{rule(event.Allow, "kind"), "kind", false, false}, // it leads elsewhere
		{rule(event.Deny, ""), ".", false, true},
		{rule(event.Deny, ""), "vendor/evil", false, true},
		{rule(event.Deny, ""), "..", false, true},
		{rule(event.Deny, ""), ".", true, true},
		{rule(Ask, ""), "kind", false, true},
		{rule(Ask, ""), "sub", true, true},
		{rule(event.Deny, "vendor/**"), "kind", false, true},
		{rule(event.Deny, "vendor/**"), "sub", false, false},
		{rule(event.Deny, "vendor/**"), "sub", true, true}, // it may be there
	} {
		p := New(Config{Rules: []Rule{c.rule}, Workspace: ws})
		act := agent.Permission{
			ToolName:   "run_and_display",
			Kind:       agent.KindShell,
			Resource:   "make",
			Cwd:        filepath.Join(ws, c.cwd),
			CwdUnknown: c.unknown,
		}
		want := c.rule.Decision
		if !c.holds {
			want = ""
		}
		if got := decided(p.Rule(t.Context(), act)); got != want {
			t.Errorf("%s with cwd %q in %q (unknown %v): %q, want %q", c.rule.Decision, c.rule.Cwd, c.cwd,
				c.unknown, got, want)
		}
	}
	// A command of which nothing is known but its text is not allowed either.
	p := New(Config{Rules: []Rule{rule(event.Allow, "")}, Workspace: ws})
	if got := p.Rule(t.Context(), agent.Permission{
		ToolName: "run_and_display",
		Kind:     agent.KindShell,
		Resource: "make",
	}); got.Decision != "" {
		t.Errorf("without a folder: %+v", got)
	}
}

// THREATS 76: the same for what the user allowed.
func TestThreat76GrantsAndFolders(t *testing.T) {
	dir := lay(t, "ws/vendor/evil/", "other/")
	ws := filepath.Join(dir, "ws")
	link(t, "../other", filepath.Join(ws, "away"))
	p := New(Config{Workspace: ws})
	grants := func(cwd string, unknown bool) []event.Grant {
		if cwd != "" {
			cwd = filepath.Join(ws, cwd)
		}
		return p.Grants(agent.Permission{
			ToolName:   "bash",
			Kind:       agent.KindShell,
			Resource:   "go test ./...",
			Cwd:        cwd,
			CwdUnknown: unknown,
		})
	}
	root, evil := grants(".", false), grants("vendor/evil", false)
	if len(root) != 4 || len(evil) != 4 || root[3].ID != evil[3].ID {
		t.Fatalf("%+v %+v", root, evil)
	}
	if root[0].ID == evil[0].ID || root[1].ID == evil[1].ID || root[2].ID == evil[2].ID {
		t.Error("a grant of one folder covers another")
	}
	if evil[1].Text != "commands that begin with `go test`, in `vendor/evil`, with harmless "+
		"options, inside this workspace" {
		t.Errorf("it says %q", evil[1].Text)
	}
	if got := grants(".", true); len(got) != 1 || got[0].ID != root[3].ID {
		t.Errorf("where the folder is not known: %+v", got)
	}
	for name, got := range map[string][]event.Grant{"away": grants("away", false),
		"above": grants("..", false), "nowhere": grants("", false)} {
		if len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

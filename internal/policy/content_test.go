package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Where a name says nothing, an act that names a file is judged by what the file holds.
func TestThreat46ContentOfNamedFiles(t *testing.T) {
	const token = "ghp_0123456789012345678901234567890123456789"
	ws := lay(t, "sub/")
	out := t.TempDir()
	for name, text := range map[string]string{
		"notes.txt": "user: me\npassword: hunter2-hunter2\n", "sub/deploy.yml": "token: " + token + "\n",
		"plain.txt": "nothing\n",
		"made.go":   "const t = \"" + token + "\"\n", "kept.go": "const t = \"" + token + "\"\n",
		"named.go": "password := \"hunter2-hunter2\"\n",
		"wide.txt": "\xff\xfep\x00a\x00s\x00s\x00w\x00o\x00r\x00d\x00:\x00 " +
			"\x00h\x00u\x00n\x00t\x00e\x00r\x002\x00-\x00h\x00u\x00n\x00t\x00e\x00r\x002\x00\n\x00",
		"some.bin":  "\x00 token=" + token + "\n",
		"late.txt":  strings.Repeat("x\n", contentHead/2) + "password: hunter2-hunter2\n",
		"image.bin": "\x00password: hunter2-hunter2\n",
	} {
		if err := os.WriteFile(filepath.Join(ws, filepath.FromSlash(name)), []byte(text),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	far := filepath.Join(out, "far.txt")
	if err := os.WriteFile(far, []byte("password: hunter2-hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link(t, "notes.txt", filepath.Join(ws, "link.go"))
	var asked []string
	p := New(Config{
		Workspace: ws,
		Reading:   true,
		Path:      "/usr/bin:/bin",
		Tracked: func(name string) bool {
			asked = append(asked, filepath.Base(name))
			return filepath.Base(name) == "kept.go"
		},
		Rules: []Rule{{Kind: agent.KindShell, Prefix: "cat", Decision: event.Allow},
			{Kind: agent.KindRead, Path: "/**", Decision: event.Allow}},
	})
	secret := map[string]string{"notes.txt": "notes.txt", "sub/deploy.yml": "sub/deploy.yml",
		"made.go": "made.go", "link.go": "notes.txt", "./sub/../notes.txt": "notes.txt",
		"plain.txt": "", "kept.go": "", "named.go": "", "late.txt": "", "image.bin": "",
		"wide.txt": "wide.txt", "some.bin": "some.bin", "sub": "", "none.txt": "",
		far: filepath.ToSlash(far)}
	holds := func(what string, act agent.Permission, want string) {
		t.Helper()
		got := p.Rule(t.Context(), act)
		if want == "" {
			if got.Sensitive || got.Decision != event.Allow {
				t.Errorf("%s: %+v, want it allowed", what, got)
			}
			return
		}
		if !got.Sensitive || got.Secret == nil || *got.Secret != (event.Secret{
			File:  want,
			Looks: looksHeld,
		}) || strings.Contains(got.Why, "hunter2") {
			t.Errorf("%s: %+v %+v, want %s", what, got, got.Secret, want)
		}
		if g := p.Grants(act); len(g) > 0 {
			t.Errorf("%s may be granted: %q", what, texts(g))
		}
	}
	for name, want := range secret {
		holds("reading "+name, agent.Permission{ToolName: "view", Kind: agent.KindRead, Resource: name},
			want)
		holds("searching "+name+" only", agent.Permission{
			ToolName: "grep",
			Kind:     agent.KindRead,
			Resource: name,
			Search:   &agent.Search{Pattern: "x", Path: filepath.Join(ws, name)},
		}, want)
		if name != far {
			holds("cat "+name, agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: "cat " +
				name, Cwd: ws}, want)
		}
	}
	if want := []string{"kept.go",
		"made.go"}; !slices.Equal(slices.Compact(slices.Sorted(slices.Values(asked))), want) {
		t.Errorf("git was asked about %q, want %q", asked, want)
	}
	if got := p.Rule(t.Context(), agent.Permission{
		Kind:     agent.KindRead,
		Resource: "notes.txt",
	}).Why; got != whyHolds {
		t.Errorf("it says %q", got)
	}
	// Not by lists and searches, and not to write.
	for what, act := range map[string]agent.Permission{
		"a search":   {Kind: agent.KindRead, Resource: ws, Search: &agent.Search{Pattern: "x", Path: ws}},
		"a command":  {Kind: agent.KindShell, ToolName: "bash", Resource: "grep -rn x .", Cwd: ws},
		"its folder": {Kind: agent.KindShell, ToolName: "bash", Resource: "ls -la", Cwd: ws},
	} {
		holds(what, act, "")
	}
	if r := p.Rule(t.Context(), agent.Permission{
		Kind:     agent.KindWrite,
		Resource: "notes.txt",
	}); r.Sensitive {
		t.Errorf("a write: %+v", r)
	}
	st, err := os.Stat(filepath.Join(ws, "notes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if r := p.File(st, "notes.txt"); r.Sensitive {
		t.Errorf("a file of a list: %+v", r)
	}
	for name, want := range map[string]string{"notes.txt": "notes.txt", "plain.txt": "", "kept.go": "",
		"made.go": "made.go", "sub": ""} {
		f, err := os.Open(filepath.Join(ws, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if r := p.Named(f, name); r.Sensitive != (want != "") || want != "" &&
			(r.Secret == nil || r.Secret.File != want || r.Why != whyHolds) {
			t.Errorf("%s, opened: %+v", name, r)
		}
	}
}

// A command that names more files than are looked into asks.
func TestContentOfManyFiles(t *testing.T) {
	var names []string
	for i := range maxLooked + 1 {
		names = append(names, fmt.Sprintf("a%d.txt", i))
	}
	ws := lay(t, names...)
	p := New(Config{Workspace: ws, Rules: []Rule{{
		Kind:     agent.KindShell,
		Prefix:   "rm",
		Decision: event.Allow,
	}}})
	rule := func(n int) agent.Ruling {
		return p.Rule(t.Context(), agent.Permission{
			Kind:     agent.KindShell,
			ToolName: "bash",
			Resource: "rm " + strings.Join(names[:n], " "),
			Cwd:      ws,
		})
	}
	if r := rule(maxLooked + 1); !r.Sensitive || r.Why != whyMany {
		t.Errorf("%+v", r)
	}
	if r := rule(maxLooked); r.Sensitive {
		t.Errorf("%+v", r)
	}
}

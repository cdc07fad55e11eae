//go:build unix

package policy

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/agent"
)

func TestSearchHits(t *testing.T) {
	dir := tree(t, "ws/a.txt", "ws/prod.env", "ws/secrets.yml", "ws/sub/.env", "ws/sub/b.go",
		"ws/sub/q/.ssh/config", "ws/own/rules", "out/in/x", "out/id_rsa", "out/y")
	ws := filepath.Join(dir, "ws")
	for link, to := range map[string]string{"harmless": "prod.env", "away": "../out/in",
		"here": "sub"} {
		if err := os.Symlink(to, filepath.Join(ws, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	if err := os.Link(filepath.Join(ws, "prod.env"),
		filepath.Join(ws, "sub", "notes.txt")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	p := New(Config{Workspace: ws, Private: []string{filepath.Join(ws, "own")}})
	const everything = "own/rules prod.env secrets.yml sub/.env sub/notes.txt sub/q/.ssh/config"
	out := filepath.ToSlash(filepath.Join(dir, "out"))
	for _, c := range []struct {
		path, glob string
		want       string
	}{
		{"", "", everything},
		{ws, "", everything},
		{".", "*", everything},
		{"", "**", everything},
		{"", "#*.go", everything}, // a comment
		{"", "[a-z]*", everything},
		{"", "{*.go", everything},
		{"", "*.go", ""},
		{"", "*.txt ", "sub/notes.txt"},
		{"", "*.{go,env}", "prod.env sub/.env"},
		{"", ".env", "sub/.env"},
		{"", ".ENV", "sub/.env"},
		{"", "/prod.env", "prod.env"},
		{"", "sub/**", "sub/.env sub/notes.txt sub/q/.ssh/config"},
		{"", "sub/*", "sub/.env sub/notes.txt sub/q/.ssh/config"},
		{"", "sub", "sub/.env sub/notes.txt sub/q/.ssh/config"},
		{"", "!*.env", "own/rules secrets.yml sub/notes.txt sub/q/.ssh/config"},
		{"", "!{**/sub,own}", "prod.env secrets.yml"},
		{"", "!sub/q/", "own/rules prod.env secrets.yml sub/.env sub/notes.txt"},
		{"", "!prod.env/", everything},
		{"", "!q/.ssh/config", everything},
		{"", "![ps]*", everything},
		{"", "!*", ""},
		{"sub", "", "sub/.env sub/notes.txt sub/q/.ssh/config"},
		{"here", "", "sub/.env sub/notes.txt sub/q/.ssh/config"},
		{"sub", "!q/.ssh/config", "sub/.env sub/notes.txt sub/q/.ssh/config"},
		{"prod.env", "*.go", "prod.env"},
		{"harmless", "", "prod.env"},
		{"sub/notes.txt", "", "sub/notes.txt"},
		{"a.txt", "", ""},
		{"../out", "", out + "/id_rsa"},
		{"away/..", "", out + "/id_rsa"}, // the system leaves what the link leads to
		{"away", "", ""},
		{"nowhere", "", ""},
	} {
		got, complete := p.SearchHits(t.Context(), agent.Search{Pattern: "x", Path: c.path, Glob: c.glob})
		slices.Sort(got)
		if strings.Join(got, " ") != c.want || !complete {
			t.Errorf("path %q, glob %q: %q, complete %v; want %q", c.path, c.glob, got, complete, c.want)
		}
	}
	if got, complete := p.SearchHits(t.Context(), agent.Search{Names: true}); got != nil || !complete {
		t.Errorf("a search by names: %q, %v", got, complete)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, complete := p.SearchHits(ended, agent.Search{}); complete {
		t.Error("a search that was cut off is complete")
	}
}

// What is left out is not among the hits any more, whatever its name.
func TestWithout(t *testing.T) {
	odd := "we[i]rd,{x}!*?\\.env"
	dir := tree(t, "prod.env", "sub/.env", "sub/"+odd, "a b.key", "x/prod.env.go")
	p := New(Config{Workspace: dir})
	hits, _ := p.SearchHits(t.Context(), agent.Search{})
	if len(hits) != 4 {
		t.Fatalf("%q", hits)
	}
	glob, ok := Without(hits)
	if !ok {
		t.Fatalf("%q cannot be left out", hits)
	}
	if left, complete := p.SearchHits(t.Context(), agent.Search{Glob: glob}); len(left) != 0 ||
		!complete {
		t.Errorf("%s leaves %q", glob, left)
	}
	if one, ok := Without([]string{"sub/.env"}); one != "!**/sub/.env" || !ok {
		t.Errorf("%q, %v", one, ok)
	}
	var many []string
	for i := range 2000 {
		many = append(many, "sub/"+strconv.Itoa(i)+".env")
	}
	for _, names := range [][]string{nil, {""}, {"/etc/shadow.key"}, {"a\xff.env"}, many} {
		if glob, ok := Without(names); ok {
			t.Errorf("%.40q gives %.40q", names, glob)
		}
	}
}

func TestSearchHitsAreBounded(t *testing.T) {
	var names []string
	for i := range maxHits + 1 {
		names = append(names, strconv.Itoa(i)+".env")
	}
	p := New(Config{Workspace: tree(t, names...)})
	if got, complete := p.SearchHits(t.Context(), agent.Search{}); len(got) != maxHits || complete {
		t.Errorf("%d hits, complete %v", len(got), complete)
	}
}

// A person's globs mean what they mean to ripgrep, or are refused.
func TestGlobs(t *testing.T) {
	names := []string{"a.go", "x/a.go", "x/y/b.js", "vendor/a.go", "x/vendor/a.go"}
	for globs, want := range map[string]string{
		"":                "a.go x/a.go x/y/b.js vendor/a.go x/vendor/a.go",
		"*.go":            "a.go x/a.go vendor/a.go x/vendor/a.go",
		"*.go !vendor/":   "a.go x/a.go",
		"/*.go":           "a.go",
		"x/*.go":          "x/a.go",
		"x/**":            "x/a.go x/y/b.js x/vendor/a.go",
		"**/y/*":          "x/y/b.js",
		"*.{js,ts} /a.go": "a.go x/y/b.js",
		"!*.go":           "x/y/b.js",
	} {
		reaches, bad := Globs(strings.Fields(globs))
		if bad != "" {
			t.Errorf("%s: %s is not understood", globs, bad)
			continue
		}
		var got []string
		for _, n := range names {
			if reaches(n) {
				got = append(got, n)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", globs, s, want)
		}
	}
	for _, glob := range []string{"[a-z]*", "{a", "!", "/", "", `a\`} {
		if _, bad := Globs([]string{"*.go", glob}); bad != glob {
			t.Errorf("%q was taken", glob)
		}
	}
}

func TestSensitiveNames(t *testing.T) {
	var names SensitiveNames
	for range 2 {
		for _, name := range []string{"a/.env", "a/main.go", ".ssh/config", "x.pem", "x.pem.go"} {
			if names.Sensitive(name) != Sensitive(name) {
				t.Errorf("%s is judged otherwise when it is remembered", name)
			}
		}
	}
}

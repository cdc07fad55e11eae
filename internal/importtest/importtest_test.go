package importtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "webchat/"

// file is one Go file and what it imports.
type file struct {
	name, room string
	test       bool
	imports    []string
}

func files(t *testing.T) []file {
	t.Helper()
	root := filepath.Join("..", "..")
	var all []file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		// which is a module of its own
		if d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" ||
			d.Name() == "node_modules" || rel == "deploy") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		f := file{name: rel, room: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go")}
		for _, spec := range parsed.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, imp)
		}
		all = append(all, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("found only %d Go files: the walk is broken", len(all))
	}
	return all
}

func TestArrows(t *testing.T) {
	for _, f := range files(t) {
		if _, ok := arrows[f.room]; !ok {
			t.Errorf("%s: the room %s has no row in internal/importtest", f.name, f.room)
			continue
		}
		for _, imp := range f.imports {
			if why := refused(f, imp); why != "" {
				t.Errorf("%s imports %s: %s", f.name, imp, why)
			}
		}
	}
}

// refused returns why f may not import imp, or nothing.
func refused(f file, imp string) string {
	switch {
	case strings.HasPrefix(imp, module):
		return refusedOurs(f, strings.TrimPrefix(imp, module))
	case strings.Contains(strings.SplitN(imp, "/", 2)[0], "."):
		return refusedTheirs(f, imp)
	case !f.test && matches(standardRefused[imp], f.room):
		return "this part of the standard library is kept out of that room"
	}
	return ""
}

func refusedOurs(f file, room string) string {
	switch {
	case room == "cmd/webchat":
		return "nothing imports the command"
	case room == f.room || matches(arrows[f.room], room) || slices.Contains(everywhere, room):
		return ""
	case f.test:
		return "" // a test may stand on any room; what ships may not
	}
	return "no such arrow"
}

func refusedTheirs(f file, imp string) string {
	within := func(mod string) bool { return imp == mod || strings.HasPrefix(imp, mod+"/") }
	if slices.ContainsFunc(forTests, within) {
		if f.test || strings.HasSuffix(f.room, "test") || strings.HasPrefix(f.room, "internal/e2e/") {
			return ""
		}
		return "this module is for tests"
	}
	for mod := range maps.Keys(theirs) {
		if within(mod) {
			if slices.Contains(theirs[mod], f.room) || f.test {
				return ""
			}
			return "this module belongs to " + strings.Join(theirs[mod], ", ")
		}
	}
	return "this module has no row in internal/importtest"
}

// matches reads a list in which "*" is every room and "-room" an exception.
func matches(list []string, room string) bool {
	if slices.Contains(list, "-"+room) {
		return false
	}
	return slices.Contains(list, "*") || slices.Contains(list, room)
}

func TestRowsNameRoomsAndModulesThatExist(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	all := files(t)
	for name := range theirs {
		if !strings.Contains(string(mod), name+" v") {
			t.Errorf("%s has a row but go.mod does not require it", name)
		}
	}
	for from, to := range arrows {
		if !slices.ContainsFunc(all, func(f file) bool { return f.room == from }) {
			t.Errorf("%s has a row but no Go files", from)
		}
		for _, room := range to {
			if _, ok := arrows[room]; !ok && room != "*" {
				t.Errorf("%s may import %s, which has no row", from, room)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		room, imp string
		ok        bool
	}{
		{"internal/session", "webchat/internal/event", true},
		{"internal/session", "webchat/internal/outputs", false},
		{"internal/session", "net/http", false},
		{"internal/server", "net/http", true},
		{"internal/server", "os/exec", false},
		{"internal/proc", "os/exec", true},
		{"internal/server", "github.com/go-chi/chi/v5/middleware", true},
		{"internal/page", "github.com/go-chi/chi/v5", false},
		{"internal/page", "github.com/PuerkitoBio/goquery", false},
		{"internal/agent/agenttest", "go.uber.org/goleak", true},
		{"internal/page", "example.com/new/thing", false},
		{"internal/server", "webchat/cmd/webchat", false},
		{"cmd/webchat", "webchat/internal/guard", true},
	} {
		why := refused(file{room: c.room, name: c.room + "/x.go"}, c.imp)
		if (why == "") != c.ok {
			t.Errorf("%s imports %s: %q", c.room, c.imp, why)
		}
	}
}

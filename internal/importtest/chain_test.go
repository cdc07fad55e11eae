package importtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostRooms is how long a chain of rooms that import each other may be: who reads a room
// has to know those behind it.
const mostRooms = 9

// Commands, rooms and what they stand on make chains that a reader can hold.
func TestChainsAreShort(t *testing.T) {
	imports := map[string][]string{}
	for _, f := range files(t) {
		if f.test {
			continue
		}
		for _, imp := range f.imports {
			if room, ok := strings.CutPrefix(imp, module); ok && room != f.room {
				imports[f.room] = append(imports[f.room], room)
			}
		}
	}
	var longest []string
	for room := range imports {
		if c := chainFrom(imports, room, map[string][]string{}); len(c) > len(longest) {
			longest = c
		}
	}
	t.Logf("%d rooms: %s", len(longest), strings.Join(longest, " -> "))
	if len(longest) > mostRooms || len(longest) < 5 {
		t.Errorf("the longest chain has %d rooms, not at most %d: %s", len(longest), mostRooms,
			strings.Join(longest, " -> "))
	}
}

// chainFrom is the longest chain that begins with a room, in a graph without circles.
func chainFrom(graph map[string][]string, room string, known map[string][]string) []string {
	if c, ok := known[room]; ok {
		return c
	}
	var longest []string
	for _, next := range graph[room] {
		if c := chainFrom(graph, next, known); len(c) > len(longest) {
			longest = c
		}
	}
	known[room] = append([]string{room}, longest...)
	return known[room]
}

var moduleImport = regexp.MustCompile(
	`(?m)(?:^(?:import|export) (?:[^'"\n]* from )?|\bimport\()'\./([\w-]+\.js)'`)

// Modules of the page import each other in one direction, those that import() loads later, too.
func TestModulesHaveNoCircles(t *testing.T) {
	dir := filepath.Join("..", "..", "web", "static", "js")
	names, err := filepath.Glob(filepath.Join(dir, "*.js"))
	if err != nil || len(names) < 50 {
		t.Fatalf("found %d modules: %v", len(names), err)
	}
	graph, edges := map[string][]string{}, 0
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range moduleImport.FindAllSubmatch(b, -1) {
			graph[filepath.Base(name)] = append(graph[filepath.Base(name)], string(m[1]))
			edges++
		}
	}
	if edges < 200 {
		t.Fatalf("found only %d imports: the test is broken", edges)
	}
	for name := range graph {
		if c := circleThrough(graph, name); c != nil {
			t.Errorf("a circle of modules: %s", strings.Join(c, " -> "))
		}
	}
}

// What a module knows stands in an object with a name, and no module is longer than 300 lines.
func TestModulesOwnTheirState(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("..", "..", "web", "static", "js", "*.js"))
	if err != nil || len(names) < 50 {
		t.Fatalf("found %d modules: %v", len(names), err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			if strings.HasPrefix(line, "let ") || strings.HasPrefix(line, "var ") {
				t.Errorf("%s:%d: %s", filepath.Base(name), i+1, line)
			}
		}
		if n := strings.Count(string(b), "\n"); n > 300 {
			t.Errorf("%s has %d lines", filepath.Base(name), n)
		}
	}
}

// circleThrough is the shortest way from a name back to it; nil if there is none.
func circleThrough(graph map[string][]string, name string) []string {
	seen := map[string]bool{}
	for ways := [][]string{{name}}; len(ways) > 0; ways = ways[1:] {
		at := ways[0][len(ways[0])-1]
		for _, next := range graph[at] {
			way := append(slices.Clone(ways[0]), next)
			if next == name {
				return way
			}
			if !seen[next] {
				seen[next] = true
				ways = append(ways, way)
			}
		}
	}
	return nil
}

func TestCirclesAreFound(t *testing.T) {
	graph := map[string][]string{"a": {"b", "d"}, "b": {"c"}, "c": {"a"}, "d": nil}
	if c := circleThrough(graph, "b"); !slices.Equal(c, []string{"b", "c", "a", "b"}) {
		t.Errorf("the circle through b is %v", c)
	}
	if c := circleThrough(graph, "d"); c != nil {
		t.Errorf("there is a circle through d: %v", c)
	}
	if c := chainFrom(map[string][]string{"a": {"b", "c"}, "b": {"c"}}, "a",
		map[string][]string{}); !slices.Equal(c, []string{"a", "b", "c"}) {
		t.Errorf("the longest chain is %v", c)
	}
}

package importtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// eachShipped calls f with every file of the program but those of tests and of their doubles.
func eachShipped(t *testing.T, f func(name string, set *token.FileSet, parsed *ast.File)) {
	t.Helper()
	for _, file := range files(t) {
		if file.test || strings.HasSuffix(file.room, "test") ||
			strings.HasPrefix(file.room, "internal/e2e") {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set,
			filepath.Join("..", "..", filepath.FromSlash(file.name)), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		f(file.name, set, parsed)
	}
}

// A call of another room says what it asks for: true and false do not.
func TestNoBoolParameters(t *testing.T) {
	seen := 0
	eachShipped(t, func(name string, _ *token.FileSet, parsed *ast.File) {
		check := func(f *ast.Ident, of *ast.FuncType) {
			seen++
			if f.IsExported() && takesBool(of) {
				t.Errorf("%s: %s takes a bool: take a type with names, a struct, or make two functions",
					name, f.Name)
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.FuncDecl:
				check(x.Name, x.Type)
				return false
			case *ast.InterfaceType:
				for _, m := range x.Methods.List {
					if of, ok := m.Type.(*ast.FuncType); ok {
						check(m.Names[0], of)
					}
				}
			}
			return true
		})
	})
	if seen < 1000 {
		t.Errorf("found only %d functions: the test is broken", seen)
	}
}

func takesBool(of *ast.FuncType) bool {
	return slices.ContainsFunc(of.Params.List, func(p *ast.Field) bool {
		x, ok := p.Type.(*ast.Ident)
		return ok && x.Name == "bool"
	})
}

// longest is how many lines a function has: a longer one is made of steps with names.
const longest = 60

// tables are functions that return data.
var tables = map[string]bool{
	"internal/agent/acp/presets.go Presets": true,
	"internal/canary/probe.go allParts":     true,
	"internal/server/routes.go routes":      true,
}

// long have yet to be made of steps.
var long = map[string]bool{"internal/views/undo.go Undone": true}

// A function is read at one look.
func TestFunctionsAreShort(t *testing.T) {
	eachShipped(t, func(file string, set *token.FileSet, parsed *ast.File) {
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name, n := file+" "+f.Name.Name, set.Position(f.End()).Line-set.Position(f.Pos()).Line+1
			switch {
			case n > longest && !tables[name] && !long[name]:
				t.Errorf("%s has %d lines, more than %d: make it of steps with names of their own", name, n,
					longest)
			case n <= longest && (tables[name] || long[name]):
				t.Errorf("%s has %d lines: take it off the list", name, n)
			}
		}
	})
}

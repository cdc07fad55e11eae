package importtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// mostMethods is how many methods a type has: one with more is several things.
const mostMethods = 40

// Every type is one thing.
func TestTypesHaveFewMethods(t *testing.T) {
	methods := map[string]int{}
	for _, f := range files(t) {
		if f.test {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(),
			filepath.Join("..", "..", filepath.FromSlash(f.name)), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[f.room+"."+typeOf(fn.Recv.List[0].Type)]++
			}
		}
	}
	for name, n := range methods {
		if n > mostMethods {
			t.Errorf("%s has %d methods, more than %d: make it of parts with names of their own", name, n,
				mostMethods)
		}
	}
	if len(methods) < 100 {
		t.Errorf("found only %d types with methods: the test is broken", len(methods))
	}
}

// typeOf is the name of the type of a method's receiver.
func typeOf(of ast.Expr) string {
	switch x := of.(type) {
	case *ast.StarExpr:
		return typeOf(x.X)
	case *ast.IndexExpr:
		return typeOf(x.X)
	case *ast.Ident:
		return x.Name
	}
	return "?"
}

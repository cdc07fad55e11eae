package importtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// What handles an agent's words runs in goroutines that no caller waits in, where a panic
// would end the server: each is started within a [contain.Fence], or does nothing but post
// what the loop of a conversation does.
func TestGoroutinesOfAgentsAreContained(t *testing.T) {
	seen := 0
	for _, f := range files(t) {
		double := strings.HasSuffix(f.room, "test")
		if f.test || double || f.room != "internal/jsonrpc" &&
			!strings.HasPrefix(f.room, "internal/agent/") {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, filepath.Join("..", "..", filepath.FromSlash(f.name)), nil,
			0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			started := started(n)
			if started == nil {
				return true
			}
			seen++
			if !contained(started) {
				t.Errorf("%s: this goroutine is not contained: a panic in it ends the server",
					fset.Position(n.Pos()))
			}
			return true
		})
	}
	if seen < 10 {
		t.Errorf("found only %d goroutines: the test is broken", seen)
	}
}

// started is the function that n runs in a goroutine; nil if it starts none. The timers of
// package jsonrpc bound its own writes.
func started(n ast.Node) ast.Expr {
	if g, ok := n.(*ast.GoStmt); ok {
		return g.Call.Fun
	}
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	from, _ := of.X.(*ast.Ident)
	switch last := call.Args[len(call.Args)-1]; {
	case of.Sel.Name == "Go":
		return last
	case of.Sel.Name == "AfterFunc" && from != nil && from.Name == "time":
		return last
	}
	return nil
}

// contained reports whether a function is what Contained returned, or only posts or closes.
func contained(f ast.Expr) bool {
	if call, ok := f.(*ast.CallExpr); ok {
		switch of := call.Fun.(type) {
		case *ast.SelectorExpr:
			return strings.EqualFold(of.Sel.Name, "contained")
		case *ast.Ident:
			return of.Name == "contained"
		}
	}
	harmless := false
	if literal, ok := f.(*ast.FuncLit); ok {
		harmless = true
		for _, statement := range literal.Body.List {
			var call *ast.CallExpr
			switch s := statement.(type) {
			case *ast.ExprStmt:
				call, _ = s.X.(*ast.CallExpr)
			case *ast.AssignStmt:
				call, _ = s.Rhs[0].(*ast.CallExpr)
			}
			if call == nil {
				return false
			}
			of, ok := call.Fun.(*ast.SelectorExpr)
			harmless = harmless && ok && (strings.EqualFold(of.Sel.Name, "post") || of.Sel.Name == "shut" ||
				of.Sel.Name == "fail")
		}
	}
	return harmless
}

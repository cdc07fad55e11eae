package event_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/event"
)

// CONTRACT §3 has this list, in this order.
func TestErrorKindsAreTheContracts(t *testing.T) {
	const contract = "not_found, outside, sensitive, not_regular, too_large, binary, not_image, " +
		"bad_arguments, unknown_tool, denied, timeout, " +
		"aborted, interrupted, agent_died, provider, retrying, limit, log, internal"
	var ours []string
	for _, k := range event.ErrorKinds() {
		ours = append(ours, string(k))
	}
	if got := strings.Join(ours, ", "); got != contract {
		t.Errorf("the kinds are %s", got)
	}
	for _, code := range []string{"failure", "denied", "rejected", "timeout", "aborted", "interrupted",
		"", "wild"} {
		if k := event.KindOfCode(code); !slices.Contains(event.ErrorKinds(), k) {
			t.Errorf("the code %q is of the kind %q", code, k)
		}
	}
	for status := range 600 {
		if k := event.KindOfStatus(status); !slices.Contains(event.ErrorKinds(), k) {
			t.Errorf("the status %d is of the kind %q", status, k)
		}
	}
}

// kindless returns what names an error without a kind of the list: a ToolError or
// SessionError that says none, or a kind that is written out.
func kindless(src ast.Node) (found []ast.Node) {
	literal := func(e ast.Expr) bool { _, ok := e.(*ast.BasicLit); return ok }
	ast.Inspect(src, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if name := nameOf(n.Type); name != "event.ToolError" && name != "event.SessionError" ||
				len(n.Elts) == 0 {
				return true
			}
			ok := false
			for _, e := range n.Elts {
				kv, is := e.(*ast.KeyValueExpr)
				ok = ok || is && nameOf(kv.Key) == "Kind" && !literal(kv.Value)
			}
			if !ok {
				found = append(found, n)
			}
		case *ast.CallExpr:
			if name := nameOf(n.Fun); (name == "agent.Failure" || name == "agent.Errorf") &&
				literal(n.Args[0]) {
				found = append(found, n)
			}
		case *ast.KeyValueExpr:
			if nameOf(n.Key) == "Kind" && literal(n.Value) &&
				slices.Contains(event.ErrorKinds(), event.ErrorKind(strings.Trim(n.Value.(*ast.BasicLit).Value,
					`"`))) {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return nameOf(e.X) + "." + e.Sel.Name
	}
	return ""
}

func TestEveryErrorHasAKind(t *testing.T) {
	files, errors := token.NewFileSet(), 0
	for _, root := range []string{"../../internal", "../../cmd"} {
		err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") ||
				strings.HasSuffix(name, "_test.go") {
				return err
			}
			src, err := parser.ParseFile(files, filepath.Join(root, name), nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(src, func(n ast.Node) bool {
				if c, ok := n.(*ast.CompositeLit); ok && (nameOf(c.Type) == "event.ToolError" ||
					nameOf(c.Type) == "event.SessionError") {
					errors++
				}
				return true
			})
			for _, n := range kindless(src) {
				t.Errorf("%v: an error without a kind of event.ErrorKinds", files.Position(n.Pos()))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if errors < 8 {
		t.Errorf("only %d errors were found: the walk is broken", errors)
	}
	for _, bad := range []string{`event.ToolError{Message: "x"}`, `event.SessionError{Kind: "log"}`,
		`agent.Failure("failure", "x")`, `agent.Result{Kind: "timeout"}`} {
		src, err := parser.ParseExpr(bad)
		if err != nil || len(kindless(src)) == 0 {
			t.Errorf("%s passes: %v", bad, err)
		}
	}
}

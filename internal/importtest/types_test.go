package importtest

import (
	"go/ast"
	"go/constant"
	"go/types"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// typed are all packages of this module with their types, loaded once.
var typed = sync.OnceValues(func() ([]*packages.Package, error) {
	c := packages.Config{Dir: filepath.Join("..", ".."), Tests: true,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedForTest}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		c.BuildFlags = []string{"-race"} // what the tests stand on is compiled so already
	}
	return packages.Load(&c, "./...")
})

func loadTyped(t *testing.T) []*packages.Package {
	t.Helper()
	all, err := typed()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		for _, e := range p.Errors {
			t.Fatal(e)
		}
	}
	return all
}

// trusted are the types of package html/template that are put into a page as they are.
var trusted = []string{"HTML", "HTMLAttr", "JS", "JSStr", "Srcset"}

// Only package render, and tests, make text that is put into a page as it is.
func TestOnlyRenderMakesTrustedText(t *testing.T) {
	for _, p := range loadTyped(t) {
		for _, f := range p.Syntax {
			at := p.Fset.Position(f.Pos())
			if strings.HasSuffix(at.Filename, "_test.go") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if ok && makesTrusted(p.TypesInfo, e) && p.PkgPath != module+"internal/render" {
					t.Errorf("%s: only internal/render makes a %s", p.Fset.Position(e.Pos()), p.TypesInfo.TypeOf(e))
				}
				return true
			})
		}
	}
}

// makesTrusted reports a conversion to a trusted type, or a constant that has one.
func makesTrusted(info *types.Info, e ast.Expr) bool {
	tv, ok := info.Types[e]
	if !ok || !tv.IsValue() || !isTrusted(tv.Type) {
		return false
	}
	if tv.Value != nil {
		return constant.StringVal(tv.Value) != ""
	}
	call, ok := e.(*ast.CallExpr)
	return ok && info.Types[call.Fun].IsType() && !isTrusted(info.TypeOf(call.Args[0]))
}

func isTrusted(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "html/template" && slices.Contains(trusted, named.Obj().Name())
}

package importtest

import (
	"go/ast"
	"go/constant"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// typed are the packages of this module as they ship, with their types, loaded once.
// What they stand on is not read again: the compiler's own results are, which "go
// build" leaves.
var typed = sync.OnceValues(func() ([]*packages.Package, error) {
	return packages.Load(&packages.Config{
		Dir: filepath.Join("..", ".."),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, "./...")
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

// makers are the rooms that make such text.
var makers = []string{"internal/render", "internal/render/code", "internal/render/markdown",
	"internal/render/notebook", "internal/render/terminal"}

// Only render and the rooms below it make text that is put
// into a page as it is.
func TestOnlyRenderMakesTrustedText(t *testing.T) {
	for _, p := range loadTyped(t) {
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if ok && makesTrusted(p.TypesInfo, e) && !slices.Contains(makers,
					strings.TrimPrefix(p.PkgPath, module)) {
					t.Errorf("%s: only internal/render and the rooms below it make a %s", p.Fset.Position(e.Pos()),
						p.TypesInfo.TypeOf(e))
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
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "html/template" &&
		slices.Contains(trusted, named.Obj().Name())
}

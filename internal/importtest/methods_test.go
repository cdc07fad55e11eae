package importtest

import (
	"go/ast"
	"strings"
	"testing"
)

// mostMethods is how many methods a type may have: what has more is made of parts.
const mostMethods = 40

// tooMany are the types that have more, with how many: each is to be made of parts, and none grows.
var tooMany = map[string]int{
	"internal/server.Server": 136, "internal/page.State": 129, "cmd/webchat.options": 85, "internal/sessions.Manager": 62, "internal/page.Call": 58,
	"internal/guard.Guard": 50, "internal/cage.Cage": 49, "internal/policy.Policy": 49, "internal/store.Postgres": 49,
}

func TestTypesHaveFewMethods(t *testing.T) {
	count := map[string]int{}
	for _, p := range loadTyped(t) {
		for _, f := range p.Syntax {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Recv == nil {
					continue
				}
				of := fn.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				if list, ok := of.(*ast.IndexExpr); ok {
					of = list.X
				}
				if name, ok := of.(*ast.Ident); ok {
					count[strings.TrimPrefix(p.PkgPath, module)+"."+name.Name]++
				}
			}
		}
	}
	for name, n := range count {
		most := max(mostMethods, tooMany[name])
		if n > most {
			t.Errorf("%s has %d methods, at most %d may be", name, n, most)
		}
	}
}

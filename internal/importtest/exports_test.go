package importtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// What a room exports has a use: in what ships, or in the tests of another room.
// An export that only the tests of its own room use, or nothing, is refused.
func TestExportsAreUsed(t *testing.T) {
	all := loadTyped(t)
	used := map[string]bool{}
	for _, p := range all {
		for _, o := range p.TypesInfo.Uses {
			used[keyOf(o)] = true
		}
		for _, s := range p.TypesInfo.Selections {
			used[keyOf(s.Obj())] = true
		}
	}
	byTests := usedByTests(t)
	byName := namesInTemplates(t)
	faces := interfaces(all)
	for _, p := range all {
		if !strings.HasPrefix(p.PkgPath, module+"internal/") {
			continue
		}
		for _, o := range exports(p.Types) {
			if used[keyOf(o)] || byName[o.Name()] || byTests.have(o) || implements(o, faces) {
				continue
			}
			t.Errorf("%s: %s has no use outside the tests of its room: make it private or delete it",
				p.Fset.Position(o.Pos()), strings.TrimPrefix(keyOf(o), module))
		}
	}
}

// keyOf names an object in the same way wherever it was loaded from.
func keyOf(o types.Object) string {
	if o == nil || o.Pkg() == nil {
		return ""
	}
	f, ok := o.(*types.Func)
	if !ok {
		return o.Pkg().Path() + "." + o.Name()
	}
	if r := receiver(f); r != nil {
		return o.Pkg().Path() + "." + r.Obj().Name() + "." + o.Name()
	}
	return o.Pkg().Path() + "." + o.Name()
}

func receiver(f *types.Func) *types.Named {
	recv := f.Signature().Recv()
	if recv == nil {
		return nil
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, _ := t.(*types.Named)
	return named
}

func isMethod(o types.Object) bool {
	f, ok := o.(*types.Func)
	return ok && f.Signature().Recv() != nil
}

// exports are a package's exported names, and the exported methods of its types.
func exports(p *types.Package) (list []types.Object) {
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if o.Exported() {
			list = append(list, o)
		}
		named, ok := o.Type().(*types.Named)
		if _, isType := o.(*types.TypeName); !ok || !isType {
			continue
		}
		for m := range named.Methods() {
			if m.Exported() {
				list = append(list, m)
			}
		}
	}
	return list
}

// interfaces are those of all packages that are imported somewhere.
func interfaces(all []*packages.Package) map[string][]*types.Interface {
	byMethod := map[string][]*types.Interface{}
	seen := map[*types.Package]bool{}
	var walk func(*types.Package)
	walk = func(p *types.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		for _, name := range p.Scope().Names() {
			o, ok := p.Scope().Lookup(name).(*types.TypeName)
			if !ok {
				continue
			}
			if i, ok := o.Type().Underlying().(*types.Interface); ok {
				for m := range i.Methods() {
					byMethod[m.Name()] = append(byMethod[m.Name()], i)
				}
			}
		}
		for _, i := range p.Imports() {
			walk(i)
		}
	}
	for _, p := range all {
		walk(p.Types)
	}
	// Package errors and net/http ask for these by interfaces without a name.
	for _, name := range []string{"Unwrap", "SetWriteDeadline", "FlushError", "Is", "As", "Timeout"} {
		byMethod[name] = append(byMethod[name], types.NewInterfaceType(nil, nil))
	}
	if e, ok := types.Universe.Lookup("error").Type().Underlying().(*types.Interface); ok {
		byMethod["Error"] = append(byMethod["Error"], e)
	}
	return byMethod
}

// implements reports whether o is a method that makes its type fit an interface.
func implements(o types.Object, byMethod map[string][]*types.Interface) bool {
	f, ok := o.(*types.Func)
	if !ok {
		return false
	}
	r := receiver(f)
	return r != nil && slices.ContainsFunc(byMethod[o.Name()], func(i *types.Interface) bool {
		return types.Implements(types.NewPointer(r), i)
	})
}

// testUses are the names that tests select, with the rooms the tests are of. The
// types of tests are not known, so a method counts by its name.
type testUses map[string]map[string]bool

func (u testUses) add(name, room string) {
	if u[name] == nil {
		u[name] = map[string]bool{}
	}
	u[name][room] = true
}

// have reports whether tests of another room use o.
func (u testUses) have(o types.Object) bool {
	name := keyOf(o)
	if isMethod(o) {
		name = o.Name()
	}
	own := strings.TrimPrefix(o.Pkg().Path(), module)
	for room := range u[name] {
		if room != own {
			return true
		}
	}
	return false
}

func usedByTests(t *testing.T) testUses {
	t.Helper()
	used := testUses{}
	root := filepath.Join("..", "..")
	for _, f := range files(t) {
		if !f.test {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, f.name), nil,
			parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		rooms := map[string]string{}
		for _, spec := range parsed.Imports {
			imp := strings.Trim(spec.Path.Value, `"`)
			name := path.Base(imp)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			rooms[name] = imp
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && rooms[x.Name] != "" {
				used.add(rooms[x.Name]+"."+s.Sel.Name, f.room)
			}
			used.add(s.Sel.Name, f.room)
			return true
		})
	}
	return used
}

var inTemplate = regexp.MustCompile(`\.([A-Z]\w*)`)

// namesInTemplates are the fields and methods that templates name.
func namesInTemplates(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(filepath.Join("..", "..", "web", "templates"),
		func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(p)
			for _, m := range inTemplate.FindAllSubmatch(b, -1) {
				names[string(m[1])] = true
			}
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

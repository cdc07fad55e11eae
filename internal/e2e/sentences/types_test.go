package sentences

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// qualified is a name of Go's with its package's, in a text of several words.
var qualified = regexp.MustCompile(`(?:^|[^\w./*])([a-z][a-z0-9]*)\.[A-Z]\w*(?: |$)`)

// TestTextsNameNoTypes shows that no text of the program, however short, holds a name of Go's: who
// reads it knows no package. A rename in the code must not reach what is said.
func TestTextsNameNoTypes(t *testing.T) {
	root := os.DirFS("../../..")
	packages, texts := map[string]bool{}, map[string][]string{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && ignored(name):
			return fs.SkipDir
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		packages[file.Name.Name] = true
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				imported, _ := strconv.Unquote(n.Path.Value)
				packages[path.Base(imported)] = true
			case *ast.BasicLit:
				if s, ok := joined(n); ok && strings.Contains(s, " ") {
					texts[name] = append(texts[name], s)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, all := range texts {
		for _, s := range all {
			for _, m := range qualified.FindAllStringSubmatch(s, -1) {
				if packages[m[1]] {
					t.Errorf("%s: %q names %s", name, s, strings.TrimSpace(m[0]))
				}
			}
		}
	}
}

// Package sentences collects every sentence a user can meet from the source of the program: what is
// printed, answered and shown. Its test keeps them in one file, so that a change of words is seen
// as such and all can be read in one go.
//
// A sentence is a constant string of at least three words in Go code, a text or an attribute for
// people in a template, and a string of at least three words in a module of the page. What is
// written for other programs (SQL, shell, HTML, patterns, schemas) is left out by its look.
package sentences

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// collect returns the sentences by the file they are in, each once a file, in their order there.
// The files are those of the program below root: without tests and what only tests use.
func collect(root fs.FS) (map[string][]string, error) {
	all := map[string][]string{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if ignored(name) {
				return fs.SkipDir
			}
			return nil
		}
		of := map[string]func(string, []byte) ([]string, error){".go": inGo, ".tmpl": inTemplate,
			".html": inTemplate, ".js": inScript}[path.Ext(name)]
		if of == nil || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		found, err := of(name, text)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		for _, s := range found {
			s = strings.Join(strings.Fields(s), " ")
			if !slices.Contains(all[name], s) {
				all[name] = append(all[name], s)
			}
		}
		return nil
	})
	return all, err
}

func ignored(dir string) bool {
	base := path.Base(dir)
	return base != "." && strings.HasPrefix(base, ".") || base == "testdata" || base == "e2e" ||
		base == "node_modules" || base == "bin" ||
		strings.HasSuffix(base, "test")
}

var (
	words = regexp.MustCompile(`[A-Za-z’'-]+`)
	// A word between words, as in prose: no operator, no tag, no path, no placeholder only.
	prose = regexp.MustCompile(
		`[A-Za-z%’')\]]{2,}[,:;]? [a-zA-Z%(“"][a-zA-Z%’'-]*[,:;.]? [a-zA-Z%(“"]`)
	program = regexp.MustCompile(
		`(?s)^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|WITH|DROP|ALTER|BEGIN|VACUUM|ON CONFLICT|ATTACH|<|\(\?|\^|\{|\[|#!|set -)|\$\{|default-src|\\[dbsw]`)
)

func isSentence(s string) bool {
	return len(words.FindAllString(s, 4)) >= 3 && prose.MatchString(s) && !program.MatchString(s)
}

func inGo(name string, text []byte) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []string
	tags := map[*ast.BasicLit]bool{}
	var look func(n ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			// A tag is not a sentence, but kong's help within one is.
			if n.Tag != nil {
				tag, _ := strconv.Unquote(n.Tag.Value)
				tags[n.Tag] = true
				if i := strings.Index(tag, `help:"`); i >= 0 {
					if help, err := strconv.QuotedPrefix(tag[i+len("help:"):]); err == nil {
						help, _ = strconv.Unquote(help)
						found = append(found, help)
					}
				}
			}
		case *ast.BinaryExpr:
			if n.Op == token.ADD {
				text := ""
				for _, of := range append(operands(n), nil) {
					s, ok := joined(of)
					if text += s; ok {
						continue
					}
					if isSentence(text) {
						found = append(found, text)
					}
					if text = ""; of != nil {
						ast.Inspect(of, look)
					}
				}
				return false
			}
		case *ast.BasicLit:
			if s, ok := joined(n); ok && !tags[n] && isSentence(s) {
				found = append(found, s)
			}
		}
		return true
	}
	ast.Inspect(file, look)
	return found, nil
}

// operands are those of a chain of additions.
func operands(e ast.Expr) []ast.Expr {
	if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		return append(operands(sum.X), operands(sum.Y)...)
	}
	return []ast.Expr{e}
}

// joined returns the value of a constant string, also of one in several pieces.
func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING || strings.HasPrefix(e.Value, "`json:") {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		a, ok := joined(e.X)
		b, ok2 := joined(e.Y)
		return a + b, e.Op == token.ADD && ok && ok2
	case *ast.ParenExpr:
		return joined(e.X)
	}
	return "", false
}

var action = regexp.MustCompile(`(?s)\{\{.*?\}\}`)

// inTemplate returns texts and the attributes that are read to people; what a template fills in
// stands as "…".
func inTemplate(_ string, text []byte) ([]string, error) {
	control := regexp.MustCompile(
		`(?s)\{\{-?\s*(/\*.*?\*/|(define|template|block|end|else|if|range|with|break|continue)\b.*?|\$\w+\s*:?=.*?)\s*-?\}\}`)
	plain := control.ReplaceAllString(string(text), "\x00")
	plain = action.ReplaceAllString(plain, "…")
	z := html.NewTokenizer(strings.NewReader(plain))
	var found []string
	add := func(s string) {
		for part := range strings.SplitSeq(s, "\x00") {
			if len(words.FindAllString(part, 2)) >= 2 {
				found = append(found, part)
			}
		}
	}
	skip := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return found, nil
		case html.TextToken:
			if !skip {
				add(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			tag, more := z.TagName()
			skip = string(tag) == "script" || string(tag) == "style"
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				switch string(key) {
				case "aria-label", "title", "placeholder", "alt", "aria-description", "aria-roledescription":
					add(string(value))
				}
				if strings.HasPrefix(string(key), "data-say") || strings.HasPrefix(string(key), "data-word") ||
					strings.HasPrefix(string(key), "data-text") {
					add(string(value))
				}
			}
		case html.EndTagToken:
			skip = false
		}
	}
}

var (
	comments = regexp.MustCompile(`(?m)(^|\s)//.*$|(?s)/\*.*?\*/`)
	quoted   = regexp.MustCompile(
		"\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`")
	filled = regexp.MustCompile(`\$\{[^}]*\}`)
)

func inScript(_ string, text []byte) ([]string, error) {
	var found []string
	for _, s := range quoted.FindAllString(comments.ReplaceAllString(string(text), " "), -1) {
		if s = filled.ReplaceAllString(s[1:len(s)-1],
			"…"); isSentence(strings.ReplaceAll(s, "…", "it")) && !strings.ContainsAny(s, "[>=") {
			found = append(found, s)
		}
	}
	return found, nil
}

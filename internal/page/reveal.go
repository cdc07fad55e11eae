package page

import (
	"html/template"
	"reflect"
	"slices"
	"strings"
	ast "text/template/parse"

	"webchat/internal/render"
	"webchat/internal/wording"
)

// reveal makes every action of the templates write its text so that nothing in it hides: a
// terminal's control characters, and what turns the text around it. So no template, and none
// that is still to be written, can forget it. What is a template.HTML was made visible by
// package render.
func reveal(t *template.Template) {
	for _, tmpl := range t.Templates() {
		if tmpl.Tree != nil {
			revealIn(tmpl.Tree.Root, "")
		}
	}
}

// Attributes of which the value is not read by people: exact ones are sent back to the server
// as they are, so that in these a hidden character becomes a character reference; the escaper
// of addresses writes it as %1B.
var (
	exactAttributes   = []string{"data-args", "data-path", "data-choice", "data-folder"}
	addressAttributes = []string{"href", "src", "action"}
)

// revealIn does it in what is behind the beginning of a value of an attribute, or in a text if
// attr is empty, and returns in which it ends.
func revealIn(list *ast.ListNode, attr string) string {
	if list == nil {
		return attr
	}
	branch := func(b *ast.BranchNode) {
		revealIn(b.ElseList, attr)
		attr = revealIn(b.List, attr)
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *ast.TextNode:
			attr = attributeAfter(attr, string(n.Text))
		case *ast.ActionNode:
			if len(n.Pipe.Decl) == 0 && !slices.Contains(addressAttributes, attr) {
				call := map[bool]string{false: "revealed", true: "exact"}[slices.Contains(exactAttributes,
					attr)]
				n.Pipe.Cmds = append(n.Pipe.Cmds, &ast.CommandNode{
					NodeType: ast.NodeCommand,
					Pos:      n.Pos,
					Args:     []ast.Node{ast.NewIdentifier(call).SetPos(n.Pos)},
				})
			}
		case *ast.IfNode:
			branch(&n.BranchNode)
		case *ast.RangeNode:
			branch(&n.BranchNode)
		case *ast.WithNode:
			branch(&n.BranchNode)
		}
	}
	return attr
}

// attributeAfter is the attribute in whose value a text of a template ends; empty means none.
func attributeAfter(attr, text string) string {
	for {
		if attr != "" {
			_, rest, ended := strings.Cut(text, `"`)
			if !ended {
				return attr
			}
			attr, text = "", rest
		}
		before, rest, begins := strings.Cut(text, `="`)
		if !begins {
			return ""
		}
		attr, text = before[strings.LastIndexAny(before, " \n\t}")+1:], rest
	}
}

// textOf is a value that is written as a text of others; false if it is something else.
func textOf(v any) (string, bool) {
	if s, ok := v.(string); ok {
		return s, true
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.String || r.Type().PkgPath() == "html/template" {
		return "", false
	}
	return r.String(), true
}

func revealed(v any) any {
	if s, ok := textOf(v); ok {
		return wording.Shown(s)
	}
	return v
}

func exact(v any) any {
	if s, ok := textOf(v); ok {
		return render.Exact(s)
	}
	return v
}

package main

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// rule is a permission rule, ready to match.
type rule struct {
	ruleConfig
	number int
	path   *regexp.Regexp // nil: any
}

// makeRules returns what session.Config.Rules wants: the first rule that matches
// decides. A command matches as a whole and exactly, since nobody can tell what a
// shell makes of a part.
func makeRules(configs []ruleConfig, workspace string) func(agent.Permission) (event.Decision, string, bool) {
	if len(configs) == 0 {
		return nil
	}
	var rules []rule
	for i, c := range configs {
		r := rule{ruleConfig: c, number: i + 1}
		if c.Path != "" {
			r.path = glob(absolute(c.Path, workspace))
		}
		rules = append(rules, r)
	}
	return func(p agent.Permission) (event.Decision, string, bool) {
		for _, r := range rules {
			if r.matches(p, workspace) {
				return r.Decision, fmt.Sprintf("Rule %d of the user's configuration says %s.", r.number, r.Decision), true
			}
		}
		return "", "", false
	}
}

func (r rule) matches(p agent.Permission, workspace string) bool {
	switch {
	case r.Tool != "" && r.Tool != p.ToolName:
		return false
	case r.Kind != "" && r.Kind != p.Kind:
		return false
	case r.Command != "":
		return p.Kind == agent.KindShell && r.Command == p.Resource
	case r.path != nil:
		return (p.Kind == agent.KindRead || p.Kind == agent.KindWrite) && r.path.MatchString(absolute(p.Resource, workspace))
	}
	return true
}

// absolute makes a path of the workspace comparable.
func absolute(name, workspace string) string {
	if !filepath.IsAbs(name) && !path.IsAbs(name) {
		name = filepath.Join(workspace, name)
	}
	return path.Clean(filepath.ToSlash(name))
}

// glob knows ? and * within an element of a path, and ** across them.
func glob(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`^(?s:`)
	for i := 0; i < len(pattern); i++ {
		switch {
		case strings.HasPrefix(pattern[i:], "/**/"):
			b.WriteString(`/(?:.*/)?`)
			i += 3
		case strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(`.*`)
			i++
		case pattern[i] == '*':
			b.WriteString(`[^/]*`)
		case pattern[i] == '?':
			b.WriteString(`[^/]`)
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	b.WriteString(`)$`)
	return regexp.MustCompile(b.String())
}

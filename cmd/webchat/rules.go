package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/adrg/xdg"

	"webchat/internal/agent"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/session"
)

// asks is what a rule may decide beside allow and deny: that somebody is asked,
// whatever the mode.
const asks event.Decision = "ask"

// rule is a permission rule, ready to match.
type rule struct {
	ruleConfig
	number int
	path   *regexp.Regexp // nil: any
}

// policy is what the user's configuration says about acts of agents.
type policy struct {
	rules     []rule
	workspace string
	home      string   // empty: unknown
	private   []string // files and folders of webchat's own, absolute
}

// policy is what c says about acts in workspace, with webchat's own files private.
func (o *options) policy(c *config, workspace, dataDir string) *policy {
	home, _ := lookup(o.env, "HOME")
	own := []string{o.configPath(), o.tokenFile, filepath.Join(xdg.ConfigHome, "webchat")}
	if rel, err := filepath.Rel(dataDir, workspace); err != nil || !filepath.IsLocal(rel) {
		own = append(own, dataDir)
	}
	return newPolicy(c.Permissions, workspace, home, slices.DeleteFunc(own, func(name string) bool { return name == "" })...)
}

// newPolicy makes a policy of rules. What an agent does to one of private is
// always asked: it could change the rules.
func newPolicy(configs []ruleConfig, workspace, home string, private ...string) *policy {
	p := &policy{workspace: workspace, home: home}
	for i, c := range configs {
		r := rule{ruleConfig: c, number: i + 1}
		if c.Path != "" {
			r.path = glob(p.absolute(c.Path))
		}
		p.rules = append(p.rules, r)
	}
	for _, name := range private {
		p.private = append(p.private, p.names(name)...)
	}
	return p
}

// rule is what session.Config.Rules wants. The first rule that matches decides. A
// command matches as a whole and exactly, since nobody can tell what a shell makes
// of a part. A file is known by the name it was given and by where that leads: an
// allow has to match both, all else one of them.
func (p *policy) rule(act agent.Permission) session.Ruling {
	var ruling session.Ruling
	var names []string
	if act.Kind == agent.KindRead || act.Kind == agent.KindWrite {
		names = p.names(act.Resource)
		ruling.Sensitive = slices.ContainsFunc(names, p.sensitive)
	}
	for _, r := range p.rules {
		if !r.matches(act, names) {
			continue
		}
		ruling.Reason = fmt.Sprintf("Rule %d of the user's configuration says %s.", r.number, r.Decision)
		if ruling.Ask = r.Decision == asks; !ruling.Ask {
			ruling.Decision = r.Decision
		}
		break
	}
	return ruling
}

func (p *policy) sensitive(name string) bool {
	return displaytools.Sensitive(name) || slices.ContainsFunc(p.private, func(own string) bool {
		return name == own || strings.HasPrefix(name, strings.TrimSuffix(own, "/")+"/")
	})
}

func (r rule) matches(act agent.Permission, names []string) bool {
	switch {
	case r.Tool != "" && r.Tool != act.ToolName:
		return false
	case r.Kind != "" && r.Kind != act.Kind:
		return false
	case r.Command != "":
		return act.Kind == agent.KindShell && r.Command == act.Resource
	case r.path == nil:
		return true
	case len(names) == 0:
		return false
	case r.Decision == event.Allow:
		return !slices.ContainsFunc(names, func(n string) bool { return !r.path.MatchString(n) })
	}
	return slices.ContainsFunc(names, r.path.MatchString)
}

// names are the absolute paths of a file: as given, and with all links followed.
func (p *policy) names(name string) []string {
	given := p.absolute(name)
	real := filepath.ToSlash(leads(filepath.FromSlash(given), maxLinks))
	if real == given {
		return []string{given}
	}
	return []string{given, real}
}

// maxLinks is how many links to what is not there are followed.
const maxLinks = 40

// leads returns where a path leads. A file that is not there yet leads where its
// folder does, and a link to such a file where that would be.
func leads(name string, links int) string {
	for dir, rest := name, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(dir); err == nil && links > 0 {
			return leads(filepath.Join(follow(dir, to), rest), links-1)
		}
		if filepath.Dir(dir) == dir {
			return name
		}
	}
}

func follow(link, to string) string {
	if filepath.IsAbs(to) {
		return to
	}
	return filepath.Join(filepath.Dir(link), to)
}

// absolute makes a path comparable.
func (p *policy) absolute(name string) string {
	name = strings.TrimPrefix(name, "file://")
	if rest, ok := strings.CutPrefix(name, "~/"); ok && p.home != "" {
		name = filepath.Join(p.home, rest)
	}
	if !filepath.IsAbs(name) && !path.IsAbs(name) {
		name = filepath.Join(p.workspace, name)
	}
	return path.Clean(filepath.ToSlash(name))
}

// glob knows ? and * within an element of a path, and ** across them. Where file
// systems do not tell upper from lower case, it does not either.
func glob(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`^(?s:`)
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		b.WriteString(`(?i)`)
	}
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

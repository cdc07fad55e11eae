// Package policy says what may happen without asking the user: the user's rules,
// which files are sensitive, and which variables a command inherits.
//
// A [Policy] answers for one workspace. Files are judged by the name they were
// given and by where that name leads. Nothing in the workspace can change what a
// Policy says.
//
// A Policy may be used from any goroutine.
//
//	p := policy.New(policy.Config{Rules: rules, Workspace: dir, Home: home, Private: own})
//	ruling := p.Rule(agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: "go test ./..."})
package policy

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Ask is what a rule may decide beside allow and deny: the user is asked, whatever
// the mode.
const Ask event.Decision = "ask"

// Rule is a rule of the user's. Empty fields match everything.
type Rule struct {
	Tool     string         // the name of the call as the agent made it
	Kind     agent.Kind     // the class of acts
	Command  string         // of a shell: the whole command, exactly
	Path     string         // a glob relative to the workspace, or beginning with / or ~/
	Decision event.Decision // allow, deny or [Ask]
}

// Config is what a [Policy] works with. Workspace is needed.
type Config struct {
	Rules     []Rule   // the first that matches decides
	Workspace string   // absolute path
	Home      string   // the user's folder; empty: unknown
	Private   []string // absolute paths of webchat's own files and folders: an agent is always asked about them, since it could change the rules
}

// readyRule is a rule, ready to match.
type readyRule struct {
	Rule
	number int
	path   *regexp.Regexp // nil: any
}

// Policy is what the user's configuration says about acts of agents in one
// workspace.
type Policy struct {
	rules     []readyRule
	workspace string
	home      string
	private   []string
	links     *HardLinks
}

// New returns the policy of a workspace.
func New(c Config) *Policy {
	p := &Policy{workspace: c.Workspace, home: c.Home, links: NewHardLinks(c.Workspace)}
	for i, given := range c.Rules {
		r := readyRule{Rule: given, number: i + 1}
		if given.Path != "" {
			r.path = glob(p.absolute(given.Path))
		}
		p.rules = append(p.rules, r)
	}
	for _, name := range c.Private {
		p.private = append(p.private, p.Names(name)...)
	}
	return p
}

// Rule says what the rules decide about an act of an agent. The first rule that matches decides. A
// command matches as a whole and exactly, since nobody can tell what a shell makes
// of a part. A file is known by the name it was given and by where that leads: an
// allow has to match both, all else one of them.
func (p *Policy) Rule(act agent.Permission) agent.Ruling {
	var ruling agent.Ruling
	var names []string
	if act.Kind == agent.KindRead || act.Kind == agent.KindWrite {
		names = p.Names(act.Resource)
		_, linked := p.HardLinked(act.Resource)
		ruling.Sensitive = linked || slices.ContainsFunc(names, p.sensitive)
	}
	for _, r := range p.rules {
		if !r.matches(act, names) {
			continue
		}
		ruling.Reason = fmt.Sprintf("Rule %d of the user's configuration says %s.", r.number, r.Decision)
		if ruling.Ask = r.Decision == Ask; !ruling.Ask {
			ruling.Decision = r.Decision
		}
		break
	}
	return ruling
}

func (p *Policy) sensitive(name string) bool {
	return SensitiveFile(name) || slices.ContainsFunc(p.private, func(own string) bool {
		return name == own || strings.HasPrefix(name, strings.TrimSuffix(own, "/")+"/")
	})
}

func (r readyRule) matches(act agent.Permission, names []string) bool {
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

// Names returns the absolute paths of a file: as given, and with all links followed.
func (p *Policy) Names(name string) []string {
	given := p.absolute(name)
	real := filepath.ToSlash(Resolve(filepath.FromSlash(given)))
	if real == given {
		return []string{given}
	}
	return []string{given, real}
}

// absolute makes a path comparable.
func (p *Policy) absolute(name string) string {
	name = strings.TrimPrefix(name, "file://")
	if rest, ok := strings.CutPrefix(name, "~/"); ok && p.home != "" {
		name = filepath.Join(p.home, rest)
	}
	if !filepath.IsAbs(name) && !path.IsAbs(name) {
		name = filepath.Join(p.workspace, name)
	}
	return path.Clean(filepath.ToSlash(name))
}

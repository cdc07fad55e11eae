// Package policy says what may happen without asking the user: the user's rules,
// what the user allowed before, which files are sensitive, and which variables a
// command inherits.
//
// A [Policy] answers for one workspace. What the user may allow beyond one act are the
// act's grants ([Policy.Grants]): a grant that was given covers every act that has it
// among its own. [Kept] keeps those that were given for a workspace. Files are judged by the
// name they were given, by where that name leads and, where an act names one, by its content
// ([HoldsSecret]); [Policy.File] is the one judge of what is opened, for tools as for attachments,
// and webchat's own secrets ([Secret]) are opened by neither. Nothing in the workspace can change
// what a Policy says, except that a grant of a script by its name covers it only while
// package.json has it, and that git has the say which source code is shared ([Config].Tracked).
//
// A Policy may be used from any goroutine.
//
//	p := policy.New(policy.Config{Rules: rules, Workspace: dir, Home: home, Private: own})
//	ruling := p.Rule(agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: "go test ./..."})
package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Ask is what a rule may decide beside allow and deny: the user is asked, whatever
// the mode.
const Ask event.Decision = "ask"

// Rule is a rule of the user's, also as clients read it. Empty fields match everything.
type Rule struct {
	// the name of the call as the agent made it, or SERVER-TOOL
	Tool    string     `json:"tool,omitempty"`
	Kind    agent.Kind `json:"kind,omitempty"`    // the class of acts
	Command string     `json:"command,omitempty"` // of a shell: the whole command, exactly
	// of a shell: the first words of one simple command; an allow covers no @FILE behind them
	Prefix string `json:"prefix,omitempty"`
	// a glob relative to the workspace, or beginning with / or ~/
	Path string `json:"path,omitempty"`
	// of a shell: a glob for the folder; empty: an allow holds in the workspace root only, all else
	// everywhere
	Cwd string `json:"cwd,omitempty"`

	Decision event.Decision `json:"decision"` // allow, deny or [Ask]
	// Outside has webchat run the command where nothing is confined, if the rule covers the whole of
	// it as an allow would.
	Outside bool `json:"outside,omitempty"`
}

// Check says what is wrong with r, for the person who wrote it.
func (r Rule) Check() error {
	shell := r.Command != "" || r.Prefix != "" || r.Cwd != ""
	switch {
	case (r.Tool == "") == (r.Kind == ""):
		return errors.New("it needs either tool or kind")
	case r.Kind != "" && !slices.Contains([]agent.Kind{agent.KindShell, agent.KindWrite,
		agent.KindRead, agent.KindMCP, agent.KindURL}, r.Kind):
		return fmt.Errorf("the kind %q is none of shell, write, read, mcp and url", r.Kind)
	case r.Decision != event.Allow && r.Decision != event.Deny && r.Decision != Ask:
		return fmt.Errorf("the decision %q is none of allow, ask and deny", r.Decision)
	case r.Command != "" && r.Path != "":
		return errors.New("it has a command and a path, and can only have one")
	case r.Command != "" && r.Prefix != "":
		return errors.New("it has a command and a prefix, and can only have one")
	case shell && r.Path != "":
		return errors.New("it has a path, which is of files, and a prefix or cwd, which are of commands")
	case shell && r.Kind != "" && r.Kind != agent.KindShell:
		return fmt.Errorf("command, prefix and cwd are of the kind shell, not of %s", r.Kind)
	case r.Outside && (r.Command == "" && r.Prefix == "" || r.Decision == event.Deny):
		return errors.New("outside is of rules that allow or ask about a command or a prefix")
	case r.Prefix != "" && !isSimple(r.Prefix):
		return fmt.Errorf(
			"the prefix %q is not the beginning of one simple command: plain words without operators, "+
				"patterns or variables", r.Prefix)
	}
	return nil
}

// Config is what a [Policy] works with. Workspace is needed.
type Config struct {
	Rules     []Rule // the first that matches decides
	Reading   bool   // last rules allow reading inside the workspace, by tools and by commands
	Workspace string // absolute path
	Home      string // the user's folder; empty: unknown
	// absolute paths of webchat's own files and folders: an agent is always asked about them, since it
	// could change the rules
	Private []string
	Asks    []string // tools whose commands are asked about even if they only read
	// the variable by which programs are found; a folder of the workspace in it takes the built-in
	// rule from commands
	Path string
	// Tracked reports whether git tracks a file, by its absolute path with links followed. It is asked
	// about source code that holds what looks like a key, and answers within seconds. Nil: git tracks
	// none.
	Tracked func(name string) bool
	Secrets []Secret // those that are never opened; the first that holds a path decides
}

// readyRule is a rule, ready to match.
type readyRule struct {
	Rule
	number int
	path   *pattern // nil: any
	cwd    *pattern // nil: see Rule.Cwd
}

// Policy is what the user's configuration says about acts of agents in one
// workspace.
type Policy struct {
	places
	ownFiles
	rules    []readyRule
	links    *HardLinks
	reading  bool
	asks     []string
	tracked  func(name string) bool
	shadowed bool // the workspace may hold a program of a reader's name
}

// New returns the policy of a workspace.
func New(c Config) *Policy {
	p := &Policy{
		places:  places{workspace: c.Workspace, home: c.Home},
		links:   NewHardLinks(c.Workspace),
		reading: c.Reading,
		asks:    c.Asks,
		tracked: c.Tracked,
	}
	p.roots = p.Names(c.Workspace)
	p.shadowed = slices.ContainsFunc(filepath.SplitList(c.Path), func(dir string) bool {
		return !filepath.IsAbs(dir) || slices.ContainsFunc(p.Names(dir), p.inside)
	})
	for i, given := range c.Rules {
		r := readyRule{Rule: given, number: i + 1}
		if given.Path != "" {
			r.path = newPattern(p.absolute(given.Path))
		}
		if given.Cwd != "" {
			r.cwd = newPattern(p.absolute(given.Cwd))
		}
		p.rules = append(p.rules, r)
	}
	for _, name := range c.Private {
		p.private = append(p.private, p.Names(name)...)
	}
	for _, s := range c.Secrets {
		for _, name := range p.Names(s.Path) {
			p.secrets = append(p.secrets, Secret{name, s.What})
		}
	}
	return p
}

// Rule says what the rules decide about an act of an agent. The first rule that
// matches decides. A file is known by the name it was given and by where that
// leads: an allow has to match both, all else one of them. An allow for commands
// holds in the workspace root unless it names another folder; one for files holds
// outside the workspace only if it names a path.
func (p *Policy) Rule(ctx context.Context, act agent.Permission) agent.Ruling {
	f := p.file(act)
	if f.secret != "" {
		return refused(f)
	}
	act.Confined = act.Confined && p.Unheld() == 0
	if act.Kind == agent.KindRead && (act.Search == nil || !act.Search.Names) {
		p.look(&f)
	}
	if act.Search != nil && !f.outside && f.alone == "" {
		f.alone, f.holds = p.searchWhy(ctx, *act.Search)
	}
	var j judged
	if act.Kind == agent.KindShell && !act.Confined {
		j = p.judge(ctx, act)
		f.alone, f.holds = j.why, j.holds
	}
	ruling := agent.Ruling{Sensitive: f.alone != "", Why: f.alone, Secret: f.holds,
		Opens: act.Confined && f.withheld()}
	p.byRules(&ruling, act, f)
	p.builtIn(&ruling, act, f, j)
	return ruling
}

// byRules takes what the first rule says that decides about an act, or may.
func (p *Policy) byRules(ruling *agent.Ruling, act agent.Permission, f file) {
	for _, r := range p.rules {
		if !p.holds(r, act) {
			continue
		}
		if r.mayMatch(act) {
			ruling.Ask, ruling.Reason = true, fmt.Sprintf(whyUnread, r.number)
			return
		}
		if !r.matches(act, f.names) {
			continue
		}
		if r.Decision == event.Allow && f.outside && r.path == nil {
			continue
		}
		ruling.Reason = fmt.Sprintf("Rule %d of the user's configuration says %s.", r.number, r.Decision)
		ruling.Outside = r.Outside && p.covers(r, act)
		if ruling.Ask = r.Decision == Ask; !ruling.Ask {
			ruling.Decision, ruling.Rule = r.Decision, &event.Rule{Number: r.number}
		}
		return
	}
}

// builtIn decides about what no rule does.
func (p *Policy) builtIn(ruling *agent.Ruling, act agent.Permission, f file, j judged) {
	switch {
	case ruling.Decision != "" || ruling.Sensitive:
	case act.Confined && !ruling.Ask && !f.outside &&
		(act.Kind == agent.KindShell || act.Kind == agent.KindWrite):
		ruling.Decision, ruling.Reason, ruling.Held = event.Allow, "The sandbox holds what it may touch.",
			true
		ruling.Rule = &event.Rule{BuiltIn: true, Covers: held}
	case f.outside:
		ruling.Sensitive, ruling.Why = true, outsideWhy(f)
	case p.reading && act.Kind == agent.KindRead && !ruling.Ask:
		ruling.Decision, ruling.Reason = event.Allow, "A built-in rule allows "+reading+"."
		ruling.Rule = &event.Rule{BuiltIn: true, Covers: reading}
	case p.reading && len(j.shows) > 0:
		ruling.Sensitive, ruling.Why, ruling.Secret = true, canShow(j.shows),
			p.holding(slices.Min(j.shows))
	case p.reading && j.reads && !ruling.Ask && !slices.Contains(p.asks, act.ToolName):
		ruling.Decision, ruling.Reason = event.Allow, "A built-in rule allows "+ReadingCommands+"."
		ruling.Rule = &event.Rule{BuiltIn: true, Covers: ReadingCommands}
	}
}

// covers reports whether a rule is about the whole of a command, as one that allows it is.
func (p *Policy) covers(r readyRule, act agent.Permission) bool {
	r.Decision = event.Allow
	return p.holds(r, act) && r.matches(act, nil)
}

// What the built-in rules allow ([Config].Reading).
const (
	reading         = "reading inside the workspace"
	held            = "what the sandbox holds"
	ReadingCommands = "commands that only read inside this workspace"
)

// Target returns where the links of the file lead that an act is about: absolute,
// also for a file that does not exist yet; empty if it is not about a file.
func (p *Policy) Target(act agent.Permission) string {
	act.Target = ""
	names := p.file(act).names
	if len(names) == 0 {
		return ""
	}
	return filepath.FromSlash(names[len(names)-1])
}

// mayMatch reports whether a rule that denies or asks may be about a command that cannot be read
// for certain.
func (r readyRule) mayMatch(act agent.Permission) bool {
	return act.Kind == agent.KindShell && r.Decision != event.Allow &&
		(r.Command != "" || r.Prefix != "") &&
		r.named(act) && !understood(act.Resource)
}

// named reports whether the rule is about the act's tool: by the name that the agent calls it by,
// or, of a tool of an MCP server, as SERVER-TOOL. A name that the server alone chose allows
// nothing. Where the agent does not say which server that is, what only looks like the name asks
// and denies.
func (r readyRule) named(act agent.Permission) bool {
	full := act.ServerTool()
	switch {
	case r.Tool == "":
		return true
	case act.Kind != agent.KindMCP:
		return r.Tool == act.ToolName
	case full != "" && r.Decision == event.Allow:
		bare := full == act.Server+"-"+act.ToolName
		return r.Tool == full || r.Tool == act.ToolName && !bare
	case r.Tool == act.ToolName || r.Tool == full:
		return true
	}
	return r.Decision != event.Allow && looksLikeTool(r.Tool, cmp.Or(full, act.ToolName))
}

// looksLikeTool reports whether two names may be those of one tool of an MCP server, in the ways in
// which agents write them: mcp__pad__peek, mcp_pad_peek, pad_peek, pad/peek and pad-peek.
func looksLikeTool(a, b string) bool {
	a, b = bareTool(a), bareTool(b)
	const begin = "mcp-"
	return a == b || begin+a == b || a == begin+b
}

// bareTool is a name without the part that differs between those ways.
func bareTool(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), "-")
}

// matches reports whether the rule is about the act, wherever that happens.
func (r readyRule) matches(act agent.Permission, names []string) bool {
	switch {
	case !r.named(act):
		return false
	case r.Kind != "" && r.Kind != act.Kind:
		return false
	case r.Command != "":
		return act.Kind == agent.KindShell && r.Command == act.Resource
	case r.Prefix != "" && r.Decision == event.Allow:
		return act.Kind == agent.KindShell && beginsWith(act.Resource, r.Prefix)
	case r.Prefix != "": // wherever it stands in a command
		return act.Kind == agent.KindShell && contains(act.Resource, r.Prefix)
	case r.path == nil:
		return true
	case len(names) == 0:
		return false
	case r.Decision == event.Allow:
		return !slices.ContainsFunc(names, func(n string) bool { return !r.path.match(n) })
	}
	return slices.ContainsFunc(names, r.path.match)
}

// holds reports whether a rule that is about the act holds in its folder.
func (p *Policy) holds(r readyRule, act agent.Permission) bool {
	allows := r.Decision == event.Allow
	switch {
	case allows && act.CwdUnknown:
		return false
	case act.Kind != agent.KindShell:
		return r.cwd == nil
	case !allows && r.cwd == nil:
		return true
	case act.Cwd == "" || act.CwdUnknown: // it may be any folder
		return !allows
	}
	in := func(name string) bool {
		if r.cwd == nil {
			return slices.Contains(p.roots, name)
		}
		return r.cwd.match(name)
	}
	names := p.Names(act.Cwd)
	if allows {
		return !slices.ContainsFunc(names, func(n string) bool { return !in(n) })
	}
	return slices.ContainsFunc(names, in)
}

func names(given string, targets []string) []string {
	if targets[0] == given {
		return targets
	}
	return append([]string{given}, targets...)
}

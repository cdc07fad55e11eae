package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// maxShown is how many characters of a command or a path a grant's text repeats.
const maxShown = 200

// Grants returns what the user may allow beyond an act, the narrowest first. A grant
// covers an act if and only if it is among the act's grants, so that equal ids cover
// the same. None covers an act that is asked about each time: what is sensitive, leads
// outside the workspace or is run later by itself, and a command whose folder is not
// known, unless it names its folder itself before all that depends on it.
func (p *Policy) Grants(act agent.Permission) []event.Grant {
	if act.Sensitive || act.CwdUnknown && act.Kind != agent.KindShell {
		return nil
	}
	switch act.Kind {
	case agent.KindShell:
		return p.commandGrants(act)
	case agent.KindRead, agent.KindWrite:
		return p.fileGrants(act)
	case agent.KindMCP:
		exact := p.grant("this call, exactly: "+quote(act.Resource), above("call", act.Resource),
			"mcp call", act.Server, act.ToolName, act.Resource)
		if act.Server == "" || act.ToolName == "" {
			return []event.Grant{exact}
		}
		tool := strings.TrimPrefix(act.ServerTool(), act.Server+"-") // whatever its agent calls it
		return []event.Grant{exact, p.grant("this MCP tool: "+quote(tool)+" of "+quote(act.Server),
			"the same tool, whatever it is given", "mcp tool", act.Server, tool)}
	case agent.KindURL:
		if p.file(act).alone != "" {
			return nil
		}
		return []event.Grant{p.grant("this address, exactly: "+quote(act.Resource),
			above("address", act.Resource), "url", act.Resource)}
	}
	return nil
}

// everyCommand says what the widest grant of commands covers.
const everyCommand = "every command in this folder, this session"

func (p *Policy) commandGrants(act agent.Permission) (all []event.Grant) {
	if act.Cwd == "" {
		return nil
	}
	names := p.Names(act.Cwd)
	real := names[len(names)-1]
	j := p.judge(context.Background(), act)
	if slices.ContainsFunc(names, func(dir string) bool {
		return !p.inside(dir)
	}) || j.why != "" || j.asks {
		return nil
	}
	if !act.CwdUnknown && !j.unread {
		in, folder := p.in(real)
		all = append(all, p.grant("this command, exactly"+in+": "+quote(act.Resource),
			above("command", act.Resource), "command", folder, act.Resource))
		all = append(all, p.beginnings(act.Resource, real)...)
	}
	if j.reads {
		all = append(all, p.grant(ReadingCommands,
			"`cat`, `grep`, `ls` and the like, of files that hold no secrets", "reading commands"))
	}
	if !j.outside && len(j.shows) == 0 && !hides(act.Resource) && !p.asksByRule(act) {
		every := p.grant(everyCommand,
			"`make`, `git commit -m x` and any other: webchat does not look at them", "commands")
		every.Scope = event.ForSession
		all = append(all, every)
	}
	return all
}

// asksByRule reports whether a rule wants the user to be asked about a command.
func (p *Policy) asksByRule(act agent.Permission) bool {
	return slices.ContainsFunc(p.rules, func(r readyRule) bool {
		return r.Decision != event.Allow && p.holds(r, act) && (r.mayMatch(act) || r.matches(act, nil))
	})
}

// beginnings are the grants of a command by how it begins.
func (p *Policy) beginnings(command, dir string) (grants []event.Grant) {
	words, ok := begin(command)
	if !ok || p.shadowed {
		return nil
	}
	first, row := p.prefixOf(words, dir)
	if first == "" {
		return nil
	}
	in, folder := p.in(dir)
	if !row.family {
		grants = append(grants, p.grant(row.covers(first, in), row.example(first), "prefix", folder,
			first))
	}
	if x, ok := programs[row.words[0]]; ok {
		name := row.words[0]
		grants = append(grants, p.grant("commands that begin with "+quote(name)+in+
			" and build, check, test or query, with harmless options, inside this workspace", x, "program",
			folder, name))
	}
	return grants
}

// above says that a grant covers what the question shows and nothing else.
func above(what, text string) string {
	if n := strings.Count(strings.TrimSpace(text), "\n"); n > 0 {
		return "the " + strconv.Itoa(n+1) + " lines above, nothing else"
	}
	return "the " + what + " above, nothing else"
}

func (p *Policy) fileGrants(act agent.Permission) []event.Grant {
	f := p.file(act)
	if act.Kind == agent.KindRead {
		p.look(&f)
	}
	if f.outside || f.alone != "" {
		return nil
	}
	// What a link in the workspace leads to is what is allowed, never the link.
	name := cmp.Or(p.relative(f.names[len(f.names)-1]), ".")
	shown := quote(name)
	switch s := act.Search; {
	case act.Kind == agent.KindWrite:
		return []event.Grant{p.grant("edits of "+shown, "whatever is written to it", "write", name),
			p.grant("edits of files inside this workspace",
				"every file that holds no secrets and is not run later by itself", "writes")}
	case s != nil:
		return []event.Grant{p.grant("searches for "+quote(s.Pattern)+" in "+shown,
			"the same search, whatever it finds",
			"search", name, s.Pattern, s.Glob, strconv.FormatBool(s.Names)), p.reads()}
	}
	return []event.Grant{p.grant("reading "+shown, "this file, whatever it holds by then", "read",
		name), p.reads()}
}

func (p *Policy) reads() event.Grant {
	return p.grant("reading files inside this workspace",
		"every file and search that shows no secrets", "reads")
}

// grant makes a grant of what parts identify in this workspace; covers is an example of it.
func (p *Policy) grant(text, covers string, parts ...string) event.Grant {
	return event.Grant{
		ID:     "g" + agent.Digest(append(parts, p.roots[len(p.roots)-1])...)[:32],
		Text:   text,
		Covers: covers,
	}
}

// unseen reports a character that does not show as itself.
func unseen(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) ||
		unicode.Is(unicode.Zp, r)
}

// quote sets text between marks, on one line, shortened, and with the codes of what hides.
func quote(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		switch {
		case r == '`':
			b.WriteByte('\'')
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unseen(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	r := []rune(b.String())
	if len(r) > maxShown {
		r = append(r[:maxShown-1], '…')
	}
	return "`" + string(r) + "`"
}

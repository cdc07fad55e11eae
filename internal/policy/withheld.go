package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Withheld reports what the user's rules about reading, and those about writing, keep from a
// command whatever it does: whether the first that is about an absolute path without links denies
// or asks. Rules of a tool's name are about that tool only. A rule that takes in the workspace
// itself keeps nothing that way; see [Policy.Unheld].
func (p *Policy) Withheld(name string) (read, write bool) {
	names := []string{filepath.ToSlash(name)}
	if p.inside(names[0]) {
		names = names[:0]
		for _, root := range p.roots {
			names = append(names, strings.TrimSuffix(root+"/"+p.relative(filepath.ToSlash(name)), "/"))
		}
	}
	by := func(kind agent.Kind) bool {
		i := slices.IndexFunc(p.rules, func(r readyRule) bool {
			return r.Kind == kind && r.matches(agent.Permission{Kind: kind}, names)
		})
		return i >= 0 && p.withholds(p.rules[i])
	}
	return by(agent.KindRead), by(agent.KindWrite)
}

// withholds reports whether a rule keeps paths from commands that are not asked about.
func (p *Policy) withholds(r readyRule) bool {
	return r.Decision != event.Allow && (r.Kind == agent.KindRead || r.Kind == agent.KindWrite) &&
		!p.isWhole(r)
}

// isWhole reports whether a rule takes in the workspace itself.
func (p *Policy) isWhole(r readyRule) bool {
	return r.path == nil || slices.ContainsFunc(p.roots, r.path.match)
}

// Unheld returns the number of the first rule that denies or asks about reading or writing and
// takes in the workspace itself: nothing but a question before a command can keep it. 0: there is
// none.
func (p *Policy) Unheld() int {
	for _, r := range p.rules {
		if r.Decision != event.Allow && (r.Kind == agent.KindRead || r.Kind == agent.KindWrite) &&
			p.isWhole(r) {
			return r.number
		}
	}
	return 0
}

// WithheldBelow returns absolute paths at or below which is all that [Policy.Withheld] reports, as
// far as rules write them out.
func (p *Policy) WithheldBelow() (all []string) {
	for _, r := range p.rules {
		if !p.withholds(r) {
			continue
		}
		at := p.absolute(r.Path)
		if i := strings.IndexAny(at, "*?"); i >= 0 {
			at = at[:max(strings.LastIndexByte(at[:i], '/'), 1)]
		}
		all = append(all, filepath.FromSlash(at))
	}
	return all
}

package policy

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// file is what is known about the file an act is about.
type file struct {
	names   []string // as it was given, and with all links followed; none: the act is not about a file
	outside bool     // it leads outside the workspace
	secret  string   // which of webchat's own secrets it is; empty: none
	// alone says why a yes counts for one act only, whatever was allowed before;
	// empty: it need not.
	alone string
	holds *event.Secret // the file of keys or passwords that is why; nil: something else is
}

// Why an act is asked about each time.
const (
	whyHolds     = "It holds what looks like a key or password, so you are always asked."
	whyKeys      = "It may hold keys or passwords, so you are always asked."
	whyOwn       = "It belongs to webchat's own settings or data, so you are always asked."
	whyTorn      = "Programs understand this path differently, so you are asked each time."
	whyLater     = "It can run later without a question, so you are asked now, each time."
	whyInstructs = "Agents take it as instructions without a question, so you are asked now, each " +
		"time."
	whyFile   = "It is the address of a file, so you are asked each time."
	whyUnread = "Rule %d of the user's configuration is about commands, and shells may read this " +
		"one in different ways."
	whyTwin  = "It is another name of %s, which may hold keys or passwords."
	whyNamed = "It names a file that may hold keys or passwords, so you are always asked."
	whyMany  = "It is too long to tell whether it names a file of keys or passwords."

	whyReplaced = "It was replaced while it was opened."
)

// fileAddress matches the address of a file, also one within another.
var fileAddress = regexp.MustCompile(`(?i)^\s*(?:[a-z][a-z0-9+.-]*:)*file:`)

func outsideWhy(f file) string {
	if len(f.names) > 1 {
		return "It leads outside the workspace, so you are asked each time."
	}
	return "It is outside the workspace, so you are asked each time."
}

// file judges the file of an act by all its names.
func (p *Policy) file(act agent.Permission) file {
	switch {
	case act.Kind == agent.KindURL && fileAddress.MatchString(act.Resource):
		return file{alone: whyFile}
	case act.Kind != agent.KindRead && act.Kind != agent.KindWrite:
		return file{}
	}
	f := p.place(act.Resource, act.Cwd)
	if act.Target != "" { // the agent may know better
		target := p.place(act.Target, "")
		if target.names[len(target.names)-1] != f.names[len(f.names)-1] {
			f.alone, f.holds = cmp.Or(f.alone, target.alone, whyTorn), cmp.Or(f.holds, target.holds)
		}
		f.names = append(target.names, f.names...)
		f.outside, f.secret = f.outside || target.outside, cmp.Or(f.secret, target.secret)
	}
	if f.alone == "" && act.Kind == agent.KindWrite {
		switch l := p.later(f.names); {
		case l.elements == nil:
		case l.effect == Instructs:
			f.alone = whyInstructs
		default:
			f.alone = whyLater
		}
	}
	return f
}

// place judges a path, which is relative to the folder dir or else the workspace.
func (p *Policy) place(name, dir string) file {
	torn := fileAddress.MatchString(name) && (!strings.HasPrefix(name, "file:///") ||
		strings.Contains(name, "%"))
	if dir != "" && !strings.HasPrefix(name, "~/") && !strings.HasPrefix(name, "file://") &&
		!filepath.IsAbs(name) && !path.IsAbs(name) {
		name = dir + "/" + name
	}
	given, targets := p.leads(name)
	f := file{names: names(given, targets)}
	f.outside = slices.ContainsFunc(targets, func(target string) bool { return !p.inside(target) })
	for _, name := range f.names {
		f.secret = cmp.Or(f.secret, p.secretAt(name))
	}
	switch {
	case slices.ContainsFunc(f.names, p.own):
		f.alone = whyOwn
	case slices.ContainsFunc(f.names, SensitiveFile):
		f.alone = whyKeys
		f.holds = p.holding(f.names[slices.IndexFunc(f.names, SensitiveFile)])
	default:
		for _, target := range targets {
			if other, ok := p.HardLinked(target); ok {
				f.alone, f.holds = fmt.Sprintf(whyTwin, other), p.holding(other)
			}
		}
		if len(targets) > 1 || torn {
			f.alone = cmp.Or(f.alone, whyTorn)
		}
	}
	return f
}

// searchWhy says why a search is asked about each time; empty if nothing sensitive can
// be among its hits.
func (p *Policy) searchWhy(ctx context.Context, s agent.Search) (why string, holds *event.Secret) {
	hits, complete := p.SearchHits(ctx, s)
	switch {
	case len(hits) > 0:
		return canShow(hits), p.holding(slices.Min(hits))
	case !complete:
		return "There are too many files to tell whether it shows keys or passwords.", nil
	}
	return "", nil
}

// canShow says that an act may show files of keys or passwords.
func canShow(hits []string) string {
	slices.Sort(hits)
	const most = 5
	if n := len(hits); n > most {
		return fmt.Sprintf("It can show %s and %d more files, which may hold keys or passwords.",
			strings.Join(hits[:most], ", "), n-most)
	}
	return fmt.Sprintf("It can show %s, which may hold keys or passwords.", strings.Join(hits, ", "))
}

// holding describes a file that may hold keys or passwords.
func (p *Policy) holding(name string) *event.Secret {
	return &event.Secret{File: p.relative(filepath.ToSlash(name)), Looks: looks(name)}
}

// isUnder reports whether a path is root or below it.
func isUnder(root, name string) bool {
	return name == root || strings.HasPrefix(name, strings.TrimSuffix(root, "/")+"/")
}

// withheld reports whether a sandbox does not give a file, which is there or leads outside.
func (f file) withheld() bool {
	if f.outside || f.alone == "" || f.alone == whyInstructs || len(f.names) == 0 {
		return f.outside
	}
	_, err := os.Lstat(filepath.FromSlash(f.names[len(f.names)-1]))
	return err == nil
}

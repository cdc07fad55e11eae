package page

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// mostRefusals is how many refusals of a call stand open; more are folded.
const mostRefusals = 3

// refusals are what the sandbox refused a call.
type refusals struct {
	El   string
	List []*refusal
}

// Sum is the line that stands for all of them, where they are many; empty: they are few.
func (r *refusals) Sum() string {
	if len(r.List) <= mostRefusals {
		return ""
	}
	what := "path"
	if slices.ContainsFunc(r.List, func(one *refusal) bool { return one.Kind != event.RefusedPath }) {
		what = "thing"
	}
	return "The sandbox refused " + wording.Plural(len(r.List), what)
}

// refusal is one thing that was refused.
type refusal struct {
	event.SandboxRefused
	El, Key string
	In      *scope
}

// Said begins the line, in front of the name.
func (r *refusal) Said() string {
	does := "reading"
	switch {
	case r.Kind == event.RefusedHost:
		does = "reaching"
	case r.Kind == event.RefusedCommand:
		does = "running"
	case r.Write:
		does = "writing"
	}
	if r.Probably {
		return "Probably refused: " + does
	}
	return "The sandbox refused " + does
}

// Name is what was refused, as a person calls it.
func (r *refusal) Name() string {
	if r.Kind == event.RefusedPath {
		return r.In.named(r.What)
	}
	return wording.Plain(wording.FirstLine(r.What, 200))
}

// FolderName is the folder that can be opened.
func (r *refusal) FolderName() string {
	if r.Folder == r.What {
		return "this folder"
	}
	return r.In.named(r.Folder)
}

// Offered reports whether something can be done about it.
func (r *refusal) Offered(o string) bool { return slices.Contains(r.Offers, event.Offer(o)) }

// named is a path as a person calls it.
func (s *scope) named(path string) string {
	if rel, err := filepath.Rel(s.Cwd, path); err == nil && filepath.IsLocal(rel) && rel != "." {
		path = rel
	} else {
		path = wording.Tilde(path, s.Config.Home)
	}
	return wording.Plain(path)
}

// refused shows below a call what the sandbox refused it.
func (f *State) refused(d event.SandboxRefused) {
	call := f.nodes["c-"+d.ToolCallID]
	if call == nil {
		return // its turn is no longer kept
	}
	i := slices.IndexFunc(call.Kids, func(k *node) bool { return k.Refused != nil })
	if i < 0 {
		n := f.node("x-" + call.ID)
		n.Refused = &refusals{El: n.ID}
		f.insert(call, nil, n)
		i = len(call.Kids) - 1
		if p := call.parent; p != nil && p.Steps != nil && p.Steps.Long { // it is never folded away
			p.Steps.Long = false
			f.show(p, whole)
		}
	}
	n := call.Kids[i]
	one := &refusal{SandboxRefused: d, El: n.ID + "." + strconv.Itoa(len(n.Refused.List)), In: f.cards}
	n.Refused.List = append(n.Refused.List, one)
	f.show(n, whole)
	f.say(one.Said() + " " + one.Name())
}

// isRefused reports whether a row has refusals below it.
func (n *node) isRefused() bool {
	return slices.ContainsFunc(n.Kids, func(k *node) bool { return k.Refused != nil })
}

// OpenText is what the model reads once the thing, or its folder, was opened.
func (r *refusal) OpenText(folder bool) string {
	what := r.What
	if folder {
		what = r.Folder
	}
	var b strings.Builder
	b.WriteString(what + " is open now")
	if r.Kind == event.RefusedPath && !r.Write {
		b.WriteString(", to be read")
	}
	return b.String() + ". Nothing was run again.\n"
}

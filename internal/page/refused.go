package page

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

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
	if slices.ContainsFunc(r.List, func(of *refusal) bool { return of.Kind != event.RefusedPath }) {
		what = "thing"
	}
	return "The sandbox refused " + wording.Plural(len(r.List), what)
}

// refusal is one thing that was refused.
type refusal struct {
	event.SandboxRefused
	El     string
	In     *scope
	Opened *event.SandboxOpened // since; nil: it is not open
	At     time.Time            // when it was
}

// isOpenBy reports whether an opening gives what was refused.
func (r *refusal) isOpenBy(d event.SandboxOpened) bool {
	switch {
	case string(d.Kind) != string(r.Kind):
		return false
	case r.Kind == event.RefusedPath:
		rel, err := filepath.Rel(d.What, r.What)
		return err == nil && filepath.IsLocal(rel) && (!d.ReadOnly || !r.Write)
	}
	return d.What == r.What
}

// OpenedName is what was opened.
func (r *refusal) OpenedName() string {
	if r.Kind == event.RefusedPath {
		return r.In.named(r.Opened.What)
	}
	return wording.Plain(r.Opened.What)
}

// Until says how long it stays open.
func (r *refusal) Until() string {
	switch r.Opened.Scope {
	case event.Once:
		return "until this command ends"
	case event.ForWorkspace:
		return "for this folder"
	}
	return "until this session ends"
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
func (f *calls) refused(d event.SandboxRefused) {
	call := f.nodes["c-"+d.ToolCallID]
	if call == nil {
		return // its turn has left the page
	}
	i := slices.IndexFunc(call.Kids, func(k *node) bool { return k.Refused != nil })
	if i < 0 {
		n := f.node("x-" + call.ID)
		n.Refused = &refusals{El: n.ID}
		f.insert(call, nil, n)
		i = len(call.Kids) - 1
	}
	n := call.Kids[i]
	r := &refusal{SandboxRefused: d, El: n.ID + "." + strconv.Itoa(len(n.Refused.List)), In: f.cards}
	n.Refused.List = append(n.Refused.List, r)
	f.show(n, whole)
	f.stepChanged(call, same)
	f.say(r.Said() + " " + r.Name())
}

// opened shows with what was refused that it is open now.
func (f *calls) opened(d event.SandboxOpened) {
	f.reopened(func(r *refusal) bool {
		if r.Opened == nil && r.isOpenBy(d) {
			r.Opened, r.At = &d, f.now
			return true
		}
		return false
	})
}

// closed shows again what may be done about what was open and is closed again.
func (f *calls) closed(d event.SandboxClosed) {
	f.reopened(func(r *refusal) bool {
		if r.Opened != nil && r.Opened.ID == d.ID {
			r.Opened = nil
			return true
		}
		return false
	})
}

// reopened shows the refusals again of which change says that it changed one.
func (f *calls) reopened(change func(*refusal) bool) {
	for _, turn := range f.root.Kids {
		for _, call := range turn.calls(nil) {
			for _, k := range call.Kids {
				if k.Refused == nil {
					continue
				}
				for _, r := range k.Refused.List {
					if change(r) {
						f.show(k, whole)
					}
				}
			}
		}
	}
}

// isRefused reports whether a row has refusals below it.
func (n *node) isRefused() bool {
	return slices.ContainsFunc(n.Kids, func(k *node) bool { return k.Refused != nil })
}

// OpenText is what the model reads once the thing was opened.
func (r *refusal) OpenText() string { return r.openText(r.What) }

// OpenFolderText is what it reads once the thing's folder was.
func (r *refusal) OpenFolderText() string { return r.openText(r.Folder) }

func (r *refusal) openText(what string) string {
	var b strings.Builder
	b.WriteString(what + " is open now")
	if r.Kind == event.RefusedPath && !r.Write {
		b.WriteString(", to be read")
	}
	return b.String() + ". Nothing was run again.\n"
}

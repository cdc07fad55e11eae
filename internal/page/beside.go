package page

import (
	"cmp"
	"path/filepath"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// alsoChanged shows before an edit, or beside it, that another session changes the file.
func (f *questions) alsoChanged(d event.FileAlsoChanged) {
	text := f.atOnce(d)
	f.note("is-ask", "alert", text)
	f.say(text)
	if f.beside == nil {
		f.beside = map[string]event.FileAlsoChanged{}
	}
	f.beside[d.File] = d
}

// atOnce names the file and both sessions.
func (f *questions) atOnce(d event.FileAlsoChanged) string {
	return "“" + cmp.Or(f.title, "This session") + "” and “" +
		cmp.Or(wording.Plain(d.Title), "another session") + "” change " + f.cards.named(d.File) +
		" at once"
}

// alsoIn says of what a question is about what others change, too.
func (f *questions) alsoIn(d event.PermissionRequested) (all []string) {
	list := d.Resources
	if len(list) == 0 {
		list = []event.Resource{{Resource: d.Resource, Target: d.Target}}
	}
	for _, r := range list {
		name := cmp.Or(r.Target, r.Resource)
		if !filepath.IsAbs(name) {
			name = filepath.Join(f.cards.Cwd, name)
		}
		if other, ok := f.beside[name]; ok {
			all = append(all, f.atOnce(other))
		}
	}
	return all
}

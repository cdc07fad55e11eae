package policy

import (
	"fmt"
	"slices"
	"time"
)

// Opening is something that a sandbox gives beside what it gives to all: a host, or a path.
type Opening struct {
	Host     string `json:"host,omitempty"` // with its port unless it is for 80 and 443
	Path     string `json:"path,omitempty"` // absolute, without links
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// Covers says in words what an opening of the sandbox allows.
func (o Opening) Covers() string {
	switch {
	case o.Host != "":
		return "reaching " + quote(o.Host)
	case o.ReadOnly:
		return "reading " + quote(o.Path)
	}
	return "reading and changing " + quote(o.Path)
}

// KeepOpened has something be open to what is confined in the workspace until it is taken back, under
// an id.
func (w Workspace) KeepOpened(id string, o Opening, session string, at time.Time) error {
	folder := folderOf(w.path)
	if folder == "" {
		return fmt.Errorf("the folder %s cannot be identified; open it for the session", w.path)
	}
	return w.kept.grants.Change(func(all []KeptGrant) []KeptGrant {
		return append(slices.Clone(all), KeptGrant{ID: id, Text: o.Covers(), Workspace: w.path, Folder: folder, Session: session, User: w.user, At: at, Opens: &o})
	})
}

// Opened are the grants of the user that open something to what is confined in the workspace.
func (w Workspace) Opened() []KeptGrant {
	return slices.DeleteFunc(w.kept.opened(w.path), func(g KeptGrant) bool { return g.User != w.user })
}

// Opened is what is open to what is confined in a workspace, whoever opened it.
func (k *Kept) Opened(workspace string) (all []Opening) {
	for _, g := range k.opened(workspace) {
		if !slices.Contains(all, *g.Opens) {
			all = append(all, *g.Opens)
		}
	}
	return all
}

func (k *Kept) opened(workspace string) []KeptGrant {
	return slices.DeleteFunc(slices.Clone(k.grants.Get()), func(g KeptGrant) bool {
		return g.Opens == nil || g.Workspace != workspace || g.Folder != folderOf(workspace)
	})
}

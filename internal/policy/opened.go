package policy

import (
	"fmt"
	"os"
	"slices"
	"time"

	"webchat/internal/proc"
)

// Opening is something that a sandbox gives beside what it gives to all: a host, or a path.
type Opening struct {
	Host     string `json:"host,omitempty"` // with its port unless it is for 80 and 443
	Path     string `json:"path,omitempty"` // absolute, without links
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// Cage gives what it confines more than it gives by itself. Its methods may be called concurrently.
type Cage interface {
	// Hold returns what is at a path, itself: absolute, from ~ or relative to the workspace. What is
	// never opened is an error.
	Hold(name string) (*os.File, error)
	// Open opens what was held, to be read or written, until end is called, which may be called
	// again. It closes held.
	Open(held *os.File, as proc.Access) (end func() error, err error)
	// OpenHost opens a host, likewise.
	OpenHost(host string) (end func() error, err error)
}

// In opens it in a cage, a path as it is now, until end is called.
func (o Opening) In(c Cage) (end func() error, err error) {
	if o.Host != "" {
		return c.OpenHost(o.Host)
	}
	held, err := c.Hold(o.Path)
	if err != nil {
		return nil, err
	}
	return c.Open(held, o.Access())
}

// Access is what may be done with a path that is opened.
func (o Opening) Access() proc.Access {
	if o.ReadOnly {
		return proc.Readable
	}
	return proc.Writable
}

// Covers is what an opening of the sandbox allows, as grants are listed.
func (o Opening) Covers() string {
	switch {
	case o.Host != "":
		return "reaching " + quote(o.Host)
	case o.ReadOnly:
		return "reading " + quote(o.Path)
	}
	return "reading and changing " + quote(o.Path)
}

// KeepOpened opens something to what is confined in the workspace until it is taken back by its id.
func (w Workspace) KeepOpened(id string, o Opening, session string, at time.Time) error {
	folder := folderOf(w.path)
	if folder == "" {
		return fmt.Errorf("the folder %s cannot be identified; open it for the session", w.path)
	}
	return w.kept.grants.Change(func(all []KeptGrant) []KeptGrant {
		return append(slices.Clone(all), KeptGrant{
			ID:        id,
			Text:      o.Covers(),
			Workspace: w.path,
			Folder:    folder,
			Session:   session,
			User:      w.user,
			At:        at,
			Opens:     &o,
		})
	})
}

// Opened are the grants of the user that open something to what is confined in the workspace.
func (w Workspace) Opened() []KeptGrant {
	return slices.DeleteFunc(w.kept.opened(w.path), func(g KeptGrant) bool { return g.User != w.user })
}

// Opened is what all users opened to what is confined in a workspace.
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

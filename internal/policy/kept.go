package policy

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"webchat/internal/document"
	"webchat/internal/event"
)

// KeptGrant is a grant that holds in a workspace until the user takes it back.
type KeptGrant struct {
	ID        string `json:"id"`
	Text      string `json:"text"` // what it covers, in words
	Workspace string `json:"workspace"`
	Folder    string `json:"folder"`  // which folder that was, whatever its name
	Session   string `json:"session"` // in which session it was given
	// whose sessions it holds for; empty: of who runs the server
	User  string    `json:"user,omitempty"`
	At    time.Time `json:"at"`
	Opens *Opening  `json:"opens,omitempty"` // of a sandbox; nil: it allows acts
}

// Kept is what the user allowed for workspaces, in one document. A grant is bound to the path of
// its workspace and to the folder itself: another folder that is later at the same path inherits
// nothing.
//
// A Kept may be used from any goroutine. What programs that share the document allow, or take back,
// holds in the others after a second.
type Kept struct{ grants *document.Value[[]KeptGrant] }

const GrantsName = "grants.json" // the document of the grants

// OpenKept opens the grants of a store. It logs when they cannot be read.
func OpenKept(s document.Store, log *slog.Logger) *Kept {
	return &Kept{document.Open[[]KeptGrant](s, GrantsName, log)}
}

// List returns the grants of a user that hold, in all workspaces, the oldest first; without a user,
// everybody's.
func (k *Kept) List(user string) []KeptGrant {
	all := slices.DeleteFunc(slices.Clone(k.grants.Get()), func(g KeptGrant) bool {
		return user != "" && g.User != user || g.Folder != folderOf(g.Workspace)
	})
	slices.SortStableFunc(all, func(a, b KeptGrant) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Text, b.Text))
	})
	return all
}

// TakeBack ends a grant of a user at once, without a user everybody's; known is false if it was not
// held. After an error it may hold again with the next start.
func (k *Kept) TakeBack(user, id string) (known bool, err error) {
	return k.drop(func(g KeptGrant) bool { return g.ID == id && (user == "" || g.User == user) })
}

func (k *Kept) drop(these func(KeptGrant) bool) (known bool, err error) {
	err = k.grants.Hold(func(all []KeptGrant) []KeptGrant {
		rest := slices.DeleteFunc(slices.Clone(all), these)
		known = len(rest) < len(all)
		return rest
	})
	return known, err
}

// Changed is closed when the next grant is kept or taken back; what other programs do is noticed by
// the next call of a method.
func (k *Kept) Changed() <-chan struct{} { return k.grants.Changed() }

// Workspace is what is kept for a user's sessions in one workspace.
type Workspace struct {
	kept       *Kept
	path, user string
}

// Workspace returns what a user allowed for the workspace with this absolute path.
func (k *Kept) Workspace(path, user string) Workspace { return Workspace{k, path, user} }

// TakeBack ends a grant of the user, as [Kept.TakeBack] does.
func (w Workspace) TakeBack(id string) (known bool, err error) {
	return w.kept.drop(func(g KeptGrant) bool { return g.ID == id && g.User == w.user })
}

// Held returns the grant of that id, if it was given and not taken back, as long as the path is the
// folder it was given for.
func (w Workspace) Held(id string) (event.Grant, bool) {
	for _, g := range w.kept.grants.Get() {
		if g.ID == id && g.Workspace == w.path && g.User == w.user {
			return event.Grant{ID: g.ID, Text: g.Text, Scope: event.ForWorkspace},
				g.Folder == folderOf(w.path)
		}
	}
	return event.Grant{}, false
}

// Keep makes a grant durable that was given in a session. added is false if it was held already.
// What was given for other folders at the same path goes.
func (w Workspace) Keep(g event.Grant, session string, at time.Time) (added bool, err error) {
	folder := folderOf(w.path)
	if folder == "" {
		return false, fmt.Errorf("the folder %s cannot be identified; allow it for the session", w.path)
	}
	err = w.kept.grants.Change(func(all []KeptGrant) []KeptGrant {
		rest := slices.DeleteFunc(slices.Clone(all), func(old KeptGrant) bool {
			return old.Workspace == w.path && old.Folder != folder
		})
		added = !slices.ContainsFunc(rest, func(old KeptGrant) bool {
			return old.Workspace == w.path && old.ID == g.ID && old.User == w.user
		})
		if added {
			rest = append(rest, KeptGrant{
				ID:        g.ID,
				Text:      g.Text,
				Workspace: w.path,
				Folder:    folder,
				Session:   session,
				User:      w.user,
				At:        at,
			})
		}
		return rest
	})
	return added && err == nil, err
}

// Given is [Kept.Changed], whatever the workspace.
func (w Workspace) Given() <-chan struct{} { return w.kept.Changed() }

package policy

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"webchat/internal/document"
	"webchat/internal/event"
)

// KeptGrant is a grant that holds in a workspace until the user takes it back.
type KeptGrant struct {
	ID        string    `json:"id"`
	Text      string    `json:"text"` // what it covers, in words
	Workspace string    `json:"workspace"`
	Folder    string    `json:"folder"`  // which folder that was, whatever its name
	Session   string    `json:"session"` // in which session it was given
	At        time.Time `json:"at"`
}

// Kept is what the user allowed for workspaces, in one file that only the user may
// read. A grant is bound to the path of its workspace and to the folder itself:
// another folder that is later at the same path inherits nothing.
//
// A Kept may be used from any goroutine, and by one process at a time.
type Kept struct {
	path string

	mu     sync.Mutex
	grants []KeptGrant   // guarded by mu; as in the file
	given  chan struct{} // guarded by mu; closed with the next grant
}

// OpenKept reads the grants kept in a file, which need not exist yet. A file that
// cannot be understood is renamed to moved, so that nothing is allowed by it.
func OpenKept(path string) (k *Kept, moved string, err error) {
	k = &Kept{path: path, given: make(chan struct{})}
	if k.grants, moved, err = document.ReadJSON[[]KeptGrant](path); err != nil {
		return nil, "", fmt.Errorf("read the grants: %w", err)
	}
	return k, moved, nil
}

// List returns the grants that hold, in all workspaces, the oldest first.
func (k *Kept) List() []KeptGrant {
	k.mu.Lock()
	all := slices.Clone(k.grants)
	k.mu.Unlock()
	all = slices.DeleteFunc(all, func(g KeptGrant) bool { return g.Folder != folderOf(g.Workspace) })
	slices.SortStableFunc(all, func(a, b KeptGrant) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Text, b.Text)) })
	return all
}

// TakeBack ends a grant at once; known is false if it was not held. After an error it
// may hold again with the next start.
func (k *Kept) TakeBack(id string) (known bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(k.grants), func(g KeptGrant) bool { return g.ID == id })
	if len(rest) == len(k.grants) {
		return false, nil
	}
	k.grants = rest
	return true, document.WriteJSON(k.path, k.grants)
}

// held returns the grant of that id for the workspace, as long as that is the folder
// it was given for.
func (k *Kept) held(id, workspace string) (KeptGrant, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, g := range k.grants {
		if g.ID == id && g.Workspace == workspace {
			return g, g.Folder == folderOf(workspace)
		}
	}
	return KeptGrant{}, false
}

// add makes a grant durable. What was given for other folders at the same path goes.
func (k *Kept) add(g KeptGrant) (added bool, err error) {
	if g.Folder = folderOf(g.Workspace); g.Folder == "" {
		return false, fmt.Errorf("the folder %s cannot be identified; allow it for the session", g.Workspace)
	}
	if _, held := k.held(g.ID, g.Workspace); held {
		return false, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.grants
	k.grants = append(slices.DeleteFunc(slices.Clone(before), func(old KeptGrant) bool {
		return old.Workspace == g.Workspace && (old.Folder != g.Folder || old.ID == g.ID)
	}), g)
	if err := document.WriteJSON(k.path, k.grants); err != nil {
		k.grants = before
		return false, err
	}
	close(k.given)
	k.given = make(chan struct{})
	return true, nil
}

// Workspace is what is kept for one workspace.
type Workspace struct {
	kept *Kept
	path string
}

// Workspace returns what is kept for the workspace with this absolute path.
func (k *Kept) Workspace(path string) Workspace { return Workspace{k, path} }

// Held returns the grant of that id, if it was given and not taken back.
func (w Workspace) Held(id string) (event.Grant, bool) {
	g, held := w.kept.held(id, w.path)
	return event.Grant{ID: g.ID, Text: g.Text, Scope: event.ForWorkspace}, held
}

// Keep makes a grant durable that was given in a session. added is false if it was
// held already.
func (w Workspace) Keep(g event.Grant, session string, at time.Time) (added bool, err error) {
	return w.kept.add(KeptGrant{ID: g.ID, Text: g.Text, Workspace: w.path, Session: session, At: at})
}

// Given is closed when the next grant is kept, whatever its workspace.
func (w Workspace) Given() <-chan struct{} {
	w.kept.mu.Lock()
	defer w.kept.mu.Unlock()
	return w.kept.given
}

// TakeBack is [Kept.TakeBack] for a grant of this workspace.
func (w Workspace) TakeBack(id string) (known bool, err error) { return w.kept.TakeBack(id) }

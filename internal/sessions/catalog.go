package sessions

import (
	"context"
	"slices"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
)

// Log is the sessions' events as their manager needs them.
type Log interface {
	eventlog.Store
	// Writable tries whether Append would take about so many bytes, and returns why not. It is called
	// at the start and twice a second with 0, which writes nothing and does not wait for those that
	// write, and now and then after a write has failed. It leaves nothing in any log.
	Writable(ctx context.Context, bytes int) error
}

// Catalog is the list of sessions. Its methods may be called concurrently.
type Catalog interface {
	// Summary returns the row of a session, deleted ones included; the error wraps
	// [eventlog.ErrNotFound] for an unknown one.
	Summary(ctx context.Context, id eventlog.ID) (eventlog.Summary, error)
	// List returns one page. A cursor it did not make is an error that wraps [eventlog.ErrInvalid].
	List(ctx context.Context, q Query) (Page, error)
	// Workspaces returns the folders in which sessions of a user work that are not deleted, in no
	// order; without a user, of everybody.
	Workspaces(ctx context.Context, user string) ([]Workspace, error)
	// Mark changes what is not folded from the log; [eventlog.ErrNotFound] for an unknown session.
	Mark(ctx context.Context, id eventlog.ID, m Mark) error
	// Delete removes the session with its log, for good. An unknown one is not an error.
	Delete(ctx context.Context, id eventlog.ID) error
}

// Query selects sessions.
type Query struct {
	Kind   QueryKind
	Text   string // searches titles and text; empty: all
	Limit  int    // at most so many; 0: the catalog's default
	Cursor string // where the last page ended; empty: the first page
	Filter
}

// Filter keeps sessions out of a list. The zero value keeps none out.
type Filter struct {
	User       string   // only sessions of this user; empty: of everybody
	Workspaces []string // only sessions of these; none: all
	Hidden     []string // no session of these
	State      State    // empty: whatever it is
	Begun      bool     // only sessions that have a message or an output
}

// None reports whether nothing is kept out.
func (f Filter) None() bool {
	return f.User == "" && len(f.Workspaces) == 0 && len(f.Hidden) == 0 && f.State == "" && !f.Begun
}

// State is what a session in a list is like.
type State string

// The states, beside the values of [event.Status].
const (
	Active  State = "active"  // it runs or waits
	Resting State = "resting" // it does not, and is not pinned
	Failed  State = "failed"  // its last turn ended with an error
	Pinned  State = "pinned"
)

// Workspace is what a catalog knows of a folder that sessions work in.
type Workspace struct {
	Path      string
	Sessions  int // that are not deleted, and have a message or an output
	UpdatedAt time.Time
}

// QueryKind says which sessions a [Query] is about.
type QueryKind string

// The kinds of queries. Those of a kind other than QueryPresent take no text and no filter.
const (
	// not deleted: pinned first, then by what was active last, whatever the clock showed
	QueryPresent    QueryKind = ""
	QueryUnfinished QueryKind = "unfinished" // [eventlog.Summary.Unfinished] holds, deleted or not
	QueryDeleted    QueryKind = "deleted"    // DeletedAt is set
)

// Page is one page of sessions.
type Page struct {
	Sessions []Found
	Cursor   string // empty: there are no more
}

// Mark is a change of a session's marks; nil leaves one as it is.
type Mark struct {
	Pinned    *bool
	DeletedAt *time.Time // the zero time: not deleted
}

// Found is a session in a list, with the place in it that matched.
type Found struct {
	eventlog.Summary
	Hit *eventlog.Hit // nil: its title matched, or nothing was searched
}

// Events reads at most limit events of a log after a sequence, without loading its session: looking
// at a list leaves each session as it is.
func (m *Manager) Events(ctx context.Context, id eventlog.ID, after int64,
	limit int) ([]event.Entry, error) {
	if err := m.Sees(ctx, id); err != nil {
		return nil, err
	}
	return m.cfg.Log.After(ctx, id, after, limit)
}

// Shown returns the row of a session if [Manager.List] would list it, and whether one of its
// outputs is only a preview. It loads nothing.
func (m *Manager) Shown(ctx context.Context, id eventlog.ID,
	f Filter) (sum eventlog.Summary, looks func(outputID string) bool, err error) {
	if err = m.await(ctx); err != nil {
		return sum, nil, err
	}
	if err = m.Sees(ctx, id); err != nil {
		return sum, nil, err
	}
	if sum, err = m.cfg.Catalog.Summary(ctx, id); err != nil {
		return sum, nil, err
	}
	open := len(f.Workspaces) == 0 && !slices.ContainsFunc(m.cfg.Workspaces.Closed(),
		func(w files.Workspace) bool { return w.Path == sum.Workspace })
	if !sum.DeletedAt.IsZero() || !open && !slices.Contains(f.Workspaces, sum.Workspace) {
		return sum, nil, notFound(id)
	}
	looks = func(string) bool { return false }
	if s := m.table.get(id); s != nil {
		looks = s.Looks
	}
	return sum, looks, nil
}

package session

import (
	"context"
	"time"

	"webchat/internal/event"
)

// Log is the sessions' events as a session needs them. Its methods may be called
// concurrently; Append is never called twice at once for one session.
type Log interface {
	// Append adds entries to the log of session id and is durable when it
	// returns nil; after an error none of them is in the log. Their sequences go
	// on from the last one without a hole, from 1 for a new session. s is the
	// session as it is after them, to be written in the same transaction; its
	// Pinned and DeletedAt are not written for a session that exists. Entries
	// and their bytes are shared: the log must not change them.
	Append(ctx context.Context, id ID, entries []event.Entry, s Summary) error
	// After returns up to limit entries with a sequence above seq, ascending,
	// decoded and with their exact bytes; none for an unknown session.
	After(ctx context.Context, id ID, seq int64, limit int) ([]event.Entry, error)
	// Writable tries whether Append would take about so many bytes, and returns why
	// not. It is called at the start with 0, which writes nothing, and now and then
	// after a write has failed. It leaves nothing in any log.
	Writable(ctx context.Context, bytes int) error
}

// Catalog is the list of sessions. Its methods may be called concurrently.
type Catalog interface {
	// Summary returns the row of a session, deleted ones included; the error
	// wraps [ErrNotFound] for an unknown one.
	Summary(ctx context.Context, id ID) (Summary, error)
	// List returns one page. A cursor it did not make is an error that wraps
	// [ErrInvalid].
	List(ctx context.Context, q Query) (Page, error)
	// Mark changes what is not folded from the log; [ErrNotFound] for an unknown
	// session.
	Mark(ctx context.Context, id ID, m Mark) error
	// Delete removes the session with its log, for good. An unknown one is no error.
	Delete(ctx context.Context, id ID) error
}

// Query selects sessions.
type Query struct {
	Kind   QueryKind
	Text   string // searches titles and text; empty: all
	Limit  int    // at most so many; 0: the catalog's default
	Cursor string // where the last page ended; empty: the first page
}

// QueryKind says which sessions a [Query] is about.
type QueryKind string

// The kinds of queries. Those of a kind other than QueryPresent take no text.
const (
	QueryPresent    QueryKind = ""           // not deleted: pinned first, then by UpdatedAt, newest first
	QueryUnfinished QueryKind = "unfinished" // [Summary.Unfinished] holds, deleted or not
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

// Drafts keeps messages in flight, so that a killed process loses at most their
// last quarter of a second. Its methods may be called concurrently.
type Drafts interface {
	// SaveDrafts replaces the drafts of session id; none clears them.
	SaveDrafts(ctx context.Context, id ID, drafts []Draft) error
	// LoadDrafts returns what was saved last.
	LoadDrafts(ctx context.Context, id ID) ([]Draft, error)
}

// Draft is a message in flight, as far as it came.
type Draft struct {
	MessageID        string `json:"messageId"`
	Reasoning        bool   `json:"reasoning,omitempty"` // MessageID is a reasoning's
	ParentToolCallID string `json:"parentToolCallId,omitempty"`
	Content          string `json:"content"`
}

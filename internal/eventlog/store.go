package eventlog

import (
	"context"

	"webchat/internal/event"
)

// Store keeps the events of all sessions. Its methods may be called concurrently; Append is never
// called twice at once for one session.
type Store interface {
	// Append adds entries to the log of session id and is durable when it returns nil; after an
	// error none of them is in the log. Their sequences go on from the last one without a hole,
	// from 1 for a new session. s is the session as it is after them, to be written in the same
	// transaction; its Pinned and DeletedAt are not written for a session that exists. Entries and
	// their bytes are shared: the store must not change them.
	Append(ctx context.Context, id ID, entries []event.Entry, s Summary) error
	// After returns up to limit entries with a sequence above seq, ascending, decoded and with
	// their exact bytes; none for an unknown session.
	After(ctx context.Context, id ID, seq int64, limit int) ([]event.Entry, error)
}

// Drafts keeps messages in flight, so that a killed process loses at most their last quarter of a
// second. Its methods may be called concurrently.
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
	// Usage is what models took in the turn so far; then nothing else is set.
	Usage *event.Usage `json:"usage,omitempty"`
}

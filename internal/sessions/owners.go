package sessions

import (
	"context"
	"fmt"
	"time"

	"webchat/internal/eventlog"
)

// Owners says which replica has a session, where several share the log.
type Owners interface {
	// Take makes this replica the one that has a session. It is called before the session's row is
	// read, and may be called again. The error is an [*ElsewhereError] while a living replica has it,
	// and wraps [eventlog.ErrNotFound] for an unknown session.
	Take(ctx context.Context, id eventlog.ID) error
	// Elsewhere returns the sessions of other replicas that changed within the last minute.
	Elsewhere(ctx context.Context) ([]eventlog.Summary, error)
}

// Peer is a living replica that shares the log.
type Peer struct {
	Number  int64  // of its life; never used again
	URL     string // where the others reach it
	Version string // of its program
}

// ElsewhereError is returned for a session that another living replica has.
type ElsewhereError struct {
	ID    eventlog.ID
	Peer  Peer
	Until time.Time // when the session is free, if that replica is dead
}

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("session %s: another webchat has it, until %s if that one is dead", e.ID, e.Until.Format(time.TimeOnly))
}

// Package event is the language of webchat: what a session says about itself, one event at a time.
//
// An [Event] is an envelope (id, timestamp, parent, type) around one [Data], a Go struct per type.
// [Marshal] and [Unmarshal] are the exact codec of CONTRACT: fields of a known type that this
// program does not know are kept in its Extra, and an event of an unknown type comes back byte for
// byte.
//
// An [Entry] is an event with its place in a session's log and its encoded bytes, so that an event
// is encoded once however many readers it has.
//
// Values are plain data: safe to copy, and to share while they are not written.
//
//	e := event.New(event.TurnStart{TurnID: "t1", MessageID: "m1"}, parent, now)
//	b, err := event.Marshal(e)
package event

import (
	"time"

	"github.com/google/uuid"
)

// ID identifies an event: a UUID, version 7 where this program made it.
type ID string

// Type is the name of a kind of event, for example "tool.execution_start".
type Type string

// Event is the envelope around one Data.
type Event struct {
	ID        ID
	Timestamp time.Time
	ParentID  ID   // the preceding logged event; empty (null on the wire) for the first
	Ephemeral bool // not logged: it is gone once it was sent
	Data      Data

	raw []byte // exactly what was decoded, for an unknown type
}

// Type returns the name of what happened.
func (e Event) Type() Type { return TypeOf(e.Data) }

// Data is what happened. Its implementations are the structs of this package, one per type, and
// [Unknown]; [TypeOf] and [Logged] say what their types are.
type Data interface {
	// more is what came beside the fields of the struct.
	more() Extra
}

// Entry is an event in its place.
type Entry struct {
	// Seq is the event's number in the log of its session, from 1 and without holes. For an
	// ephemeral event it is the number of the last logged one, or 0 before the first.
	Seq int64
	// Pos counts every event of a running session, ephemeral ones included. It orders what is live;
	// it is 0 for an entry that was read from a log.
	Pos int64
	// Event is the decoded event.
	Event Event
	// JSON is the event as [Marshal] made it: one line, no newline at its end.
	JSON []byte
}

// New returns an event that happened now, with a fresh id.
func New(data Data, parent ID, now time.Time) Event {
	return Event{
		ID:        NewID(),
		Timestamp: now.UTC(),
		ParentID:  parent,
		Ephemeral: !Logged(data),
		Data:      withEdits(data),
	}
}

// NewID returns a UUIDv7: ids made later sort later.
func NewID() ID { return ID(uuid.Must(uuid.NewV7()).String()) }

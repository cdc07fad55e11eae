package session

import (
	"fmt"
	"maps"
	"slices"

	"webchat/internal/event"
)

// The kinds of session.error about the log itself. They are never logged.
const (
	ErrorLog     = "log"     // an event could not be logged, and was not sent
	ErrorUnsaved = "unsaved" // events are kept in memory only, until ErrorSaved
	ErrorSaved   = "saved"   // they are on the disk again
)

// Trouble tells every reader of every session, those who come later too, that the
// log is kept in memory only because of err, until it is called with nil.
func (m *Manager) Trouble(err error) {
	text := ""
	if err != nil {
		text = fmt.Sprintf("What happens now is kept in memory only: %v. It is saved as soon as that is over.", err)
	}
	// Who joins from here on reads it, who joined before is told below.
	if was := m.trouble.Swap(&text); was == nil && text == "" || was != nil && *was == text {
		return
	}
	m.mu.Lock()
	all := slices.Collect(maps.Values(m.sessions))
	m.mu.Unlock()
	for _, s := range all {
		s.mu.Lock()
		if e, ok := s.troubleLocked(text); ok && s.state != stateClosed {
			s.fanOutLocked(e)
		}
		s.mu.Unlock()
	}
}

// Unsaved is what readers are told while the log is kept in memory only; else empty.
func (m *Manager) Unsaved() string {
	if text := m.trouble.Load(); text != nil {
		return *text
	}
	return ""
}

// troubleLocked is what readers of the session are told; no text means that all is
// well again. The caller holds s.mu.
func (s *Session) troubleLocked(text string) (event.Entry, bool) {
	d := event.SessionError{Message: text, ErrorType: ErrorUnsaved}
	if text == "" {
		d = event.SessionError{Message: "Everything is saved again.", ErrorType: ErrorSaved}
	}
	sum := s.summary.Load()
	e := event.Entry{Seq: sum.LastSeq, Event: event.New(d, sum.Open.LastID, s.now())}
	e.Event.Ephemeral = true
	return e, encode(&e) == nil
}

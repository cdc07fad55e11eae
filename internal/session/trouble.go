package session

import "webchat/internal/event"

// Trouble is what users are told while text says what is wrong with the log; no text:
// nothing is any more.
func Trouble(text string) event.SessionError {
	if text == "" {
		return event.SessionError{Message: "Everything can be saved again.", ErrorType: event.ErrorSaved, Kind: event.KindLog}
	}
	return event.SessionError{Message: text, ErrorType: string(event.KindLog), Kind: event.KindLog}
}

// troubleLocked is what readers of the session are told. The caller holds s.mu.
func (s *Session) troubleLocked(text string) (event.Entry, bool) {
	sum := s.summary.Load()
	e := event.Entry{Seq: sum.LastSeq, Event: event.New(Trouble(text), sum.Open.LastID, s.now())}
	e.Event.Ephemeral = true
	return e, encode(&e) == nil
}

// TellTrouble tells all readers of the session of [Trouble].
func (s *Session) TellTrouble(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.troubleLocked(text); ok && s.state != stateClosed {
		s.fanOutLocked(e)
	}
}

package eventlog

import "webchat/internal/event"

// Trouble is the notice for users while text says what is wrong with the log; no text: nothing is.
func Trouble(text string) event.SessionError {
	if text == "" {
		return event.SessionError{
			Message:   "Everything can be saved again.",
			ErrorType: event.ErrorSaved,
			Kind:      event.KindLog,
		}
	}
	return event.SessionError{Message: text, ErrorType: string(event.KindLog), Kind: event.KindLog}
}

// trouble is the notice for readers of the session. The caller holds the lock.
func (l *Log) trouble(text string) (event.Entry, bool) {
	sum := l.Summary()
	e := event.Entry{Seq: sum.LastSeq, Event: event.New(Trouble(text), sum.Open.LastID, l.Now())}
	e.Event.Ephemeral = true
	return e, encode(&e) == nil
}

// TellTrouble sends [Trouble] to all readers of the session.
func (l *Log) TellTrouble(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.trouble(text); ok && !l.closed {
		l.fanOut(e)
	}
}

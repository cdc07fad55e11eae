package eventlog

import "errors"

// What callers may ask errors.Is about.
var (
	// ErrNotFound: no such session, message, tool call or request.
	ErrNotFound = errors.New("not found")
	// ErrInvalid: the request itself is wrong; the message says how.
	ErrInvalid = errors.New("invalid")
	// ErrLog: the log could not be written or read; nothing was logged.
	ErrLog = errors.New("the log is not available")
	// ErrAway: the store is a server that does not answer; an error of a store may wrap it.
	ErrAway = errors.New("the log does not answer")
	// ErrClosed: the session or the manager has ended its work.
	ErrClosed = errors.New("closed")
)

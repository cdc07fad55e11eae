package session

import "errors"

// What callers may ask errors.Is about.
var (
	// ErrNotFound: no such session, message, tool call or request.
	ErrNotFound = errors.New("not found")
	// ErrInvalid: the request itself is wrong; the message says how.
	ErrInvalid = errors.New("invalid")
	// ErrEmpty: a prompt without content and attachments.
	ErrEmpty = errors.New("the prompt is empty")
	// ErrTooLong: a prompt over [MaxPrompt] bytes.
	ErrTooLong = errors.New("the prompt is too long")
	// ErrBusy: the queue of the session is full.
	ErrBusy = errors.New("too many prompts are waiting")
	// ErrAnswered: somebody else decided first.
	ErrAnswered = errors.New("already answered")
	// ErrGone: the request timed out, was aborted, or belongs to an earlier process.
	ErrGone = errors.New("no longer open")
	// ErrLog: the log could not be written or read; nothing was logged.
	ErrLog = errors.New("the log is not available")
	// ErrKeep: a grant for the workspace could not be saved; nothing was decided.
	ErrKeep = errors.New("the grant could not be saved")
	// ErrClosed: the session or the manager has ended its work.
	ErrClosed = errors.New("closed")
	// ErrNoTurn: a backend reported work while no turn runs.
	ErrNoTurn = errors.New("no turn runs")
)

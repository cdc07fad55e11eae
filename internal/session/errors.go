package session

import "errors"

// What callers may ask errors.Is about, beside the errors of package eventlog.
var (
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
	// ErrKeep: a grant for the workspace could not be saved; nothing was decided.
	ErrKeep = errors.New("the grant could not be saved")
	// ErrNoTurn: a backend reported work while no turn runs.
	ErrNoTurn = errors.New("no turn runs")
)

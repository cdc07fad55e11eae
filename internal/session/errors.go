package session

import "errors"

// What callers may ask errors.Is about, beside the errors of packages eventlog and consent.
var (
	// ErrEmpty: a prompt without content and attachments.
	ErrEmpty = errors.New("the prompt is empty")
	// ErrTooLong: a prompt over [MaxPrompt] bytes.
	ErrTooLong = errors.New("the prompt is too long")
	// ErrBusy: the queue of the session is full.
	ErrBusy = errors.New("too many prompts are waiting")
	// ErrWorking: it cannot be while a turn runs or a prompt waits.
	ErrWorking = errors.New("a turn runs")
	// ErrNoTurn: a backend reported work while no turn runs.
	ErrNoTurn = errors.New("no turn runs")
)

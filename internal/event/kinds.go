package event

import (
	"cmp"
	"slices"
)

// ErrorKind is what kind of thing went wrong, for programs: messages are for people and change. The
// list is closed; [ErrorKinds] has all of it.
type ErrorKind string

// The kinds of errors.
const (
	KindNotFound  ErrorKind = "not_found" // no file, folder or conversation of that name
	KindOutside   ErrorKind = "outside"   // a path that leads outside of the workspace
	KindSensitive ErrorKind = "sensitive" // keys or passwords
	// a device, a pipe, a link that leads nowhere, a folder where a file is needed
	KindNotRegular   ErrorKind = "not_regular"
	KindTooLarge     ErrorKind = "too_large"     // beyond a size that is shown
	KindBinary       ErrorKind = "binary"        // bytes where text is needed
	KindNotImage     ErrorKind = "not_image"     // no picture, or a damaged one
	KindBadArguments ErrorKind = "bad_arguments" // arguments the tool does not take
	KindUnknownTool  ErrorKind = "unknown_tool"  // no tool has that name
	KindDenied       ErrorKind = "denied"        // it was denied; By says by whom
	KindTimeout      ErrorKind = "timeout"       // its time was up; which is in Limit
	KindAborted      ErrorKind = "aborted"       // it was stopped
	KindInterrupted  ErrorKind = "interrupted"   // the program ended before it did
	KindAgentDied    ErrorKind = "agent_died"    // the agent's process ended
	KindProvider     ErrorKind = "provider"      // the agent or the provider of its model failed
	KindRetrying     ErrorKind = "retrying"      // it failed and is tried again by itself
	KindLimit        ErrorKind = "limit"         // a rate or a quota is used up
	KindLog          ErrorKind = "log"           // the log cannot be written
	KindInternal     ErrorKind = "internal"      // anything else
)

// ErrorKinds returns all kinds, in the order of CONTRACT.
func ErrorKinds() []ErrorKind {
	return []ErrorKind{KindNotFound, KindOutside, KindSensitive, KindNotRegular, KindTooLarge,
		KindBinary, KindNotImage,
		KindBadArguments, KindUnknownTool, KindDenied, KindTimeout, KindAborted, KindInterrupted,
		KindAgentDied, KindProvider,
		KindRetrying, KindLimit, KindLog, KindInternal}
}

// The errorTypes of a session.error that readers know; agents have others of their own.
const (
	ErrorWarning     = "warning"     // it does not end the turn
	ErrorUnavailable = "unavailable" // the agent cannot be used on this machine
	ErrorForgotten   = "forgotten"   // the agent has lost the conversation so far
	ErrorHook        = "hook"        // a hook of the user's refused
	ErrorLogin       = "login"       // the agent's own program is not signed in
	ErrorSaved       = "saved"       // the log can be written again; never logged
)

// Limit names a limit that was met.
type Limit string

// The limits.
const (
	LimitCommandTime Limit = "command-timeout" // how long a command may run
	LimitReadTime    Limit = "read-time"       // how long one showing of a file may read
	LimitImageBytes  Limit = "image-bytes"     // how large the file of a picture may be
	LimitImagePixels Limit = "image-pixels"    // how many pixels a picture may have
)

// Limits returns all limits.
func Limits() []Limit {
	return []Limit{LimitCommandTime, LimitReadTime, LimitImageBytes, LimitImagePixels}
}

// KindOfCode is the kind of a tool's error that has only a code, as those of agents do.
func KindOfCode(code string) ErrorKind {
	switch kind := ErrorKind(code); {
	case code == "rejected":
		return KindDenied
	case slices.Contains([]ErrorKind{KindDenied, KindTimeout, KindAborted, KindInterrupted}, kind):
		return kind
	}
	return KindInternal
}

// statusKinds are the kinds of errors by the status of an HTTP reply (RFC 9110 §15, RFC 6585 §4).
var statusKinds = map[int]ErrorKind{
	401: KindDenied, 403: KindDenied, 408: KindTimeout, 504: KindTimeout, 413: KindTooLarge,
	429: KindLimit,
}

// KindOfStatus is the kind of a session.error that has only the status of an HTTP reply, 0 for
// none.
func KindOfStatus(status int) ErrorKind { return cmp.Or(statusKinds[status], KindProvider) }

// In returns d as what happened in a turn; empty means in none.
func (d SessionError) In(turnID string) SessionError {
	if d.Context == nil && turnID == "" {
		return d
	}
	at := ErrorContext{}
	if d.Context != nil {
		at = *d.Context
	}
	at.TurnID = turnID
	d.Context = &at
	return d
}

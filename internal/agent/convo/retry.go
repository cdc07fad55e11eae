package convo

import (
	"fmt"
	"time"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// Refusal is a call of an agent's model that failed.
type Refusal struct {
	Status int           // of the provider's answer; 0: unknown
	Says   string        // the provider's words; empty: none
	Within time.Duration // in which there was no answer; 0: it is not that
}

// String returns what happened, as a sentence.
func (r Refusal) String() string {
	what := "The provider's answer failed"
	switch {
	case r.Status > 0:
		what = fmt.Sprintf("The provider answered %d", r.Status)
	case r.Within > 0:
		what = "The provider did not answer within " + wording.Span(r.Within)
	}
	if r.Says != "" {
		what += ": " + r.Says
	}
	return wording.Ended(what)
}

// Retry is what an agent does about a refusal.
type Retry struct {
	Refusal Refusal
	Waits   bool          // the agent has yet to try again
	After   time.Duration // how long it waits before, as far as it says
	Then    string        // what it does, as a sentence without its period
}

// Retrying warns of a call that failed, and says what comes then.
func (c *Conversation) Retrying(r Retry) {
	c.Report(event.SessionError{
		ErrorType:    event.ErrorWarning,
		Kind:         event.KindRetrying,
		StatusCode:   r.Refusal.Status,
		RetryAfterMs: r.After.Milliseconds(),
		Waits:        r.Waits,
		Message:      r.Refusal.String() + " " + r.Then + ".",
	})
}

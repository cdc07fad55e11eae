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

// Retrying warns of a call that failed, and says what comes then; after is how long the agent waits
// before, as far as it says.
func (c *Conversation) Retrying(r Refusal, waits bool, after time.Duration, then string) {
	c.Report(event.SessionError{
		ErrorType:    event.ErrorWarning,
		Kind:         event.KindRetrying,
		StatusCode:   r.Status,
		RetryAfterMs: after.Milliseconds(),
		Waits:        waits,
		Message:      r.String() + " " + then + ".",
	})
}

package copilot

import (
	"encoding/json"
	"fmt"
	"time"

	"webchat/internal/agent/convo"
	"webchat/internal/event"
)

// stepBegins begins a call of the model.
func (t *turn) stepBegins() {
	t.failure, t.last = nil, nil // the CLI goes on
	t.NextStep(t.native)         // its own begin at 0 for each prompt
	t.native = ""
}

// stepEnds ends a model call. A message the CLI did not end was cut off, by the limit of an answer
// for example: the next call goes on behind it.
func (t *turn) stepEnds() {
	if t.failure == nil && !t.aborted {
		t.CutOff()
	}
	t.EndStep()
}

// maxRetries is how often the CLI tries a call of a model again (1.0.102).
const maxRetries = 5

// refusalHold is how long a call has to be the last one that failed before that is reported.
const refusalHold = 250 * time.Millisecond

// callFailure is model.call_failure, whose errorMessage is what the provider answered.
type callFailure struct {
	StatusCode, RetryAttempt int
	ErrorMessage             string
}

// refusal is a call of a model that failed.
type refusal struct {
	convo.Refusal
	before   int // calls that failed before it
	reported bool
}

// retries forgets the text of the failed attempt, of the main agent or of a call's helper; the next
// streams it again under another id.
func (t *turn) retries(c *convo.Conversation, parent string) {
	if r := t.refused; parent == "" && r != nil {
		if !r.reported {
			t.reportRefused(c, r, false, fmt.Sprintf("Trying again, %d of %d", r.before+1, maxRetries))
		}
		t.refused = nil
	}
	t.Discard(parent)
}

// callFailed reports that a call failed while the CLI waits. Before the next try, maybe: that is
// known when it begins, for where the provider wants a wait of an hour there is none. For how long
// the CLI waits it does not report (1.0.102), and it keeps the provider's Retry-After to itself.
func (t *turn) callFailed(c *convo.Conversation, d callFailure, says string) {
	r := &refusal{Refusal: convo.Refusal{Status: d.StatusCode, Says: says}, before: d.RetryAttempt}
	t.last = r
	again := d.StatusCode == 0 || d.StatusCode == 408 || d.StatusCode == 429 || d.StatusCode >= 500
	if again && d.RetryAttempt < maxRetries && !t.aborted {
		t.refused = r
		c.After(refusalHold, func() {
			t.reportRefused(c, r, true, fmt.Sprintf("It may be tried again, %d of %d", r.before+1,
				maxRetries))
		})
	}
}

// reportRefused reports what comes of r if it is still the last call and the turn goes on.
func (t *turn) reportRefused(c *convo.Conversation, r *refusal, waits bool, then string) {
	if t.refused == r && !t.aborted && !t.Ended() {
		r.reported = true
		c.Retrying(convo.Retry{Refusal: r.Refusal, Waits: waits, Then: then})
	}
}

// happened is what a failure of the session says, with what is known of the call that failed: the
// CLI keeps some of the provider's words to itself.
func (t *turn) happened(text string, status int) string {
	if r := t.last; r != nil && r.Says != "" && r.Status == status {
		text = r.String()
	}
	if r := t.last; r != nil && r.before > 0 {
		text += fmt.Sprintf(" It was tried %d times.", r.before+1)
	}
	return text
}

type delta struct{ MessageID, ReasoningID, DeltaContent string }

type nativeMessage struct {
	MessageID, ReasoningID, Content string
	ToolRequests                    []struct {
		ToolCallID, Name, Type string
		Arguments              json.RawMessage
	}
}

// message ends a message, of the main agent or of a call's helper.
func (t *turn) message(d nativeMessage, parent string) {
	m := event.AssistantMessage{MessageID: d.MessageID, ParentToolCallID: parent, Content: d.Content}
	for _, r := range d.ToolRequests {
		m.ToolRequests = append(m.ToolRequests, event.ToolRequest{
			ToolCallID: t.newCall(r.ToolCallID).ID,
			Name:       r.Name,
			Arguments:  r.Arguments,
			Type:       r.Type,
		})
	}
	t.Message(m)
}

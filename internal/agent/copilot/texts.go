package copilot

import (
	"encoding/json"
	"fmt"
	"time"

	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
)

func (c *conn) onStepStart(t *turn, _ cli.Event, _ struct{}) {
	t.failure, t.last = nil, nil // the CLI goes on
	t.NextStep(t.native)         // its own begin at 0 for each prompt
	t.native = ""
}

// onStepEnd ends a model call. A message the CLI did not end was cut off, by the limit of an answer
// for example: the next call goes on behind it.
func (c *conn) onStepEnd(t *turn, _ cli.Event, _ struct{}) {
	if t.failure == nil && !t.aborted {
		t.CutOff()
	}
	t.EndStep()
}

// onRetry forgets the text of the failed attempt; the next streams it again under another id.
func (c *conn) onRetry(t *turn, e cli.Event, _ struct{}) {
	parent := c.helper(e)
	if r := t.refused; parent == "" && r != nil {
		if !r.reported {
			c.reportRefused(t, r, false, fmt.Sprintf("Trying again, %d of %d", r.before+1, maxRetries))
		}
		t.refused = nil
	}
	t.Discard(parent)
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

// onCallFailure reports that a call failed while the CLI waits. Before the next try, maybe: that is
// known when it begins, for where the provider wants a wait of an hour there is none. For how long
// the CLI waits it does not report (1.0.102), and it keeps the provider's Retry-After to itself.
func (c *conn) onCallFailure(t *turn, e cli.Event, d callFailure) {
	r := &refusal{Refusal: convo.Refusal{Status: d.StatusCode, Says: c.b.cli.Words(d.ErrorMessage)}, before: d.RetryAttempt}
	if c.helper(e) == "" {
		t.last = r
	}
	again := d.StatusCode == 0 || d.StatusCode == 408 || d.StatusCode == 429 || d.StatusCode >= 500
	if again && d.RetryAttempt < maxRetries && !t.aborted {
		t.refused = r
		c.After(refusalHold, func() {
			c.reportRefused(t, r, true, fmt.Sprintf("It may be tried again, %d of %d", r.before+1, maxRetries))
		})
	}
}

// reportRefused reports what comes of r if it is still the last call and the turn goes on.
func (c *conn) reportRefused(t *turn, r *refusal, waits bool, then string) {
	if t.refused == r && !t.aborted && c.loop.turn == t {
		r.reported = true
		c.Retrying(r.Refusal, waits, 0, then)
	}
}

type delta struct{ MessageID, ReasoningID, DeltaContent string }

func (c *conn) onMessageDelta(t *turn, e cli.Event, d delta) {
	t.Piece(d.MessageID, c.helper(e), false, d.DeltaContent)
}

func (c *conn) onReasoningDelta(t *turn, e cli.Event, d delta) {
	t.Piece(d.ReasoningID, c.helper(e), true, d.DeltaContent)
}

type nativeMessage struct {
	MessageID, ReasoningID, Content string
	ToolRequests                    []struct {
		ToolCallID, Name, Type string
		Arguments              json.RawMessage
	}
}

func (c *conn) onMessage(t *turn, e cli.Event, d nativeMessage) {
	if t.Whole(d.MessageID) {
		return
	}
	m := event.AssistantMessage{MessageID: d.MessageID, ParentToolCallID: c.helper(e), Content: d.Content}
	for _, r := range d.ToolRequests {
		m.ToolRequests = append(m.ToolRequests, event.ToolRequest{ToolCallID: t.newCall(r.ToolCallID).ID, Name: r.Name, Arguments: r.Arguments, Type: r.Type})
	}
	t.Message(m)
	if m.ParentToolCallID == "" {
		t.finals = c.finalCalls(d)
	}
}

func (c *conn) onReasoning(t *turn, e cli.Event, d nativeMessage) {
	t.Thought(d.ReasoningID, c.helper(e), d.Content)
}

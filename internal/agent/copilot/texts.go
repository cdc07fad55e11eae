package copilot

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/wording"
)

func (c *conn) onStepStart(t *turn, _ cli.Event, _ struct{}) {
	c.endStep(t)
	t.failure, t.last = nil, nil // the CLI goes on
	t.steps++
	t.step = fmt.Sprintf("%s-%d", t.id, t.steps) // the CLI's own begin at 0 for each prompt
	c.Report(event.AssistantTurnStart{TurnID: t.step, PromptID: t.native})
	t.native = ""
}

// onStepEnd ends a model call. A message the CLI did not end was cut off, by the limit of an answer
// for example: the next call goes on behind it.
func (c *conn) onStepEnd(t *turn, _ cli.Event, _ struct{}) {
	for _, x := range slices.Clone(t.texts) {
		if x.Parent == "" && !x.Thought && t.failure == nil && !t.aborted {
			t.whole(x, event.AssistantMessage{Content: x.Said(), Partial: true})
		}
	}
	c.endStep(t)
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
	for _, x := range slices.Clone(t.texts) {
		switch {
		case x.Parent != parent:
		case x.Thought:
			t.whole(x, event.AssistantMessage{})
		default:
			t.drop(x)
			c.Report(event.AssistantMessageDiscarded{MessageID: x.ID})
		}
	}
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
	status   int    // 0: unknown
	says     string // the provider's words; empty: none
	before   int    // calls that failed before it
	reported bool
}

// onCallFailure reports that a call failed while the CLI waits. Before the next try, maybe: that is
// known when it begins, for where the provider wants a wait of an hour there is none. For how long
// the CLI waits it does not report (1.0.102), and it keeps the provider's Retry-After to itself.
func (c *conn) onCallFailure(t *turn, e cli.Event, d callFailure) {
	r := &refusal{status: d.StatusCode, says: c.b.cli.Words(d.ErrorMessage), before: d.RetryAttempt}
	if c.helper(e) == "" {
		t.last = r
	}
	again := d.StatusCode == 0 || d.StatusCode == 408 || d.StatusCode == 429 || d.StatusCode >= 500
	if again && d.RetryAttempt < maxRetries && !t.aborted {
		t.refused = r
		c.after(refusalHold, func() {
			c.reportRefused(t, r, true, fmt.Sprintf("It may be tried again, %d of %d", r.before+1, maxRetries))
		})
	}
}

// reportRefused reports what comes of r if it is still the last call and the turn goes on.
func (c *conn) reportRefused(t *turn, r *refusal, waits bool, then string) {
	if t.refused != r || t.aborted || c.loop.turn != t {
		return
	}
	r.reported = true
	c.Report(event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindRetrying, StatusCode: r.status, Waits: waits,
		Message: r.happened() + " " + then + "."})
}

// happened is what the provider answered, as a sentence with its words.
func (r *refusal) happened() string {
	what := "The provider's answer failed"
	if r.status != 0 {
		what = fmt.Sprintf("The provider answered %d", r.status)
	}
	if r.says != "" {
		what += ": " + r.says
	}
	return wording.Ended(what)
}

// text returns the text in flight that has an id, else a new one that is not in flight.
func (c *conn) text(t *turn, e cli.Event, id string, thought bool) *convo.Speech {
	for _, x := range t.texts {
		if x.ID == id && x.Thought == thought {
			return x
		}
	}
	return &convo.Speech{ID: id, Thought: thought, Parent: c.helper(e)}
}

func (t *turn) drop(gone *convo.Speech) {
	t.texts = slices.DeleteFunc(t.texts, func(x *convo.Speech) bool { return x == gone })
}

type delta struct{ MessageID, ReasoningID, DeltaContent string }

func (c *conn) onMessageDelta(t *turn, e cli.Event, d delta) {
	c.grow(t, e, d.MessageID, d.DeltaContent, false)
}

func (c *conn) onReasoningDelta(t *turn, e cli.Event, d delta) {
	c.grow(t, e, d.ReasoningID, d.DeltaContent, true)
}

// grow adds to a text that has not ended.
func (c *conn) grow(t *turn, e cli.Event, id, piece string, thought bool) {
	if id == "" || piece == "" || t.ended[id] {
		return
	}
	x := c.text(t, e, id, thought)
	if !slices.Contains(t.texts, x) {
		t.texts = append(t.texts, x)
	}
	t.Grow(x, piece)
}

type nativeMessage struct {
	MessageID, ReasoningID, Content string
	ToolRequests                    []struct {
		ToolCallID, Name, Type string
		Arguments              json.RawMessage
	}
}

func (c *conn) onMessage(t *turn, e cli.Event, d nativeMessage) {
	if d.MessageID == "" || t.ended[d.MessageID] {
		return
	}
	var requests []event.ToolRequest
	for _, r := range d.ToolRequests {
		requests = append(requests, event.ToolRequest{ToolCallID: t.newCall(r.ToolCallID).ID, Name: r.Name, Arguments: r.Arguments, Type: r.Type})
	}
	t.whole(c.text(t, e, d.MessageID, false), event.AssistantMessage{Content: d.Content, ToolRequests: requests})
	if c.helper(e) == "" {
		t.finals = c.finalCalls(d)
	}
}

func (c *conn) onReasoning(t *turn, e cli.Event, d nativeMessage) {
	if d.ReasoningID != "" && !t.ended[d.ReasoningID] {
		t.whole(c.text(t, e, d.ReasoningID, true), event.AssistantMessage{Content: d.Content})
	}
}

// whole ends a text.
func (t *turn) whole(x *convo.Speech, m event.AssistantMessage) {
	t.drop(x)
	t.ended[x.ID] = true
	t.Whole(x, m)
}

package copilot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// text is a message or a piece of reasoning in flight.
type text struct {
	id, parent string
	reasoning  bool
	content    []byte
}

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
		if x.parent == "" && !x.reasoning && t.failure == nil && !t.aborted {
			c.whole(t, x, string(x.content), nil, true)
		}
	}
	c.endStep(t)
}

// onRetry forgets the text of the failed attempt; the next streams it again under another id.
func (c *conn) onRetry(t *turn, e cli.Event, _ struct{}) {
	parent := c.helper(e)
	if r := t.refused; parent == "" && r != nil {
		c.reportRefused(t, r, false, fmt.Sprintf("Trying again, %d of %d", r.before+1, maxRetries))
		t.refused = nil
	}
	for _, x := range slices.Clone(t.texts) {
		switch {
		case x.parent != parent:
		case x.reasoning:
			c.whole(t, x, string(x.content), nil, false)
		default:
			t.drop(x)
			c.Report(event.AssistantMessageDiscarded{MessageID: x.id})
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
	status int    // 0: unknown
	says   string // the provider's words; empty: none
	before int    // calls that failed before it
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
func (c *conn) text(t *turn, e cli.Event, id string, reasoning bool) *text {
	for _, x := range t.texts {
		if x.id == id && x.reasoning == reasoning {
			return x
		}
	}
	return &text{id: id, reasoning: reasoning, parent: c.helper(e)}
}

func (t *turn) drop(gone *text) {
	t.texts = slices.DeleteFunc(t.texts, func(x *text) bool { return x == gone })
}

type delta struct{ MessageID, ReasoningID, DeltaContent string }

func (c *conn) onMessageDelta(t *turn, e cli.Event, d delta) {
	if x, offset := c.grow(t, e, d.MessageID, d.DeltaContent, false); x != nil {
		c.Report(event.AssistantMessageDelta{MessageID: x.id, Offset: offset, DeltaContent: d.DeltaContent, ParentToolCallID: x.parent})
	}
}

func (c *conn) onReasoningDelta(t *turn, e cli.Event, d delta) {
	if x, offset := c.grow(t, e, d.ReasoningID, d.DeltaContent, true); x != nil {
		c.Report(event.AssistantReasoningDelta{ReasoningID: x.id, Offset: offset, DeltaContent: d.DeltaContent, ParentToolCallID: x.parent})
	}
}

// grow adds to a text and returns it with the bytes before the piece; nil when its text has ended,
// or the piece is empty.
func (c *conn) grow(t *turn, e cli.Event, id, piece string, reasoning bool) (*text, int64) {
	if id == "" || piece == "" || t.ended[id] {
		return nil, 0
	}
	x := c.text(t, e, id, reasoning)
	if len(x.content) == 0 {
		t.texts = append(t.texts, x)
	}
	offset := int64(len(x.content))
	x.content = append(x.content, piece...)
	return x, offset
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
	c.whole(t, c.text(t, e, d.MessageID, false), d.Content, requests, false)
	if c.helper(e) == "" {
		t.finals = c.finalCalls(d)
	}
}

func (c *conn) onReasoning(t *turn, e cli.Event, d nativeMessage) {
	if d.ReasoningID != "" && !t.ended[d.ReasoningID] {
		c.whole(t, c.text(t, e, d.ReasoningID, true), d.Content, nil, false)
	}
}

// whole ends a text. Where the whole differs from the sum of its pieces, the pieces are taken back.
func (c *conn) whole(t *turn, x *text, content string, requests []event.ToolRequest, partial bool) {
	t.drop(x)
	t.ended[x.id] = true
	if x.reasoning { // there is no taking back
		c.Report(event.AssistantReasoning{ReasoningID: x.id, Content: cmp.Or(string(x.content), content), ParentToolCallID: x.parent})
		return
	}
	if len(x.content) > 0 && string(x.content) != content {
		c.Report(event.AssistantMessageDiscarded{MessageID: x.id})
	}
	c.Report(event.AssistantMessage{MessageID: x.id, Content: content, ToolRequests: requests, Partial: partial, ParentToolCallID: x.parent})
}

package copilot

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
)

// text is a message or a piece of reasoning in flight.
type text struct {
	id, parent string
	reasoning  bool
	content    []byte
}

func (c *conn) onStepStart(cli.Event) {
	t := c.loop.turn
	c.endStep(t)
	t.failure = nil // the CLI goes on
	t.steps++
	t.step = fmt.Sprintf("%s-%d", t.id, t.steps) // the CLI's own begin at 0 for each prompt
	c.report(event.AssistantTurnStart{TurnID: t.step, PromptID: t.native})
	t.native = ""
}

// onStepEnd ends a model call. A message the CLI did not end was cut off, by the
// limit of an answer for example: the next call goes on behind it.
func (c *conn) onStepEnd(cli.Event) {
	t := c.loop.turn
	for _, x := range slices.Clone(t.texts) {
		if x.parent == "" && !x.reasoning && t.failure == nil && !t.aborted {
			c.whole(t, x, string(x.content), nil, true)
		}
	}
	c.endStep(t)
}

// onRetry forgets the text of the failed attempt; the next streams it again
// under another id.
func (c *conn) onRetry(e cli.Event) {
	t, parent := c.scope(e), c.helper(e)
	if parent == "" {
		if t.refused == nil { // versions that do not tell of each failure
			t.refused = &refusal{before: t.retries}
		}
		t.retries = t.refused.before + 1
		c.sayRefused(t, t.refused, fmt.Sprintf("trying again, %d of %d", t.retries, maxRetries))
		t.refused = nil
	}
	for _, x := range slices.Clone(t.texts) {
		switch {
		case x.parent != parent:
		case x.reasoning:
			c.whole(t, x, string(x.content), nil, false)
		default:
			t.drop(x)
			c.report(event.AssistantMessageDiscarded{MessageID: x.id})
		}
	}
}

// maxRetries is how often the CLI tries a call of a model again (1.0.102).
const maxRetries = 5

// refusalHold is how long a call has to be the last one that failed before that is said.
const refusalHold = 250 * time.Millisecond

// refusal is a call of a model that failed.
type refusal struct {
	status int // 0: unknown
	before int // calls that failed before it
}

// onCallFailure says that a call failed while the CLI waits. For the next try, maybe: that
// is known when it begins, for where the provider wants a wait of an hour there is none.
func (c *conn) onCallFailure(e cli.Event) {
	d, ok := decode[struct{ StatusCode, RetryAttempt int }](c, e)
	again := d.StatusCode == 0 || d.StatusCode == 408 || d.StatusCode == 429 || d.StatusCode >= 500
	if t := c.scope(e); ok && again && d.RetryAttempt < maxRetries && e.AgentID == "" && !t.aborted {
		r := &refusal{status: d.StatusCode, before: d.RetryAttempt}
		t.refused = r
		time.AfterFunc(refusalHold, func() { c.post(func() { c.sayRefused(t, r, "it may be tried again") }) })
	}
}

// sayRefused says what comes of r if it is still the last call and the turn goes on.
func (c *conn) sayRefused(t *turn, r *refusal, then string) {
	if t.refused != r || t.aborted || c.loop.turn != t {
		return
	}
	what := "The provider's answer failed"
	if r.status != 0 {
		what = fmt.Sprintf("The provider answered %d", r.status)
	}
	c.report(event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindRetrying, StatusCode: r.status, Message: what + "; " + then + "."})
}

func (t *turn) text(id string, reasoning bool) *text {
	for _, x := range t.texts {
		if x.id == id && x.reasoning == reasoning {
			return x
		}
	}
	return nil
}

func (t *turn) drop(gone *text) {
	t.texts = slices.DeleteFunc(t.texts, func(x *text) bool { return x == gone })
}

func (c *conn) onMessageDelta(e cli.Event) {
	d, ok := decode[struct{ MessageID, DeltaContent string }](c, e)
	x, offset := c.grow(e, d.MessageID, d.DeltaContent, false)
	if ok && x != nil {
		c.report(event.AssistantMessageDelta{MessageID: x.id, Offset: offset, DeltaContent: d.DeltaContent, ParentToolCallID: x.parent})
	}
}

func (c *conn) onReasoningDelta(e cli.Event) {
	d, ok := decode[struct{ ReasoningID, DeltaContent string }](c, e)
	x, offset := c.grow(e, d.ReasoningID, d.DeltaContent, true)
	if ok && x != nil {
		c.report(event.AssistantReasoningDelta{ReasoningID: x.id, Offset: offset, DeltaContent: d.DeltaContent, ParentToolCallID: x.parent})
	}
}

// grow adds to a text and returns it with the bytes before the piece; nil when
// the piece comes too late or says nothing.
func (c *conn) grow(e cli.Event, id, piece string, reasoning bool) (*text, int64) {
	t := c.scope(e)
	if id == "" || piece == "" || t.ended[id] {
		return nil, 0
	}
	x := t.text(id, reasoning)
	if x == nil {
		x = &text{id: id, reasoning: reasoning, parent: c.helper(e)}
		t.texts = append(t.texts, x)
	}
	offset := int64(len(x.content))
	x.content = append(x.content, piece...)
	return x, offset
}

func (c *conn) onMessage(e cli.Event) {
	d, ok := decode[struct {
		MessageID, Content string
		ToolRequests       []struct {
			ToolCallID, Name, Type string
			Arguments              json.RawMessage
		}
	}](c, e)
	t := c.scope(e)
	if !ok || d.MessageID == "" || t.ended[d.MessageID] {
		return
	}
	var requests []event.ToolRequest
	for _, r := range d.ToolRequests {
		requests = append(requests, event.ToolRequest{ToolCallID: c.newCall(t, r.ToolCallID), Name: r.Name, Arguments: r.Arguments, Type: r.Type})
	}
	x := t.text(d.MessageID, false)
	if x == nil {
		x = &text{id: d.MessageID, parent: c.helper(e)}
	}
	c.whole(t, x, d.Content, requests, false)
}

func (c *conn) onReasoning(e cli.Event) {
	d, ok := decode[struct{ ReasoningID, Content string }](c, e)
	t := c.scope(e)
	if !ok || d.ReasoningID == "" || t.ended[d.ReasoningID] {
		return
	}
	x := t.text(d.ReasoningID, true)
	if x == nil {
		x = &text{id: d.ReasoningID, reasoning: true, parent: c.helper(e)}
	}
	c.whole(t, x, d.Content, nil, false)
}

// whole ends a text. Where the whole differs from the sum of its pieces, the
// pieces are taken back.
func (c *conn) whole(t *turn, x *text, content string, requests []event.ToolRequest, partial bool) {
	t.drop(x)
	t.ended[x.id] = true
	if x.reasoning {
		if len(x.content) > 0 {
			content = string(x.content) // there is no taking back
		}
		c.report(event.AssistantReasoning{ReasoningID: x.id, Content: content, ParentToolCallID: x.parent})
		return
	}
	if len(x.content) > 0 && string(x.content) != content {
		c.report(event.AssistantMessageDiscarded{MessageID: x.id})
	}
	c.report(event.AssistantMessage{MessageID: x.id, Content: content, ToolRequests: requests, Partial: partial, ParentToolCallID: x.parent})
}

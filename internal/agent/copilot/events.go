package copilot

import (
	"cmp"
	"encoding/json"

	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// handler handles one type of the CLI's events. t is what the event belongs to: the running turn,
// or the work of a helper in the background.
type handler struct {
	when when
	do   func(c *conn, t *turn, e cli.Event)
}

// when is in which cases an event is handled: while there is a turn that the CLI has begun with,
// and if it has one of these, otherwise.
type when int

const (
	inTurn when = 0
	// also before the CLI has begun with the turn; others that come then are the end of an earlier one
	early  when = 1 << iota
	always      // also while no turn runs: t may be nil
	own         // only of the main agent
	begins      // the CLI goes on by itself with it
)

// on is the do of a handler that takes the data of its event. What cannot be read counts as not
// sent.
func on[T any](f func(c *conn, t *turn, e cli.Event, d T)) func(*conn, *turn, cli.Event) {
	return func(c *conn, t *turn, e cli.Event) {
		var d T
		if err := json.Unmarshal(e.Data, &d); err != nil {
			c.Logger.Warn("copilot: an event could not be read", "type", e.Type, "bytes", len(e.Data))
			return
		}
		f(c, t, e, d)
	}
}

// reports is the do of a handler that reports what its event says, if that is anything.
func reports[T any](f func(c *conn, d T) event.Data) func(*conn, *turn, cli.Event) {
	return on(func(c *conn, _ *turn, _ cli.Event, d T) {
		if report := f(c, d); report != nil {
			c.Report(report)
		}
	})
}

// handlers are the events of the CLI that are handled: all others are dropped. Those of helper
// agents, which look the same, are distinguished by agentId.
var handlers = map[string]handler{
	"user.message":          {early | own, on((*conn).onUserMessage)},
	"assistant.idle":        {early | own, idle},
	"session.idle":          {early | own, idle},
	"session.error":         {early | own, on((*conn).onError)},
	"session.warning":       {early | own, reports(warning)},
	"session.tools_updated": {early | own, func(c *conn, t *turn, _ cli.Event) { c.turns.look(t) }},

	"session.title_changed": {always | own, reports(title)},
	"session.model_change": {always | own,
		reports(func(c *conn, d event.SessionModelChange) event.Data { return c.chosen.onModel(d) })},
	"session.mode_changed": {always | own, reports(func(c *conn, d modeChange) event.Data {
		return c.chosen.onMode(d)
	})},
	"session.todos_changed": {always | own, func(c *conn, _ *turn, _ cli.Event) {
		c.todos.changed()
	}},
	"session.usage_info": {always | own,
		reports(func(_ *conn, d event.SessionUsageInfo) event.Data { return d })},
	"session.truncation":       {always | own, reports(truncation)},
	"session.compaction_start": {always | own, reports(compactionStart)},
	"session.compaction_complete": {always | own,
		on(func(c *conn, _ *turn, e cli.Event, d compaction) { c.ledger.compacted(e, d) })},
	"assistant.usage": {always,
		on(func(c *conn, _ *turn, e cli.Event, d event.AssistantUsage) { c.ledger.used(e, d) })},

	"system.notification": {always | own, on((*conn).onNotification)},
	"session.background_tasks_changed": {always, func(c *conn, _ *turn, _ cli.Event) {
		c.tasks.look()
	}},
	"tool.shell_output": {always, on(func(c *conn, _ *turn, _ cli.Event, d shellOutput) {
		c.tasks.printed(d)
	})},
	"subagent.completed": {always, on(func(c *conn, _ *turn, e cli.Event, d nativeHelper) {
		c.tasks.helperEnds(e, d, c.turns.now, event.Completed)
	})},
	"subagent.failed": {always, on(func(c *conn, _ *turn, e cli.Event, d nativeHelper) {
		c.tasks.helperEnds(e, d, c.turns.now, event.Failed)
	})},
	"subagent.started": {inTurn, on(func(c *conn, _ *turn, e cli.Event, d nativeHelper) {
		c.tasks.helperStarts(e, d, c.turns.now)
	})},
	"subagent.selected": {inTurn, on(func(c *conn, _ *turn, e cli.Event, d nativeHelper) {
		c.tasks.helperChosen(e, d, c.turns.now)
	})},

	"assistant.turn_start": {begins | own, func(_ *conn, t *turn, _ cli.Event) {
		t.stepBegins()
	}},
	"assistant.turn_end": {own, func(_ *conn, t *turn, _ cli.Event) { t.stepEnds() }},
	"assistant.turn_retry": {inTurn, func(c *conn, t *turn, e cli.Event) {
		t.retries(c.Conversation, c.helpers.call(e))
	}},
	"model.call_failure":        {own, on((*conn).onCallFailure)},
	"assistant.message_delta":   {inTurn, on(piece)},
	"assistant.reasoning_delta": {inTurn, on(piece)},
	"assistant.reasoning":       {inTurn, on((*conn).onThought)},
	"assistant.message":         {inTurn, on((*conn).onMessage)},

	"assistant.tool_call_delta": {inTurn, on(func(c *conn, t *turn, _ cli.Event, d callDelta) {
		c.calls.wished(t, d)
	})},
	"tool.execution_start": {inTurn, on(func(c *conn, t *turn, e cli.Event, d toolCall) {
		c.calls.begins(t, e, d)
	})},
	"tool.execution_progress": {inTurn, on(func(c *conn, t *turn, _ cli.Event, d toolProgress) {
		c.calls.progress(t, d)
	})},
	"tool.execution_partial_result": {inTurn, on(func(c *conn, t *turn, _ cli.Event, d toolProgress) {
		c.calls.printed(t, d)
	})},
	"tool.execution_complete": {inTurn, on(func(c *conn, t *turn, e cli.Event, d toolEnd) {
		c.calls.ends(t, e, d)
	})},
	"external_tool.requested": {begins, on(func(c *conn, t *turn, e cli.Event, d toolCall) {
		c.calls.requested(t, e, d)
	})},
	"permission.requested": {begins, on(func(c *conn, t *turn, _ cli.Event, d question) {
		c.questions.ask(t, d)
	})},
}

// idle takes that the CLI is. session.idle waits for what runs in the background, too.
func idle(c *conn, t *turn, _ cli.Event) { c.turns.rest(t) }

// Handle implements [cli.Session]. It waits while the session is far behind.
func (c *conn) Handle(e cli.Event) {
	if handlers[e.Type].do != nil { // it is on the list
		c.Receive(len(e.Data), func() { c.handle(e) })
	}
}

// handle takes one event. One with which the agent begins by itself opens a turn; while that is not
// logged, its events are held.
func (c *conn) handle(e cli.Event) {
	h, t := handlers[e.Type], c.helpers.of(e, c.turns.now)
	switch {
	case c.Broken() || e.AgentID != "" && h.when&own != 0: // it is over, or a helper's own affairs
		return
	case h.when&always != 0:
		h.do(c, t, e)
		return
	case t == nil && e.Type == "session.tools_updated":
		c.turns.tools = true // looked at with the next turn
		return
	case t == nil && h.when&begins != 0 && e.AgentID == "":
		c.turns.goOn(wentOn)
		t = c.turns.now
	}
	switch {
	case t == nil:
	case t.pending != nil:
		t.hold(e, func() { c.handle(e) })
	case t.heard || t.joined || h.when&early != 0:
		h.do(c, t, e)
	}
}

type sessionFailure struct {
	ErrorType, Message string
	StatusCode         int
}

func (c *conn) onError(t *turn, _ cli.Event, d sessionFailure) {
	t.heard = t.heard || !t.joined
	t.refused = nil // it is not tried again
	if t.aborted {
		return // that it was stopped is known
	}
	text := t.happened(c.b.cli.Happened(d.Message), d.StatusCode) + " " +
		c.b.cli.Advise(cli.Failure{Status: d.StatusCode, Text: d.Message, Own: c.usesOwn()})
	if d.StatusCode == 401 && !c.usesOwn() {
		d.ErrorType = event.ErrorLogin
	}
	c.Report(event.SessionError{
		Message:    text,
		ErrorType:  cmp.Or(d.ErrorType, "backend"),
		Kind:       kindOf(d),
		StatusCode: d.StatusCode,
	})
	t.failure = &turnError{text}
}

// kindOf is the kind of an error by the CLI's own name for it, which says more than a status that
// may be missing.
func kindOf(d sessionFailure) event.ErrorKind {
	switch d.ErrorType {
	case "authentication", "authorization":
		return event.KindDenied
	case "rate_limit", "quota":
		return event.KindLimit
	}
	return cli.KindOf(d.StatusCode, d.Message)
}

// turnError is a failure that was reported already, in the same words.
type turnError struct{ text string }

func (e *turnError) Error() string { return e.text }

// warning is what the CLI warns of, but not that a tool was interrupted by the death of an earlier
// process: that was reported when it happened.
func warning(_ *conn, d struct{ WarningType, Message string }) event.Data {
	if d.WarningType == "interrupted_tools" || d.Message == "" {
		return nil
	}
	return event.SessionError{
		ErrorType: event.ErrorWarning,
		Kind:      event.KindProvider,
		Message:   wording.Cut(d.Message, 400),
	}
}

func title(_ *conn, d event.SessionTitleChanged) event.Data {
	if d.Title == "" {
		return nil
	}
	return event.SessionTitleChanged{Title: wording.Cut(d.Title, 200)}
}

// toolsUpdated looks again at what is offered.
// The turn stops if view is among them.
func (c *conn) toolsUpdated(t *turn) {
	t.Spawn(func() {
		err := c.tools.inspect(t.Ctx, c.process().Version())
		if err == nil || t.Ctx.Err() != nil {
			return
		}
		c.Post(func() {
			if t.failure == nil {
				t.failure = err
			}
		})
		if err := c.ask(t.Ctx, "session.abort", nil, nil); err != nil && t.Ctx.Err() == nil {
			c.Post(func() { c.turns.finish(t, err) })
		}
	})
}

// onUserMessage takes that the CLI began with a prompt, whose text ends here.
func (c *conn) onUserMessage(t *turn, e cli.Event, d struct{ MessageID string }) {
	c.turns.begun(t, e.ID, d.MessageID)
}

// onCallFailure takes that a call of a model failed, with its status and what of the answer may be
// shown.
func (c *conn) onCallFailure(t *turn, _ cli.Event, d callFailure) {
	t.callFailed(c.Conversation, d, c.b.cli.Words(d.ErrorMessage))
}

// piece takes a piece of a message or of a thought.
func piece(c *conn, t *turn, e cli.Event, d delta) {
	id, kind := d.MessageID, convo.Answer
	if e.Type == "assistant.reasoning_delta" {
		id, kind = d.ReasoningID, convo.Thinking
	}
	t.Piece(id, c.helpers.call(e), kind, d.DeltaContent)
}

func (c *conn) onThought(t *turn, e cli.Event, d nativeMessage) {
	t.Thought(d.ReasoningID, c.helpers.call(e), d.Content)
}

func (c *conn) onMessage(t *turn, e cli.Event, d nativeMessage) {
	parent := c.helpers.call(e)
	if t.Whole(d.MessageID) {
		return
	}
	if t.message(d, parent); parent == "" {
		t.finals = c.tools.finalCalls(d)
	}
}

// onNotification is not for the user's eyes: it says why the agent goes on.
func (c *conn) onNotification(t *turn, _ cli.Event, n notification) {
	if cause := c.tasks.notified(n); t == nil {
		c.turns.goOn(cause)
	}
}

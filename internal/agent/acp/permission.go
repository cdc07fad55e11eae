package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/event"
)

var withdrawn = object{"outcome": object{"outcome": "cancelled"}}

// permission answers the agent's question: by ourselves about the session's tools,
// which ask by themselves, else as the session decides.
func (c *conn) permission(ctx context.Context, t *turn, raw json.RawMessage) (any, error) {
	var q permission
	if t == nil || !decode(raw, &q) {
		return withdrawn, nil
	}
	pick := func(kind string) any {
		for _, o := range q.Options {
			if o.Kind == kind {
				return object{"outcome": object{"outcome": "selected", "optionId": o.OptionID}}
			}
		}
		return withdrawn
	}
	act, own, over, plan := c.understood(t, q)
	switch {
	case over:
		return withdrawn, nil
	case own:
		return pick("allow_once"), nil
	}
	decide := func(ctx context.Context) (bool, error) {
		v, err := c.host.AskPermission(ctx, act)
		return v.Decision == event.Allow, err
	}
	if plan {
		decide = func(ctx context.Context) (bool, error) { return c.approved(ctx, act) }
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return withdrawn, nil
	}
	t.busy++
	c.uses.Add(1)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		t.busy--
		c.mu.Unlock()
		c.uses.Done()
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	allowed, err := decide(ctx)
	switch {
	case err != nil || ctx.Err() != nil:
		return withdrawn, nil
	case allowed:
		c.allow(t, act)
		if !slices.ContainsFunc(q.Options, func(o permissionOption) bool { return o.Kind == "allow_once" }) {
			c.report(t.tell, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindProvider,
				Message: c.b.cfg.Title + " offers to be allowed this for good only, which webchat does not say for you, so it was refused. Change it in the agent's own settings."})
		}
		return pick("allow_once"), nil
	}
	return pick("reject_once"), nil
}

// understood is what a question is about: an act, a call of one of the session's own tools,
// or a plan. It is over with the turn.
func (c *conn) understood(t *turn, q permission) (act agent.Permission, own, over, plan bool) {
	c.told.Lock()
	defer c.told.Unlock()
	c.reuse(q.ToolCall.ToolCallID)
	var told call
	if k := c.calls[q.ToolCall.ToolCallID]; k != nil {
		told = *k
	}
	k := c.take(q.ToolCall.toolCall, q.ToolCall.Content)
	own = c.marked(q, told, *k)
	if k.ours, k.asked = own, !own; !own && !t.over {
		c.quiet(t)
		c.begin(t, k)
	}
	k.proposed = k.proposal(c.o.Workspace)
	act = c.act(k)
	return act, own, t.over, k.Kind == "switch_mode" && act.Kind == agent.KindMCP && !act.Sensitive
}

// approved asks the user whether the plan is to be carried out with which the agent
// wants to leave its mode. That is the user's to say, whatever is allowed.
func (c *conn) approved(ctx context.Context, act agent.Permission) (bool, error) {
	const yes, no = "Carry it out", "Keep planning"
	a, err := c.host.AskUser(ctx, agent.Question{ToolCallID: act.ToolCallID, Choices: []string{yes, no},
		Question: fmt.Sprintf("%s has a plan. Should it carry it out?\n\n%s", c.b.cfg.Title, act.Resource)})
	return a.Answered && a.Text == yes, err
}

// allow notes the edits of an act that was allowed.
func (c *conn) allow(t *turn, act agent.Permission) {
	c.told.Lock()
	defer c.told.Unlock()
	for _, p := range act.Parts() {
		if p.Kind == agent.KindWrite {
			t.allowed[c.absolute(p.Resource)]++
		}
	}
}

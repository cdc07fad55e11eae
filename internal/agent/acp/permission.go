package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/event"
)

var withdrawn = object{"outcome": object{"outcome": "cancelled"}}

// permission answers the agent's question: here about the session's tools, which ask by themselves,
// else as the session decides.
func (c *conn) permission(ctx context.Context, raw json.RawMessage) (any, error) {
	var q permission
	t, ctx, done := c.Join(ctx)
	if t == nil {
		return withdrawn, nil
	}
	defer done()
	pick := func(kind string) any {
		for _, o := range q.Options {
			if o.Kind == kind {
				return object{"outcome": object{"outcome": "selected", "optionId": o.OptionID}}
			}
		}
		return withdrawn
	}
	if !decode(raw, &q) {
		return withdrawn, nil
	}
	var act agent.Permission
	own, plan, over := false, false, true
	c.Do(func() {
		if over = c.Turn() != t; !over {
			act, own, plan = c.understood(t, q)
		}
	})
	switch {
	case over:
		return withdrawn, nil
	case own:
		return pick("allow_once"), nil
	}
	allowed, err := c.decide(ctx, act, plan)
	switch {
	case err != nil || ctx.Err() != nil:
		return withdrawn, nil
	case !allowed:
		return pick("reject_once"), nil
	}
	c.Do(func() {
		c.acts.allow(act)
		if !slices.ContainsFunc(q.Options, func(o permissionOption) bool {
			return o.Kind == "allow_once"
		}) {
			c.Warn(event.KindProvider,
				"%s only offers to be allowed this permanently, which webchat does not answer for you, so it "+
					"was refused. Change it in the agent's own settings.", c.Title)
		}
	})
	return pick("allow_once"), nil
}

// understood is what a question is about: an act, a call of one of the session's own tools, or a
// plan.
func (c *conn) understood(t *convo.Turn, q permission) (act agent.Permission, own, plan bool) {
	c.reuse(q.ToolCall.ToolCallID)
	var before call
	if k := c.calls.Get(q.ToolCall.ToolCallID); k != nil {
		before = *k
	}
	c.steps.acted = true
	k := c.take(q.ToolCall.toolCall, q.ToolCall.Content)
	own = c.lent.marked(q, before, *k)
	if k.lent, k.asked = own, !own; !own {
		t.Quiet()
		c.begin(t, k)
	}
	k.proposed = k.proposal(c.Options.Workspace)
	act = c.act(k)
	return act, own, k.Kind == "switch_mode" && act.Kind == agent.KindMCP && !act.Sensitive
}

// decide asks the session. Whether a plan is to be carried out, with which the agent wants to leave
// its mode, is the user's to say, whatever is allowed.
func (c *conn) decide(ctx context.Context, act agent.Permission, plan bool) (bool, error) {
	if !plan {
		v, err := c.Host.AskPermission(ctx, act)
		return v.Decision == event.Allow, err
	}
	const yes, no = "Carry it out", "Keep planning"
	a, err := c.Host.AskUser(ctx, agent.Question{
		ToolCallID: act.ToolCallID,
		Choices:    []string{yes, no},
		Question:   fmt.Sprintf("%s has a plan. Should it carry it out?\n\n%s", c.Title, act.Resource),
	})
	return a.Answered && a.Text == yes, err
}

// acts are what a turn did beside its calls. It belongs to the loop.
type acts struct {
	at      workspace
	refused convo.Once     // what was asked of webchat
	allowed map[string]int // edits that were, by absolute path
}

func (a *acts) allow(act agent.Permission) {
	for _, p := range act.Parts() {
		if p.Kind == agent.KindWrite {
			a.allowed[a.at.absolute(p.Resource)]++
		}
	}
}

// refuse returns an act that webchat was asked for, though it offers none, and what the agent may
// have done by itself: some do it all the same. Empty where that is not worth a word, such as a
// write that the user allowed, once for each time.
func (a *acts) refuse(method string, params json.RawMessage) (act, itself string) {
	var p struct {
		Path, Command string
		Args          []string
	}
	_ = json.Unmarshal(params, &p) // what is not there is not shown
	act, itself = "write "+p.Path, "written the file"
	switch method {
	case "fs/write_text_file":
		if path := a.at.absolute(p.Path); a.allowed[path] > 0 {
			a.allowed[path]--
			return "", ""
		}
	case "terminal/create":
		act, itself = "run "+strings.Join(append([]string{p.Command}, p.Args...), " "), "run the command"
	default:
		return "", ""
	}
	if !a.refused.First(act) {
		return "", ""
	}
	return act, itself
}

package consent

import (
	"context"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// mostAllowed bounds the calls of MCP servers that were allowed and are not made yet.
const mostAllowed = 100

// noteCall registers an allowed call of an MCP server by a confined agent, for one
// [Requests.TakeCall].
func (q *Requests) noteCall(p agent.Permission, v agent.Verdict) {
	call := p.ServerCall()
	if call == "" || !p.Confined || v.Decision != event.Allow {
		return
	}
	call = agent.Digest(call) // arguments may be large
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls = append(q.calls, call)
	q.calls = q.calls[max(0, len(q.calls)-mostAllowed):]
}

// TakeCall reports whether a call of an MCP server was allowed and not made yet, and marks it as
// made.
func (q *Requests) TakeCall(p agent.Permission) bool {
	call := agent.Digest(p.ServerCall())
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.calls, call)
	if i < 0 {
		return false
	}
	q.calls = slices.Delete(q.calls, i, i+1)
	return true
}

// AskCall asks about a call of an MCP server that something confined makes and no agent asked
// about.
func (q *Requests) AskCall(ctx context.Context, p agent.Permission,
	before func(context.Context, agent.Permission) (HookVerdict, error)) InsideAnswer {
	p.ToolCallID = q.cfg.Opened.onlyCall()
	v, err := q.Ask(ctx, p, event.ByAgent, before)
	q.TakeCall(p) // it is made now
	if err != nil || v.By == event.DecidedByAbort {
		return InsideAnswer{}
	}
	return InsideAnswer{Allowed: v.Decision == event.Allow, Scope: v.Scope, By: v.By}
}

package copilot

import (
	"encoding/json"
	"slices"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
)

// question is a request for permission that waits for its answer.
type question struct {
	id      string
	request permissionRequest
	raw     json.RawMessage
}

// holdPatience is how long a request waits for the start of its call: of a helper
// in the background it may come before.
const holdPatience = 300 * time.Millisecond

// onPermission puts the CLI's question to the session under the name of the call
// it belongs to.
func (c *conn) onPermission(e cli.Event) {
	d, ok := decode[struct {
		RequestID         string
		PermissionRequest json.RawMessage
		ResolvedByHook    bool
	}](c, e)
	if !ok || d.RequestID == "" || d.ResolvedByHook {
		return
	}
	t := c.scope(e)
	if t.aborted || t.requests[d.RequestID] {
		return
	}
	t.requests[d.RequestID] = true
	q := &question{id: d.RequestID, raw: d.PermissionRequest}
	if json.Unmarshal(d.PermissionRequest, &q.request) != nil {
		t.work.Go(c.contained(func() { c.answerPermission(t, q.id, refused("The request could not be understood.")) }))
		return
	}
	t.held = append(t.held, q)
	c.settleHeld(t, nil)
	if slices.Contains(t.held, q) {
		time.AfterFunc(holdPatience, func() {
			c.post(func() {
				if c.active(t) {
					c.settleHeld(t, q)
				}
			})
		})
	}
}

// settleHeld asks about the held requests whose calls have started, and about one
// that waits no longer.
func (c *conn) settleHeld(t *turn, late *question) {
	t.held = slices.DeleteFunc(t.held, func(q *question) bool {
		id, x := c.caller(t, q.request)
		if x == nil && q != late {
			return false
		}
		t.work.Go(c.contained(func() { c.answerPermission(t, q.id, c.decide(t, c.permission(q, id, x))) }))
		return true
	})
}

// caller returns the call a request belongs to, nil if it has not started. Where
// the request does not name it, it is the one that does the same.
func (c *conn) caller(t *turn, r permissionRequest) (id string, found *execution) {
	if r.ToolCallID != "" {
		return c.call(t, r.ToolCallID)
	}
	for call, x := range t.tools {
		if x.called || x.completed || !x.of(call).Does(r, c.o.Workspace) {
			continue
		}
		if found != nil {
			return "", nil // ambiguous
		}
		id, found = call, x
	}
	return id, found
}

// decide asks the session about the act of a call.
func (c *conn) decide(t *turn, act agent.Permission) agent.Verdict {
	v, err := c.host.AskPermission(t.ctx, act)
	if err != nil {
		return refused("No user could be asked.")
	}
	return v
}

func refused(why string) agent.Verdict { return agent.Verdict{Decision: event.Deny, Reason: why} }

// answerPermission tells "once" or why not. A refusal without feedback would end
// the turn.
func (c *conn) answerPermission(t *turn, id string, v agent.Verdict) {
	answer := map[string]string{"kind": "approve-once"}
	if v.Decision != event.Allow {
		if v.Reason == "" {
			v.Reason = "The user said no."
		}
		answer = map[string]string{"kind": "reject", "feedback": v.Reason}
	}
	if t.ctx.Err() == nil {
		c.reply(t.ctx, "session.permissions.handlePendingPermissionRequest", id, "result", answer)
	}
}

func (c *conn) permission(q *question, id string, x *execution) agent.Permission {
	of := nativeCall{ID: id}
	if x != nil {
		of = x.of(id)
	}
	return permissionOf(q.raw, q.request, of, c.o.Workspace, c.knowsFolder())
}

// of is the call for package acts.
func (x *execution) of(id string) nativeCall {
	return nativeCall{ID: id, Tool: x.name, Arguments: x.changedOr(x.arguments), Without: x.without}
}

// knowsFolder reports whether commands are known to begin in the workspace.
func (c *conn) knowsFolder() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.freshShell
}

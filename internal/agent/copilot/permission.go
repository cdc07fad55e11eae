package copilot

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/agent/copilot/wire"
	"webchat/internal/event"
	"webchat/internal/policy"
)

// question is a request for permission that waits for its answer.
type question struct {
	id      string
	request wire.Request
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
		t.work.Go(func() { c.answerPermission(t, q.id, refused("The request could not be understood.")) })
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
		t.work.Go(func() { c.answerPermission(t, q.id, c.decide(t, c.permissions(q, id, x))) })
		return true
	})
}

// caller returns the call a request belongs to, nil if it has not started. Where
// the request does not name it, it is the one that does the same.
func (c *conn) caller(t *turn, r wire.Request) (id string, found *execution) {
	if r.ToolCallID != "" {
		return c.call(t, r.ToolCallID)
	}
	for call, x := range t.tools {
		if x.called || x.completed || !x.does(r, c.o.Workspace) {
			continue
		}
		if found != nil {
			return "", nil // ambiguous
		}
		id, found = call, x
	}
	return id, found
}

// decide asks the session about the acts of one call until one is refused.
func (c *conn) decide(t *turn, acts []agent.Permission) (v agent.Verdict) {
	for _, p := range acts {
		var err error
		if v, err = c.host.AskPermission(t.ctx, p); err != nil {
			return refused("No user could be asked.")
		}
		if v.Decision != event.Allow {
			break
		}
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

// permissions is the CLI's wish in the session's words: one act, or two where a
// patch moves a file, of which the CLI names the new place only. The digest covers
// all of the request but what changes from one call to the next.
func (c *conn) permissions(q *question, id string, x *execution) []agent.Permission {
	r := q.request
	p := agent.Permission{ToolCallID: id, Digest: wire.Digest(q.raw), Cwd: c.o.Workspace}
	if x != nil {
		p.ToolName = x.name
	}
	acts := []agent.Permission{}
	switch r.Kind {
	case "shell":
		p.Kind, p.Action, p.Resource, p.CwdUnknown = agent.KindShell, "run a command", r.FullCommandText, !c.knowsFolder()
		p.ToolName = orElse(p.ToolName, "bash")
	case "write":
		p.Kind, p.Action, p.Resource, p.Diff = agent.KindWrite, "write a file", r.FileName, r.Diff
		for _, e := range r.FileEdits {
			if from := e.Before.Path; from != "" && from != r.FileName {
				moved := p
				moved.Action, moved.Resource = "move a file away", from
				acts = append(acts, moved)
			}
		}
	case "read":
		p.Kind, p.Action, p.Resource = agent.KindRead, "read a file", r.Path
		if x != nil {
			c.describeSearch(&p, x)
		}
	case "url":
		p.ToolName, p.Kind, p.Action, p.Resource = orElse(p.ToolName, "web_fetch"), agent.KindURL, "fetch an address", r.URL
	case "mcp":
		p.ToolName, p.Server = orElse(p.ToolName, r.ToolName), r.ServerName
		p.Kind, p.Action, p.Resource = agent.KindMCP, "use a tool of the MCP server "+r.ServerName, r.ToolName+" "+wire.Compact(r.Args)
	}
	switch {
	case p.Resource == "": // a kind this version does not know: show all there is, and never decide it alone
		p.ToolName, p.Action, p.Resource, p.Sensitive = orElse(p.ToolName, "copilot"), "do something of the kind "+r.Kind, wire.Compact(q.raw), true
		p.Kind = agent.Kind(orElse(string(p.Kind), string(agent.KindShell)))
	case p.ToolName == "": // no rule by the name of the tool could hold
		p.ToolName, p.Sensitive = r.Kind, true
	}
	if p.Kind == agent.KindRead || p.Kind == agent.KindWrite {
		p.Target = orElse(p.Target, astray(p.Resource))
	}
	return append(acts, p)
}

// astray returns where an absolute path leads, if ".." behind a link makes that
// another place than the same path has once it is cleaned; else nothing. The CLI
// shows such paths cleaned and opens them as they are.
func astray(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	if real := policy.Resolve(path); real != policy.Resolve(filepath.Clean(path)) {
		return real
	}
	return ""
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// knowsFolder reports whether commands are known to begin in the workspace.
func (c *conn) knowsFolder() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.freshShell
}

// does reports whether a request may be one of this call's.
func (x *execution) does(r wire.Request, workspace string) bool {
	var a struct{ Command, Path, URL string }
	if json.Unmarshal(x.arguments, &a) != nil {
		return false
	}
	switch r.Kind {
	case "shell":
		return a.Command != "" && a.Command == r.FullCommandText
	case "write":
		return (x.name == "create" || x.name == "edit") && inWorkspace(workspace, a.Path) == filepath.Clean(r.FileName)
	case "read":
		s, ok := searchOf(x)
		return ok && slices.ContainsFunc(s.paths, func(p string) bool { return filepath.Clean(inWorkspace(workspace, p)) == filepath.Clean(r.Path) })
	case "url":
		return a.URL != "" && a.URL == r.URL
	case "mcp":
		return x.name == r.ToolName
	}
	return false
}

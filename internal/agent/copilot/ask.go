package copilot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
)

// nativeRequest is what the CLI wants to do.
type nativeRequest struct {
	Kind            string
	ToolCallID      string
	FullCommandText string // shell
	FileName        string // write
	Diff            string
	Path            string          // read
	URL             string          // url
	ServerName      string          // mcp
	ToolName        string          // mcp, custom-tool
	Args            json.RawMessage // mcp, custom-tool
}

// onPermission puts the CLI's question to the session, and tells "once" or why
// not. A refusal without feedback would end the turn.
func (c *conn) onPermission(e nativeEvent) {
	d, ok := decode[struct {
		RequestID         string
		PermissionRequest json.RawMessage
		ResolvedByHook    bool
	}](c, e)
	if !ok || d.RequestID == "" || d.ResolvedByHook {
		return
	}
	t := c.loop.turn
	if t.aborted || t.requests[d.RequestID] {
		return
	}
	t.requests[d.RequestID] = true
	var r nativeRequest
	err := json.Unmarshal(d.PermissionRequest, &r)
	p := c.permission(r, d.PermissionRequest)
	p.ToolCallID, _ = c.call(t, r.ToolCallID)
	t.work.Go(func() {
		v := agent.Verdict{Decision: event.Deny, Reason: "The request could not be understood."}
		if err == nil {
			if v, err = c.host.AskPermission(t.ctx, p); err != nil {
				v = agent.Verdict{Decision: event.Deny, Reason: "Nobody could be asked."}
			}
		}
		if t.ctx.Err() != nil {
			v = agent.Verdict{Decision: event.Deny, Reason: "The turn was stopped."}
		}
		answer := map[string]string{"kind": "approve-once"}
		if v.Decision != event.Allow {
			if v.Reason == "" {
				v.Reason = "The user said no."
			}
			answer = map[string]string{"kind": "reject", "feedback": v.Reason}
		}
		if t.ctx.Err() == nil {
			c.reply(t.ctx, "session.permissions.handlePendingPermissionRequest", d.RequestID, "result", answer)
		}
	})
}

// permission is the CLI's wish in the session's words. Its digest covers all of
// the request but what changes from one call to the next.
func (c *conn) permission(r nativeRequest, raw json.RawMessage) agent.Permission {
	p := agent.Permission{Digest: digestOf(raw), Cwd: c.o.Workspace}
	switch r.Kind {
	case "shell":
		p.ToolName, p.Kind, p.Action, p.Resource = "bash", agent.KindShell, "run a command", r.FullCommandText
	case "write":
		p.ToolName, p.Kind, p.Action, p.Resource, p.Diff = "edit", agent.KindWrite, "write a file", r.FileName, r.Diff
	case "read":
		p.ToolName, p.Kind, p.Action, p.Resource = "read", agent.KindRead, "read a file", r.Path
	case "url":
		p.ToolName, p.Kind, p.Action, p.Resource = "fetch", agent.KindURL, "fetch an address", r.URL
	case "mcp":
		p.ToolName, p.Kind, p.Action, p.Resource = r.ToolName, agent.KindMCP, "use a tool of the MCP server "+r.ServerName, r.ToolName+" "+compact(r.Args)
	}
	if p.Resource == "" { // a kind this version does not know: show all there is, and never decide it alone
		p.ToolName, p.Action, p.Resource, p.Sensitive = "copilot", "do something of the kind "+r.Kind, compact(raw), true
		if p.Kind == "" {
			p.Kind = agent.KindShell
		}
	}
	return p
}

func digestOf(raw json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) == nil {
		for _, k := range []string{"toolCallId", "intention", "canOfferSessionApproval"} {
			delete(fields, k)
		}
		if b, err := json.Marshal(fields); err == nil { // keys in order
			raw = b
		}
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// turnOf returns the running turn, whose end then waits for work.Done; nil when
// none runs.
func (c *conn) turnOf(also func(*turn)) *turn {
	found := make(chan *turn, 1)
	c.post(func() {
		t := c.loop.turn
		if t != nil && t.aborted {
			t = nil
		}
		if t != nil {
			t.work.Add(1)
			also(t)
		}
		found <- t
	})
	return <-found // Close waits for us, and the loop ends behind that
}

// answer puts the agent's question to the user; ctx ends with the process.
func (c *conn) answer(ctx context.Context, q nativeQuestion) (any, error) {
	question := agent.Question{Question: q.Question, Choices: q.Choices, AllowFreeform: q.AllowFreeform}
	t := c.turnOf(func(t *turn) {
		for id, x := range t.tools {
			if x.name == "ask_user" && !x.completed {
				question.ToolCallID = id
			}
		}
	})
	if t == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no turn runs"}
	}
	defer t.work.Done()
	asking, cancel := context.WithCancel(t.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	a, err := c.host.AskUser(asking, question)
	switch {
	case err != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the question was withdrawn"}
	case !a.Answered:
		return nativeAnswer{Answer: "(The user did not answer.)", WasFreeform: true}, nil
	}
	return nativeAnswer{a.Text, a.WasFreeform}, nil
}

// hook asks the session's hooks about a call of the CLI's own tools, before and
// after. For the session's tools the session does that itself. "allow" is never
// said: it would keep the CLI from asking for leave.
func (c *conn) hook(h nativeHook) (any, error) {
	none := struct{}{}
	call := agent.HookCall{RequestID: string(event.NewID()), Tool: h.Input.ToolName, Arguments: h.Input.ToolArgs}
	switch {
	case c.owns(call.Tool):
		return none, nil
	case h.HookType == "preToolUse":
		call.Event = "before_tool"
	case h.HookType == "postToolUse", h.HookType == "postToolUseFailure":
		call.Event, call.Result = "after_tool", h.Input.ToolResult
	default:
		return none, nil
	}
	t := c.turnOf(func(*turn) {})
	if t == nil {
		return none, nil
	}
	defer t.work.Done()
	v, err := c.host.RunHook(t.ctx, call)
	if err != nil {
		v = agent.HookVerdict{Reason: "The hooks could not be asked."}
	}
	switch {
	case v.Allow:
		return none, nil
	case call.Event == "after_tool":
		return map[string]any{"output": map[string]string{"additionalContext": v.Reason}}, nil
	}
	return map[string]any{"output": map[string]string{"permissionDecision": "deny", "permissionDecisionReason": v.Reason}}, nil
}

// owns reports whether a tool is the session's.
func (c *conn) owns(tool string) bool {
	return slices.ContainsFunc(c.o.Tools, func(t agent.ToolSpec) bool { return t.Name == tool })
}

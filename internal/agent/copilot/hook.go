package copilot

import (
	"encoding/json"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/acts"
	"webchat/internal/agent/copilot/wire"
	"webchat/internal/event"
)

// none lets the CLI go on as it wanted.
var none = struct{}{}

// hook asks the session's hooks about a call of the CLI's own tools, before and
// after, and keeps sensitive files out of what is searched. For the session's tools
// the session does that itself. "allow" is never said: it would keep the CLI from
// asking for leave.
func (c *conn) hook(h wire.Hook) (any, error) {
	switch {
	case c.owns(h.Input.ToolName):
		return none, nil
	case h.HookType == "preToolUse":
		return c.beforeTool(h)
	case h.HookType == "postToolUse", h.HookType == "postToolUseFailure":
		return c.afterTool(h)
	}
	return none, nil
}

func (c *conn) beforeTool(h wire.Hook) (any, error) {
	arguments, inString := wire.Object(h.Input.ToolArgs)
	call := agent.HookCall{RequestID: string(event.NewID()), Event: "before_tool", Tool: h.Input.ToolName, Arguments: arguments}
	var x *execution
	mine := func(t *turn) bool {
		_, x := t.find(call.Tool, arguments, func(x *execution) bool { return !x.hooked })
		return x != nil
	}
	t := c.turnOf(mine, func(t *turn) {
		var id string
		if id, x = t.find(call.Tool, arguments, func(x *execution) bool { return !x.hooked }); x != nil {
			call.RequestID, x.hooked = id, true
		}
	})
	if t == nil { // no turn in which the user could be asked
		return denied("No turn runs."), nil
	}
	defer t.work.Done()
	v, err := c.host.RunHook(t.ctx, call)
	switch {
	case err != nil:
		return denied("The hooks could not be asked."), nil
	case !v.Allow:
		return denied(v.Reason), nil
	}
	changed, without := v.Arguments, []string(nil)
	if changed != nil {
		arguments = changed
	}
	if less, names := acts.LeaveOut(t.ctx, c.o.Workspace, call.Tool, arguments, c.b.cfg.SearchHits); less != nil {
		changed, without = less, names
	}
	if changed == nil {
		return none, nil
	}
	if x != nil {
		c.post(func() { x.changed, x.without = changed, without }) // before the CLI asks for leave
	}
	return map[string]any{"output": map[string]any{"modifiedArgs": wire.Arguments(changed, inString)}}, nil
}

func (c *conn) afterTool(h wire.Hook) (any, error) {
	arguments, _ := wire.Object(h.Input.ToolArgs)
	call := agent.HookCall{RequestID: string(event.NewID()), Event: "after_tool", Tool: h.Input.ToolName, Arguments: arguments, Result: h.Input.ToolResult}
	var without []string
	mine := func(t *turn) bool {
		_, x := t.find(call.Tool, arguments, func(x *execution) bool { return x.hooked })
		return x != nil
	}
	t := c.turnOf(mine, func(t *turn) {
		if _, x := t.find(call.Tool, arguments, func(x *execution) bool { return x.hooked }); x != nil {
			without = x.without
		}
	})
	if t == nil {
		return none, nil
	}
	defer t.work.Done()
	var said []string
	if len(without) > 0 {
		said = append(said, "Not searched, since they may hold keys or passwords: "+strings.Join(without, ", ")+". Name such a file to ask for it.")
	}
	v, err := c.host.RunHook(t.ctx, call)
	switch {
	case err != nil:
		said = append(said, "The hooks could not be asked.")
	case !v.Allow:
		said = append(said, v.Reason)
	}
	if len(said) == 0 {
		return none, nil
	}
	return map[string]any{"output": map[string]string{"additionalContext": strings.Join(said, "\n")}}, nil
}

func denied(why string) any {
	return map[string]any{"output": map[string]string{"permissionDecision": "deny", "permissionDecisionReason": why}}
}

// owns reports whether a tool is the session's.
func (c *conn) owns(tool string) bool {
	return slices.ContainsFunc(c.o.Tools, func(t agent.ToolSpec) bool { return t.Name == tool })
}

// find returns a running call by what hooks are told of it, which is not its id.
func (t *turn) find(tool string, arguments json.RawMessage, also func(*execution) bool) (id string, found *execution) {
	for call, x := range t.tools {
		if x.name == tool && !x.called && !x.completed && also(x) && wire.SameJSON(x.changedOr(x.arguments), arguments) {
			return call, x
		}
	}
	return "", nil
}

// changedOr returns the arguments a hook gave the call, else those it was made with.
func (x *execution) changedOr(made json.RawMessage) json.RawMessage {
	if x.changed != nil {
		return x.changed
	}
	return made
}

package copilot

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// none lets the CLI go on as it wanted.
var none = struct{}{}

// hook asks the session's hooks about a call of the CLI's own tools, before and
// after, and keeps sensitive files out of what is searched. For the session's tools
// the session does that itself. "allow" is never said: it would keep the CLI from
// asking for leave.
func (c *conn) hook(h hookRequest) (any, error) {
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

func (c *conn) beforeTool(h hookRequest) (any, error) {
	arguments, inString := asObject(h.Input.ToolArgs)
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
	if e := os.MkdirAll(c.largeDir(), 0o700); e != nil {
		c.b.cfg.Logger.Warn("copilot: the folder for large results cannot be made", "error", e)
	}
	switch {
	case err != nil:
		return denied("The hooks could not be asked."), nil
	case !v.Allow:
		return denied(v.Reason), nil
	}
	done := rewrite{tool: call.Tool, made: arguments, changed: v.Arguments}
	if done.changed != nil {
		arguments = done.changed
	}
	if less, names := leaveOut(t.ctx, c.o.Workspace, call.Tool, arguments, c.b.cfg.SearchHits); less != nil {
		done.changed, done.without = less, names
	}
	if done.changed == nil {
		return none, nil
	}
	c.post(func() { c.rewritten(t, x, done) }) // before the CLI asks for leave
	return map[string]any{"output": map[string]any{"modifiedArgs": asGiven(done.changed, inString)}}, nil
}

// rewrite is what was made of the arguments of a call.
type rewrite struct {
	tool          string
	made, changed json.RawMessage
	without       []string // sensitive files that its search leaves out
}

// maxEarly is how many rewrites wait for the starts of their calls.
const maxEarly = 32

// rewritten keeps what became of a call. That a helper's call starts is told while its
// hooks are asked, or behind that.
func (c *conn) rewritten(t *turn, x *execution, done rewrite) {
	if x == nil {
		_, x = t.find(done.tool, done.made, func(x *execution) bool { return x.changed == nil })
	}
	if x != nil {
		x.changed, x.without = done.changed, done.without
		return
	}
	early := c.loop.early
	c.loop.early = append(early[max(0, len(early)-maxEarly+1):], done)
}

// startRewritten gives a call that starts what was made of it before.
func (c *conn) startRewritten(x *execution) {
	i := slices.IndexFunc(c.loop.early, func(r rewrite) bool { return r.tool == x.name && sameJSON(r.made, x.arguments) })
	if i >= 0 {
		x.changed, x.without = c.loop.early[i].changed, c.loop.early[i].without
		c.loop.early = slices.Delete(c.loop.early, i, i+1)
	}
}

func (c *conn) afterTool(h hookRequest) (any, error) {
	arguments, _ := asObject(h.Input.ToolArgs)
	call := agent.HookCall{RequestID: string(event.NewID()), Event: "after_tool", Tool: h.Input.ToolName, Arguments: arguments, Result: h.Input.ToolResult}
	var without []string
	id := ""
	open := func(x *execution) bool { return !x.ended }
	mine := func(t *turn) bool {
		_, x := t.find(call.Tool, arguments, open)
		return x != nil
	}
	t := c.turnOf(mine, func(t *turn) {
		var x *execution
		if id, x = t.find(call.Tool, arguments, open); x != nil {
			without, x.ended = x.without, true
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
	out := map[string]any{}
	if len(said) > 0 {
		out["additionalContext"] = strings.Join(said, "\n")
	}
	if cut, ok := cutOf(h.Input.ToolResult, c.largeDir()); ok {
		out["modifiedResult"] = c.keep(t.ctx, id, call, cut)
	}
	if len(out) == 0 {
		return none, nil
	}
	return map[string]any{"output": out}, nil
}

// largeDir is where the CLI saves the results of the session that are too large for its
// model: with what it keeps of the session, so that it ends with that. Its searches fail
// while the folder does not exist, its other tools make it (1.0.102). So it is made before
// each call, and not when the conversation opens: a session without a prompt leaves nothing.
func (c *conn) largeDir() string {
	return filepath.Join(c.b.cfg.Home, "session-state", c.id, "large")
}

// keep gives the user the whole of a result of which the model reads the beginning, and
// returns what it reads.
func (c *conn) keep(ctx context.Context, id string, call agent.HookCall, cut *cutResult) any {
	k, ok := c.host.(agent.Keeper)
	if !ok || id == "" {
		return cut.Left()
	}
	var of struct{ Command string }
	_ = json.Unmarshal(call.Arguments, &of) // other tools have none
	readers := ""
	data, err := cut.Read()
	if err == nil {
		readers, err = k.Keep(ctx, agent.Whole{ToolCallID: id, Name: cmp.Or(of.Command, call.Tool), Cwd: c.o.Workspace, ExitCode: cut.ExitCode, Data: data})
	}
	if err != nil {
		c.b.cfg.Logger.Warn("copilot: a large result was not kept", "error", err)
		return cut.Left()
	}
	return cut.Kept(data, readers)
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
		if x.name == tool && !x.called && !x.completed && also(x) && sameJSON(x.changedOr(x.arguments), arguments) {
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

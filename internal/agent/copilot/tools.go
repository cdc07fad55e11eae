package copilot

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// execution is one tool call that has started.
type execution struct {
	name      string
	at        time.Time
	called    bool // the session runs it, and tells its end
	completed bool
	output    string // of a foreign tool, so far

	arguments json.RawMessage // an object
	hooked    bool            // hooks were asked
	ended     bool            // they were told of its end
	changed   json.RawMessage // what hooks made of the arguments; nil: nothing
	without   []string        // sensitive files its search leaves out
}

// shortID is what a provider's id may have at least to be believed to be unique
// in a session; some count from 0 in each answer.
const shortID = 16

// newCall makes our id of a call that is new to us: unique in the session, the
// CLI's where possible. A turn knows its own calls only.
func (c *conn) newCall(t *turn, id string) string {
	ours := id
	if len(id) < shortID {
		ours = t.id + "-" + id
	}
	for base, n := ours, 2; t.used[ours]; n++ {
		ours = base + "." + strconv.Itoa(n)
	}
	t.used[ours] = true
	t.calls[id] = ours
	return ours
}

// call returns our id of a call and its execution, nil if it has not started.
func (c *conn) call(t *turn, id string) (string, *execution) {
	ours := t.calls[id]
	return ours, t.tools[ours]
}

// wish is a call as the model writes it.
type wish struct {
	name      string
	arguments []byte
}

// maxWish is how many bytes of a wish are kept: only those of calls that do not start
// are of use.
const maxWish = 4 << 10

func (c *conn) onCallDelta(e cli.Event) {
	d, ok := decode[struct{ ToolCallID, ToolName, InputDelta string }](c, e)
	if !ok || d.ToolCallID == "" {
		return
	}
	t := c.scope(e)
	w := t.wishes[d.ToolCallID]
	if w == nil {
		w = &wish{}
		t.wishes[d.ToolCallID] = w
	}
	if d.ToolName != "" {
		w.name = d.ToolName
	}
	if len(w.arguments) < maxWish {
		w.arguments = append(w.arguments, d.InputDelta...)
	}
}

// unstarted opens a call that the CLI refuses before it starts it: one whose
// arguments are null, a list or a number (1.0.102).
func (c *conn) unstarted(e cli.Event, id string) (string, *execution) {
	w := c.scope(e).wishes[id]
	if w == nil {
		return "", nil
	}
	arguments := json.RawMessage(w.arguments)
	if !json.Valid(arguments) {
		b, err := json.Marshal(strings.ToValidUTF8(string(w.arguments), "\uFFFD"))
		if err != nil {
			return "", nil
		}
		arguments = b
	}
	return c.startTool(e, id, w.name, arguments)
}

func (c *conn) onToolStart(e cli.Event) {
	d, ok := decode[struct {
		ToolCallID, ToolName string
		Arguments            json.RawMessage
	}](c, e)
	if ok && d.ToolCallID != "" && d.ToolName != "" {
		c.startTool(e, d.ToolCallID, d.ToolName, d.Arguments)
	}
}

func (c *conn) startTool(e cli.Event, id, name string, arguments json.RawMessage) (string, *execution) {
	t := c.scope(e)
	ours, x := c.call(t, id)
	if ours == "" || x != nil && x.completed {
		ours, x = c.newCall(t, id), nil
	}
	if x != nil {
		return ours, x
	}
	arguments, _ = asObject(arguments)
	delete(t.wishes, id)
	x = &execution{name: name, at: time.Now(), arguments: arguments}
	c.startRewritten(x)
	t.tools[ours] = x
	c.report(event.ToolExecutionStart{ToolCallID: ours, ToolName: name, Arguments: arguments, By: event.ByAgent, ParentToolCallID: c.helper(e)})
	c.beginCommand(ours, id, x)
	c.settleHeld(t, nil)
	return ours, x
}

func (c *conn) onToolProgress(e cli.Event) {
	d, ok := decode[struct{ ToolCallID, ProgressMessage string }](c, e)
	ours, x := c.call(c.scope(e), d.ToolCallID)
	if ok && x != nil && !x.called && !x.completed {
		c.report(event.ToolExecutionProgress{ToolCallID: ours, ProgressMessage: wording.Cut(d.ProgressMessage, 400), ElapsedMs: time.Since(x.at).Milliseconds()})
	}
}

// onToolPartial makes an increment of the CLI's partial output, which is all of
// it so far. One more may come behind the end.
func (c *conn) onToolPartial(e cli.Event) {
	d, ok := decode[struct{ ToolCallID, PartialOutput string }](c, e)
	ours, x := c.call(c.scope(e), d.ToolCallID)
	if !ok || x == nil || x.called || x.completed {
		return
	}
	more, grew := strings.CutPrefix(d.PartialOutput, x.output)
	if !grew { // it was rewritten from some place on
		more = "\n" + d.PartialOutput
	}
	x.output = d.PartialOutput
	if more != "" {
		c.report(event.ToolExecutionPartialResult{ToolCallID: ours, PartialOutput: more})
	}
}

func (c *conn) onToolComplete(e cli.Event) {
	d, ok := decode[struct {
		ToolCallID, ToolName string
		Success              bool
		Result               *event.ToolResult
		Error                *struct{ Message, Code string }
		ShellExecution       *struct{ ExitCode *int }
		ToolTelemetry        map[string]json.RawMessage
	}](c, e)
	ours, x := c.call(c.scope(e), d.ToolCallID)
	if x == nil && ok {
		ours, x = c.unstarted(e, d.ToolCallID)
	}
	if !ok || x == nil || x.called || x.completed {
		return
	}
	x.completed = true
	done := event.ToolExecutionComplete{ToolCallID: ours, Success: d.Success, DurationMs: time.Since(x.at).Milliseconds()}
	if s := d.ShellExecution; s != nil && s.ExitCode != nil {
		if d.ToolTelemetry == nil {
			d.ToolTelemetry = map[string]json.RawMessage{}
		}
		d.ToolTelemetry["exitCode"] = strconv.AppendInt(nil, int64(*s.ExitCode), 10)
	}
	if len(d.ToolTelemetry) > 0 {
		done.ToolTelemetry, _ = json.Marshal(d.ToolTelemetry) // the session keeps its numbers
	}
	switch {
	case d.Success && d.Result != nil:
		done.Result = readableResult(d.Result)
	case d.Success:
		done.Result = &event.ToolResult{}
	case d.Error != nil:
		done.Error = &event.ToolError{Message: d.Error.Message, Code: errorCode(d.Error.Code), Kind: event.KindOfCode(d.Error.Code)}
	default:
		done.Error = &event.ToolError{Message: "The tool failed.", Code: "failure", Kind: event.KindInternal}
	}
	c.report(done)
	if done.Result != nil {
		c.endCommand(ours, done.Result.Content)
	}
}

// onToolRequested has the session run one of its tools. Calls run beside each
// other.
func (c *conn) onToolRequested(e cli.Event) {
	d, ok := decode[struct {
		RequestID, ToolCallID, ToolName string
		Arguments                       json.RawMessage
	}](c, e)
	if !ok || d.RequestID == "" {
		return
	}
	t := c.scope(e)
	if t.aborted || t.requests[d.RequestID] {
		return
	}
	t.requests[d.RequestID] = true
	ours, x := c.startTool(e, d.ToolCallID, d.ToolName, d.Arguments)
	answer := func(r agent.Result) {
		c.reply(t.ctx, "session.tools.handlePendingToolCall", d.RequestID, "result", nativeResult(r))
	}
	if !c.owns(d.ToolName) {
		t.work.Go(c.contained(func() { answer(agent.Failure(event.KindUnknownTool, "There is no tool '%s'.", d.ToolName)) }))
		return // the CLI tells the end
	}
	if x.called || x.completed {
		return
	}
	call := agent.ToolCall{ID: ours, Name: d.ToolName, Arguments: d.Arguments, ParentToolCallID: c.helper(e)}
	if len(call.Arguments) == 0 {
		call.Arguments = json.RawMessage("{}")
	}
	x.called, x.completed = true, true // the session tells its end
	t.work.Go(c.contained(func() {
		res, err := c.host.CallTool(t.ctx, call)
		if err != nil {
			if t.ctx.Err() != nil {
				return // the abort answers for us
			}
			res = agent.Failure(event.KindInternal, "The tool '%s' could not be run: %v", call.Name, err)
		}
		answer(res)
	}))
}

// reply answers an event that asks. An answer that is no longer awaited
// ({"success":false}) is not an error, and the end of the process is reported elsewhere.
func (c *conn) reply(ctx context.Context, method, requestID, field string, value any) {
	err := c.ask(ctx, method, c.named(map[string]any{"requestId": requestID, field: value}), nil)
	if err != nil && ctx.Err() == nil {
		c.b.cfg.Logger.Warn("copilot: an answer was not taken", "method", method, "error", err)
	}
}

package autohand

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/event"
)

// call is a tool call of the CLI's own.
type call struct {
	convo.Call
	hooked  bool // the CLI asked its hooks about it
	asked   bool // the CLI asked for permission
	allowed bool // by the session, when the CLI asked its hooks
	ran     bool // the CLI reported that it started
	silent  bool // other events report it
	wrote   []change
	after   *hookEnd // its end as a hook reported it, until it is logged
}

// hookEnd is what a hook reports of the end of a call.
type hookEnd struct {
	success bool
	output  string
}

// take returns the call with an id of the CLI's, a new one if it is the first to come.
func (r *run) take(id, tool string, args json.RawMessage) *call {
	k := r.Get(id)
	if k == nil {
		k = &call{Call: convo.Call{ID: string(event.NewID()), Tool: tool}}
		r.Add(id, k)
	}
	if len(args) > 0 {
		k.Args = args
	}
	return k
}

// latest returns the latest call of a tool that fits: the CLI's questions do not name their call.
func (r *run) latest(tool string, fits func(*call) bool) *call {
	return r.Last(func(k *call) bool { return k.Tool == tool && fits(k) })
}

// mine reports whether a tool is one of the session's, which report themselves: the name is of the
// server that the settings have for the session, and no other server has it. One that the folder
// defines under such a name is a command, which a helper would run.
func (w *workspace) mine(tool string) bool {
	name, ok := strings.CutPrefix(tool, lentPrefix)
	return ok && slices.ContainsFunc(w.tools, func(s agent.ToolSpec) bool {
		return s.Name == name
	}) && w.lineOf(&call{Call: convo.Call{Tool: tool}}) == ""
}

// arguments are those of a call: the CLI adds the tool's name to some.
func arguments(args map[string]json.RawMessage, tool string) json.RawMessage {
	if text(args["type"]) == tool {
		args = maps.Clone(args)
		delete(args, "type")
	}
	b, err := json.Marshal(args)
	if err != nil || args == nil {
		return nil
	}
	return b
}

func (c *conn) toolStart(t *convo.Turn, n toolNotice) {
	if c.workspace.mine(n.ToolName) {
		return
	}
	k := c.run.take(n.ToolID, n.ToolName, nil)
	if !k.Begun {
		k.Args = arguments(n.Args, n.ToolName)
	}
	k.ran = true
	t.Begin(&k.Call)
}

func (c *conn) toolEnd(t *convo.Turn, n toolNotice) {
	if c.workspace.mine(n.ToolName) {
		return
	}
	c.outcome(t, c.run.take(n.ToolID, n.ToolName, nil), n.Success, clean(text(n.Output)),
		clean(n.Error), "")
}

// failures are the kinds of the CLI's failures, as the session has them.
var failures = map[string]struct {
	code string
	kind event.ErrorKind
}{
	"authorization": {"denied", event.KindDenied},
	"validation":    {"failure", event.KindBadArguments},
	"aborted":       {"aborted", event.KindAborted},
}

// outcome reports what came of a call.
func (c *conn) outcome(t *convo.Turn, k *call, success bool, output, why, kind string) {
	if success {
		first := !k.Done
		var diffs strings.Builder
		for _, w := range k.wrote {
			diffs.WriteString(diff(w.FilePath, w.OriginalContent, w.ProposedContent))
		}
		t.Complete(&k.Call, event.ToolExecutionComplete{Success: true,
			Result: &event.ToolResult{
				Content:         cmp.Or(output, "(The tool returned nothing.)"),
				DetailedContent: diffs.String(),
			}})
		if first && k.background() {
			if p := t.Program(); c.behindOf != p {
				c.behind, c.behindOf = nil, p
			}
			c.behind = append(c.behind, k.input().command())
		}
		return
	}
	e := &event.ToolError{
		Message: cmp.Or(why, output, "The tool failed, and nothing says why."),
		Code:    "failure",
		Kind:    event.KindProvider,
	}
	if f, known := failures[kind]; known {
		e.Code, e.Kind = f.code, f.kind
	}
	t.Complete(&k.Call, event.ToolExecutionComplete{Error: e})
}

// stepEnd takes what a model call came to: what the model wrote beside its tool calls, and the
// calls which nothing else reports, since they were refused.
func (c *conn) stepEnd(t *convo.Turn, s step) {
	if thought := clean(s.Step.Thought); thought != "" {
		t.Say(convo.Answer, s.StepID, thought)
		t.Quiet(c.requests(s)...)
	}
	for i, r := range s.Step.ToolResults {
		if i >= len(s.Step.ToolCalls) {
			break
		}
		of := s.Step.ToolCalls[i]
		refused := r.Kind == "authorization" || r.Kind == "validation"
		if c.workspace.mine(of.Tool) && !refused {
			continue
		}
		k := c.run.take(of.ID, of.Tool, nil)
		if k.silent {
			continue
		}
		if !k.Begun {
			k.Args = arguments(of.Args, of.Tool)
		}
		c.outcome(t, k, r.Success, clean(text(r.Output)), clean(r.Error), r.Kind)
	}
	t.EndStep()
	p := t.Program()
	t.Spawn(func() {
		if err := p.Call(c.Life(), "autohand.stepDecision", object{"stepId": s.StepID, "stop": false},
			nil); err != nil {
			c.Logger.Debug("the CLI did not take that its turn goes on", "error", err)
		}
	})
	t.NextStep("")
}

// requests are the calls a model wished for.
func (c *conn) requests(s step) (all []event.ToolRequest) {
	for _, of := range s.Step.ToolCalls {
		if k := c.run.Get(of.ID); k != nil && !k.silent {
			all = append(all, event.ToolRequest{
				ToolCallID: k.ID,
				Name:       of.Tool,
				Arguments:  arguments(of.Args, of.Tool),
			})
		}
	}
	return all
}

package copilot

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// execution is one tool call. Hooks may change its arguments.
type execution struct {
	convo.Call
	at     time.Time // of its start
	called bool      // the session runs it, and reports its end
	output string    // of a foreign tool, so far

	hooked  bool     // hooks were asked
	changed bool     // what came of that is known
	granted granted  // what the session was asked about already
	ended   bool     // they were informed of its end
	without []string // sensitive files its search leaves out
}

// open reports whether it is a call of the CLI's own that runs.
func (x *execution) open() bool { return x.Begun && !x.called && !x.Done }

// wish is a call as the model writes it: of those that the CLI refuses before it starts them,
// nothing else comes.
type wish struct {
	name      string
	arguments []byte
}

// maxWish is how many bytes of a wish are kept.
const maxWish = 4 << 10

// calls are the tool calls of a conversation. They belong to the loop.
type calls struct {
	c       *convo.Conversation
	reply   func(ctx context.Context, method, requestID string, result any)
	tools   *toolbox
	helpers *helpers
	// what looks at each call of the CLI's own or of ours that begins
	began []func(t *turn, x *execution, theirs string)
	ended func(x *execution, text string) // gets one of the CLI's own, with its result
}

type callDelta struct{ ToolCallID, ToolName, InputDelta string }

func (s *calls) wished(t *turn, d callDelta) {
	w := t.wished[d.ToolCallID]
	w.name = cmp.Or(d.ToolName, w.name)
	if len(w.arguments) < maxWish {
		w.arguments = append(w.arguments, d.InputDelta...)
	}
	t.wished[d.ToolCallID] = w
}

// shortID is what a provider's id may have at least to be believed to be unique in a session; some
// count from 0 in each answer.
const shortID = 16

// newCall returns a call that is new to us. Its id is unique in the session, and the CLI's where
// possible. A turn knows its own calls only.
func (t *turn) newCall(id string) *execution {
	x := &execution{Call: convo.Call{ID: id}}
	if len(id) < shortID {
		x.ID = t.Name + "-" + id
	}
	for base, n := x.ID, 2; t.made(x.ID); n++ {
		x.ID = base + "." + strconv.Itoa(n)
	}
	t.calls.Add(id, x)
	return x
}

// made reports whether the call that has an id of ours was made in t.
func (t *turn) made(id string) bool {
	return slices.ContainsFunc(t.calls.All(), func(x *execution) bool { return x.ID == id })
}

// running returns the call of the CLI's own that has an id and runs; nil if none does.
func (t *turn) running(id string) *execution {
	if x := t.calls.Get(id); x != nil && x.open() {
		return x
	}
	return nil
}

type toolCall struct {
	RequestID, ToolCallID, ToolName string
	Arguments                       json.RawMessage
}

func (s *calls) begins(t *turn, e cli.Event, d toolCall) {
	if d.ToolCallID != "" && d.ToolName != "" {
		s.start(t, e, d.ToolCallID, d.ToolName, d.Arguments)
	}
}

func (s *calls) start(t *turn, e cli.Event, id, name string, arguments json.RawMessage) *execution {
	x := t.calls.Get(id)
	if x == nil || x.called || x.Done {
		x = t.newCall(id)
	}
	if x.Begun {
		return x
	}
	delete(t.wished, id)
	x.Tool, x.Parent, x.at = name, s.helpers.call(e), time.Now()
	x.Args, _ = asObject(arguments)
	t.Begin(&x.Call)
	for _, look := range s.began {
		look(t, x, id)
	}
	return x
}

type toolProgress struct{ ToolCallID, ProgressMessage, PartialOutput string }

func (s *calls) progress(t *turn, d toolProgress) {
	if x := t.running(d.ToolCallID); x != nil {
		s.c.Report(event.ToolExecutionProgress{
			ToolCallID:      x.ID,
			ProgressMessage: wording.Cut(d.ProgressMessage, 400),
			ElapsedMs:       time.Since(x.at).Milliseconds(),
		})
	}
}

// printed makes an increment of the CLI's partial output, which is all of it so far. One more
// may come behind the end.
func (s *calls) printed(t *turn, d toolProgress) {
	x := t.running(d.ToolCallID)
	if x == nil {
		return
	}
	more, grew := strings.CutPrefix(d.PartialOutput, x.output)
	if !grew { // it was rewritten from some place on
		more = "\n" + d.PartialOutput
	}
	x.output = d.PartialOutput
	if more != "" {
		s.c.Report(event.ToolExecutionPartialResult{ToolCallID: x.ID, PartialOutput: more})
	}
}

type toolEnd struct {
	ToolCallID     string
	Success        bool
	Result         event.ToolResult
	Error          struct{ Message, Code string }
	ShellExecution struct{ ExitCode *int }
	ToolTelemetry  map[string]json.RawMessage
}

// ends also opens a call that the CLI refuses before it starts it: one whose arguments are null, a
// list or a number (1.0.102).
func (s *calls) ends(t *turn, e cli.Event, d toolEnd) {
	if w, wished := t.wished[d.ToolCallID]; wished {
		if !json.Valid(w.arguments) {
			w.arguments, _ = json.Marshal(string(w.arguments)) // a text always can be
		}
		s.start(t, e, d.ToolCallID, w.name, w.arguments)
	}
	x := t.running(d.ToolCallID)
	if x == nil {
		return
	}
	done, text := event.ToolExecutionComplete{Success: d.Success}, ""
	if code := d.ShellExecution.ExitCode; code != nil {
		if d.ToolTelemetry == nil {
			d.ToolTelemetry = map[string]json.RawMessage{}
		}
		d.ToolTelemetry["exitCode"] = strconv.AppendInt(nil, int64(*code), 10)
	}
	if len(d.ToolTelemetry) > 0 {
		done.ToolTelemetry, _ = json.Marshal(d.ToolTelemetry) // the session keeps its numbers
	}
	if d.Success {
		done.Result = readableResult(d.Result)
		text = done.Result.Content
	} else {
		done.Error = &event.ToolError{
			Message: cmp.Or(d.Error.Message, "The tool failed."),
			Code:    errorCode(d.Error.Code),
			Kind:    event.KindOfCode(d.Error.Code),
		}
	}
	t.Complete(&x.Call, done)
	s.ended(x, text)
}

// shellEnd is how the CLI's shell ends what it returns; the exit code is elsewhere, too.
var shellEnd = regexp.MustCompile(`\n?<shellId: \S+ completed with exit code -?\d+>\s*$`)

// readableResult is a result without what is for the CLI only, and without its copy.
func readableResult(r event.ToolResult) *event.ToolResult {
	r.Content = shellEnd.ReplaceAllString(r.Content, "")
	if r.DetailedContent = shellEnd.ReplaceAllString(r.DetailedContent,
		""); r.DetailedContent == r.Content {
		r.DetailedContent = ""
	}
	return &r
}

// errorCode is one of the codes the language of events has.
func errorCode(theirs string) string {
	if slices.Contains([]string{"failure", "denied", "rejected", "timeout", "aborted", "interrupted"},
		theirs) {
		return theirs
	}
	return "failure"
}

// requested has the session run one of its tools. Calls run beside each other.
func (s *calls) requested(t *turn, e cli.Event, d toolCall) {
	if d.ToolCallID == "" || !t.asks(d.RequestID) {
		return
	}
	x := s.start(t, e, d.ToolCallID, d.ToolName, d.Arguments)
	final := t.finals
	answer := func(r agent.Result) {
		n := nativeResult(r)
		if final.end(t.Ctx, r) {
			n.Type = "rejected" // the model reads it like any other
		}
		s.reply(t.Ctx, "session.tools.handlePendingToolCall", d.RequestID, n)
	}
	if !s.tools.owns(d.ToolName) {
		t.Spawn(func() {
			answer(agent.Failure(event.KindUnknownTool, "There is no tool '%s'.", d.ToolName))
		})
		return // the CLI reports the end
	}
	if x.called || x.Done {
		return
	}
	call := agent.ToolCall{
		ID:               x.ID,
		Name:             d.ToolName,
		Arguments:        d.Arguments,
		ParentToolCallID: x.Parent,
	}
	if len(call.Arguments) == 0 {
		call.Arguments = json.RawMessage("{}")
	}
	x.called = true
	t.Spawn(func() {
		res, err := s.c.Host.CallTool(t.Ctx, call)
		if err != nil {
			if t.Ctx.Err() != nil {
				return // the abort answers for us
			}
			res = agent.Failure(event.KindInternal, "The tool '%s' could not be run: %v", call.Name, err)
		}
		answer(res)
	})
}

// nativeResult is a tool's result in the CLI's words. "denied" has the model read the text and go
// on; "rejected" also ends the turn.
func nativeResult(r agent.Result) toolResult {
	n := toolResult{Text: r.TextForModel, Type: string(cmp.Or(r.Type, agent.Success)), Error: r.Error}
	if len(r.Binary) > 0 {
		n.Binary = r.Binary
	}
	if r.Type == agent.Failed && r.Kind == event.KindTimeout {
		n.Type = "timeout"
	}
	if n.Error == "" && n.Type != string(agent.Success) {
		n.Error = r.TextForModel
	}
	if t := r.Telemetry; t != nil {
		n.Telemetry = agent.Telemetry{
			OutputID: t.OutputID,
			Bytes:    t.Bytes,
			Lines:    t.Lines,
			ExitCode: t.ExitCode,
		}
	}
	return n
}

package page

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// call is a tool call: a row, or for a display tool the card of its output.
type call struct {
	ID, Tool string
	Kind     string // of card: file, terminal, image; empty for a row
	Args     json.RawMessage
	By       event.Actor
	Agent    string          // the helper agent that works in it
	State    string          // starting, running, done, failed
	Output   string          // its id
	Line     string          // what the model read; of a failure, what the user reads of it
	Log      string          // what only the user reads
	Fault    event.ToolError // why it failed
	Partial  string          // what a foreign tool wrote so far
	Took     time.Duration
	Tokens   int64 // that what the model read costs
	Asked    int   // open questions about it
	Refused  bool
	Allowed  *ask      // the rule that allowed it, if one did
	Rewrites []rewrite // what hooks changed in its arguments

	Given     int64    // tokens of it that the user let the agent read
	GivenOf   []string // which lines; "" is all of it
	telemetry telemetry
	print     *event.Fingerprint
	shownAt   time.Time
	before    *call // the display of the same before it, and the one after it
	later     *call
	progress  event.ToolExecutionProgress
	started   time.Time
	at        time.Time // when it was over
	rev       int64
	gone      bool // its turn is not kept any more
	early     bool // its start was not seen, a helper agent's was
	node      *node
	el        string
	f         *fold
	now       json.RawMessage // its arguments as hooks left them; nil: as they came
}

// telemetry is what a display tool says beside its result.
type telemetry struct {
	OutputType      string `json:"outputType"`
	Bytes           int64  `json:"bytes"`
	Lines           int64  `json:"lines"`
	TokensShown     int64  `json:"tokensShown"`
	TokensSent      int64  `json:"tokensSent"`
	TokensEstimated bool   `json:"tokensEstimated"`
	ExitCode        *int   `json:"exitCode"`
}

const (
	maxPartial = 8 << 10  // of a foreign tool's running output
	maxShown   = 16 << 10 // of arguments and results in an unfolded row
	maxOutputs = 200      // rows of the shelf
)

// displays are the tools whose call is a card.
var displays = map[string]string{
	"render_file_contents": "file",
	"run_and_display":      "terminal",
	"display_image":        "image",
}

// kindOf finds a display tool under the longer name an agent may give it.
func kindOf(tool string) string {
	if k, ok := displays[tool]; ok {
		return k
	}
	for name, k := range displays {
		rest, ok := strings.CutSuffix(tool, name)
		if ok && (strings.HasSuffix(rest, "-") || strings.HasSuffix(rest, "_") || strings.HasSuffix(rest, "/")) {
			return k
		}
	}
	return ""
}

// awaited reports a display call that has nothing to show yet.
func (c *call) awaited() bool { return c.Kind != "" && c.State == "starting" }

// Done reports whether it is over.
func (c *call) Done() bool { return c.State == "done" || c.State == "failed" }

// Hidden says that a question or its answer stands for the call.
func (c *call) Hidden() bool { return c.Asked > 0 || c.Refused }

// El is the id of the row or card.
func (c *call) El() string { return c.el + ".r" }

func (f *fold) callStart(d event.ToolExecutionStart) {
	if n := f.nodes["c-"+d.ToolCallID]; n != nil { // a helper agent's name may come first
		if n.Call.early {
			n.Call.Tool, n.Call.Args, n.Call.By, n.Call.early = d.ToolName, d.Arguments, d.By, false
			f.callChanged(n)
			f.askChanged(d.ToolCallID)
			f.ledgerChanged()
		}
		return
	}
	var at *node
	if d.By != event.ByUser {
		at = f.place(d.ParentToolCallID) // before the call exists: it must not be in itself
	}
	n := f.newCall(d.ToolCallID, d.ToolName, d.Arguments, d.By)
	switch {
	case d.By == event.ByUser:
		t := f.addTurn(&turn{Prompt: command(n.Call), State: "running", Look: true, At: f.now}, elementID("d-", d.ToolCallID))
		f.add(t, n)
	case n.Call.Kind != "":
		f.add(at, n)
	default:
		f.addStep(at, n)
	}
	f.askChanged(d.ToolCallID)
}

func (f *fold) newCall(id, tool string, args json.RawMessage, by event.Actor) *node {
	n := f.node(elementID("c-", id))
	n.Call = &call{ID: id, Tool: tool, Kind: kindOf(tool), Args: args, By: by, State: "starting", started: f.now, node: n, el: n.ID, f: f}
	f.nodes["c-"+id] = n
	return n
}

// command is how the user asked for a display of their own.
func command(c *call) string {
	switch c.Kind {
	case "terminal":
		return "/run " + c.Name()
	case "image":
		return "/image " + wording.Plain(c.Name())
	}
	return "/show " + wording.Plain(c.Name())
}

// callChanged shows a call's row or card again; what happens inside of it stays.
func (f *fold) callChanged(n *node) {
	f.stepChanged(n)
	f.batch.part(n, n.Call.El(), "call.view", n.Call)
}

func (f *fold) callProgress(d event.ToolExecutionProgress) {
	if d.OutputID != "" && !f.ledger.growing[d.ToolCallID] {
		f.ledger.growing[d.ToolCallID] = true
		f.ledgerChanged()
	}
	if c := f.lost[d.ToolCallID]; c != nil {
		f.showLost(c, d.OutputID)
	}
	n := f.nodes["c-"+d.ToolCallID]
	if n == nil || n.Call.Done() {
		return
	}
	c := n.Call
	first := c.State != "running" || c.Output == ""
	c.progress = d
	if d.OutputID != "" && c.Output == "" {
		c.Output = d.OutputID
		if c.Kind == "" {
			c.Kind = "terminal"
		}
		f.shown(c)
	}
	if c.Output == "" {
		if d.ProgressMessage != "" {
			f.callChanged(n)
		}
		return
	}
	c.State = "running"
	if first {
		f.callChanged(n)
		return
	}
	f.touch(n)
	f.far(n, "attr", c.El(), "data-lines", itoa(d.Lines))
	f.far(n, "attr", c.El(), "data-bytes", itoa(d.Bytes))
	f.far(n, "attr", c.El(), "data-elapsed", itoa(d.ElapsedMs))
	f.far(n, "text", c.el+".t", "", c.Following())
	f.far(n, "text", c.el+".e", "", c.Elapsed())
	f.far(n, "text", c.el+".s", "", c.Elapsed()+" · nothing sent yet")
}

// far shows how far a running call is, unless its card is shown again anyway.
func (f *fold) far(n *node, action, target, name, value string) {
	f.batch.add(change{action: action, target: target, within: n.Call.El(), owner: n, name: name, value: &value})
}

func (f *fold) callPartial(d event.ToolExecutionPartialResult) {
	n := f.nodes["c-"+d.ToolCallID]
	if n == nil || n.Call.Done() {
		return
	}
	c := n.Call
	c.Partial += d.PartialOutput
	if over := len(c.Partial) - maxPartial; over > 0 {
		c.Partial = strings.ToValidUTF8(c.Partial[over:], "")
	}
	f.callChanged(n)
}

func (f *fold) callComplete(d event.ToolExecutionComplete) {
	var t telemetry
	_ = json.Unmarshal(d.ToolTelemetry, &t) // a foreign tool's may have any shape
	delete(f.ledger.growing, d.ToolCallID)
	if d.OutputID != "" {
		f.ledger.show(t)
	}
	f.ledgerChanged()
	n := f.nodes["c-"+d.ToolCallID]
	if c := f.lost[d.ToolCallID]; c != nil {
		f.showLost(c, d.OutputID)
		c.State = "done"
		delete(f.lost, c.ID)
	}
	if n == nil || n.Call.Done() {
		return
	}
	c := n.Call
	c.telemetry = t
	c.print, c.at = d.Fingerprint, f.now
	c.State, c.Took, c.Partial, c.rev = "done", time.Duration(d.DurationMs)*time.Millisecond, "", f.seq
	if d.Result != nil {
		c.Line, c.Log = d.Result.Content, d.Result.DetailedContent
	}
	if !d.Success {
		c.State = "failed"
		if d.Error != nil {
			c.Line, c.Fault = d.Error.Message, *d.Error
		}
	}
	if d.OutputID != "" {
		if t := c.telemetry.OutputType; c.Kind == "" && (t == "file" || t == "terminal" || t == "image") {
			c.Kind = t
		}
		if c.Output == "" {
			f.shown(c)
		}
		c.Output = d.OutputID
		c.shownAt = f.now
		f.showings.next(c)
	}
	c.Tokens = cmp.Or(d.ResultTokens, c.telemetry.TokensSent)
	f.callChanged(n)
	if c.Kind != "" && !c.Hidden() {
		f.batch.say("say", wording.FirstLine(c.Line, 200))
	}
	if c.By == event.ByUser {
		if t := n.parent; t.Turn != nil && t.Turn.Message == "" && t.Turn.Running() {
			f.setTurn(t, string(event.Completed))
		}
	}
}

// shown puts a call's output into the rail.
func (f *fold) shown(c *call) {
	f.outputs = append(slices.DeleteFunc(f.outputs, f.passed), c)
	if over := len(f.outputs) - maxOutputs; over > 0 {
		f.outputs = append(f.outputs[:0:0], f.outputs[over:]...)
	}
	f.ledgerChanged()
}

// unshow takes a call that is forgotten out of what later displays are compared with.
// In the rail it stays as long as its output can be read.
func (f *fold) unshow(c *call) {
	c.gone = true
	if !c.Done() {
		f.lost[c.ID] = c
	}
	if c.Output != "" {
		f.ledgerChanged()
	}
	if later := f.showings.forget(c); later != nil {
		if n := f.nodes["c-"+later.ID]; n != nil && n.Call == later {
			f.callChanged(n)
		}
	}
}

// showLost puts the output of a call whose turn is not kept any more into the rail.
func (f *fold) showLost(c *call, output string) {
	if output != "" && c.Output == "" {
		c.Output = output
		f.shown(c)
	}
}

// helper says what a helper agent does in a call, which may not be known yet.
func (f *fold) helper(id, name, state, problem string) {
	n := f.nodes["c-"+id]
	if n == nil {
		n = f.newCall(id, "task", nil, event.ByAgent)
		n.Call.Agent, n.Call.early = name, true
		f.addStep(f.place(""), n)
	}
	c := n.Call
	c.Agent = name
	if !c.Done() {
		c.State = state
		if state != "running" {
			c.Line, c.rev = problem, f.seq
		}
		if c.Output != "" {
			f.ledgerChanged()
		}
	}
	f.callChanged(n)
}

// Following is the line below a command that runs.
func (c *call) Following() string {
	p := c.progress
	s := "Following · " + wording.Plural(p.Lines, "line")
	if p.ElapsedMs > 0 && p.Bytes > 0 {
		s += " · " + wording.Size(p.Bytes*1000/p.ElapsedMs) + "/s"
	}
	return s
}

// Elapsed is how long it has been running.
func (c *call) Elapsed() string {
	return wording.Clock(time.Duration(c.progress.ElapsedMs) * time.Millisecond)
}

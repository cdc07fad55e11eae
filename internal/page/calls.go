package page

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"webchat/internal/displays"
	"webchat/internal/event"
)

const maxPartial = 8 << 10 // bytes of a foreign tool's running output

// calls are the calls of tools, what hooks decide about them, and what the sandbox refuses them.
type calls struct {
	*core
	ledger    *ledger
	shelf     *shelf
	questions *questions
	waits     *waits
}

func (f *calls) start(d event.ToolExecutionStart) {
	if n := f.nodes["c-"+d.ToolCallID]; n != nil { // a helper agent's name may come first
		if n.Call.Early {
			n.Call.Tool, n.Call.Args, n.Call.By, n.Call.Early = d.ToolName, d.Arguments, d.By, false
			f.callChanged(n)
			f.questions.callChangedAt(d.ToolCallID)
			f.ledgerChanged()
		}
		return
	}
	var at *node
	if d.By != event.ByUser {
		at = f.container(d.ParentToolCallID) // before the call exists: it must not be in itself
	}
	n := f.begin(d.ToolCallID, d.ToolName, d.Arguments, d.By)
	switch {
	case d.By == event.ByUser:
		t := f.addTurn(&turn{Prompt: n.Call.opened(), State: "running", Look: true, At: f.now},
			elementID("d-", d.ToolCallID))
		f.add(t, n)
	case n.Call.Kind != "":
		f.add(at, n)
	default:
		f.addStep(at, n)
	}
	f.questions.callChangedAt(d.ToolCallID)
}

func (f *calls) begin(id, tool string, args json.RawMessage, by event.Actor) *node {
	n := f.node(elementID("c-", id))
	n.Call = &Call{
		ID:        id,
		Tool:      tool,
		Kind:      toolOf(tool).Kind,
		Args:      args,
		By:        by,
		State:     "starting",
		StartedAt: f.now,
		Element:   n.ID,
		In:        f.cards,
	}
	f.nodes["c-"+id] = n
	f.waits.began(n)
	return n
}

// callChanged shows a call's row or card again; what happens inside of it stays.
func (f *core) callChanged(n *node) { f.stepChanged(n, own) }

func (f *calls) progress(d event.ToolExecutionProgress) {
	if d.OutputID != "" && !f.ledger.growing[d.ToolCallID] {
		f.ledger.growing[d.ToolCallID] = true
		f.ledgerChanged()
	}
	if c := f.shelf.lost[d.ToolCallID]; c != nil {
		f.shelf.showLost(c, d.OutputID)
	}
	n := f.nodes["c-"+d.ToolCallID]
	if n == nil || n.Call.Done() {
		return
	}
	c := n.Call
	first := c.State != "running" || c.Output == ""
	c.Progress = d
	if d.OutputID != "" && c.Output == "" {
		c.Output, c.Kind = d.OutputID, cmp.Or(c.Kind, displays.Terminal)
		f.shelf.put(c)
	}
	switch {
	case c.Output == "" && d.ProgressMessage == "":
	case c.Output == "", first:
		f.callChanged(n)
	default:
		f.show(n, running)
	}
	if c.Output != "" {
		c.State = "running"
	}
}

func (f *calls) partial(d event.ToolExecutionPartialResult) {
	n := f.nodes["c-"+d.ToolCallID]
	if n == nil || n.Call.Done() {
		return
	}
	c := n.Call
	c.Partial = lastOf(c.Partial+d.PartialOutput, maxPartial)
	f.callChanged(n)
}

func (f *calls) complete(d event.ToolExecutionComplete) {
	var t Telemetry
	_ = json.Unmarshal(d.ToolTelemetry, &t) // a foreign tool's may have any shape
	delete(f.ledger.growing, d.ToolCallID)
	f.ledgerChanged()
	n := f.nodes["c-"+d.ToolCallID]
	if c := f.shelf.lost[d.ToolCallID]; c != nil {
		f.shelf.showLost(c, d.OutputID)
		c.State = "done"
		delete(f.shelf.lost, c.ID)
	}
	if n == nil || n.Call.Done() {
		return
	}
	c := n.Call
	c.Telemetry = t
	c.Fingerprint, c.EndedAt, c.endSeq = d.Fingerprint, f.now, f.Seq
	c.State, c.Took, c.Partial, c.Rev = "done", time.Duration(d.DurationMs)*time.Millisecond, "", f.Seq
	if c.Took > c.Waited { // else it was measured without
		c.Took -= c.Waited
	}
	if d.Result != nil {
		c.Line, c.Log, c.Edits = d.Result.Content, d.Result.DetailedContent, d.Result.Edits
	}
	if !d.Success {
		c.State = "failed"
		if d.Error != nil {
			c.Line, c.Fault = d.Error.Message, *d.Error
			if c.By == event.ByUser && d.Error.Kind == event.KindDenied &&
				d.Error.By == event.DecidedByUser {
				c.Line = "Denied by you" // the sentence is for a model
			}
		}
	}
	if d.OutputID != "" {
		if t := c.Telemetry.OutputType; c.Kind == "" && displays.IsKind(t) {
			c.Kind = t
		}
		if c.Output == "" {
			f.shelf.put(c)
		}
		c.Output = d.OutputID
		c.ShownAt = f.now
		f.shelf.showings.next(c)
	}
	c.Tokens = cmp.Or(d.ResultTokens, c.Telemetry.TokensSent)
	f.callChanged(n)
	if c.Kind != "" && !c.Hidden() {
		f.say(announced(c))
	}
	if c.By == event.ByUser {
		if t := n.parent; t.Turn != nil && t.Turn.Message == "" && t.Turn.Running() {
			f.setTurn(t, string(event.Completed))
		}
	}
}

// forget takes a call that is forgotten out of what later displays are compared with.
// In the rail it stays as long as its output can be read.
func (f *shelf) forget(c *Call) {
	c.Gone = true
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

// showLost puts the output of a call whose turn is no longer kept into the rail.
func (f *shelf) showLost(c *Call, output string) {
	if output != "" && c.Output == "" {
		c.Output = output
		f.put(c)
	}
}

// helper says what a helper agent does in a call, which may not be known yet.
func (f *calls) helper(id, name, state, problem string) {
	n := f.nodes["c-"+id]
	if n == nil {
		n = f.begin(id, "task", nil, event.ByAgent)
		n.Call.Agent, n.Call.Early = name, true
		f.addStep(f.container(""), n)
	}
	c := n.Call
	c.Agent = name
	if !c.Done() {
		c.State = state
		if state != "running" {
			c.Line, c.Rev = problem, f.Seq
		}
		if c.Output != "" {
			f.ledgerChanged()
		}
	}
	f.callChanged(n)
}

// deleted takes what the user deleted off the shelf and out of its card.
func (f *shelf) deleted(d event.OutputDeleted) {
	if c := f.shownAs(d.OutputID); c != nil {
		c.DeletedAt = f.now
		f.ledgerChanged()
		f.revise(c)
	}
}

// reread puts the output by which a file was read again in the place of the one that is gone.
func (f *shelf) reread(d event.OutputReread) {
	c := f.shownAs(d.OutputID)
	if c == nil {
		return
	}
	var t Telemetry
	_ = json.Unmarshal(d.ToolTelemetry, &t) // it is our own tool's
	was := revision{c.Output, c.StartedAt, false}
	if c.again != nil {
		was.at, was.agent = c.again.at, c.again.agent
	}
	if c.former = append(c.former, was); len(c.former) > mostRevisions {
		c.former = slices.Delete(c.former, 1, 2)
	}
	c.Output, c.DeletedAt, c.again = d.NewOutputID, time.Time{},
		&reread{t, d.Fingerprint, f.now, f.editedSince(c.Name(), was.at)}
	f.former[d.OutputID] = c
	f.ledgerChanged()
	f.revise(c)
}

// editedSince reports whether the agent had an edit of a file at work since a time.
func (f *shelf) editedSince(name string, at time.Time) bool {
	for _, n := range f.nodes {
		if c := n.Call; c != nil && c.State != "failed" && (!c.Done() || c.EndedAt.After(at)) &&
			c.editsFile(name) {
			return true
		}
	}
	return false
}

// attached counts what a prompt lets the agent read of what was shown.
func (f *shelf) attached(list []event.Attachment) {
	for _, a := range list {
		if a.OutputID == "" || a.Mention {
			continue
		}
		if c := f.shownAs(a.OutputID); c != nil {
			c.Given.add(a.Lines, c.Telemetry)
			f.revise(c)
		}
	}
}

// revise shows a call again if its turn is kept.
func (f *shelf) revise(c *Call) {
	if n := f.nodes["c-"+c.ID]; n != nil {
		c.Rev = f.Seq
		f.callChanged(n)
	}
}

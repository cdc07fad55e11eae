package calls

import (
	"encoding/json"
	"maps"
	"slices"

	"webchat/internal/event"
)

const (
	longest = 4096 // bytes of a path or a command that is held: more than a file system has
	brief   = 80   // characters of a prompt
)

// Index is what a log holds. The zero value is that of an empty log.
type Index struct {
	last    int64
	calls   []call
	newest  map[string]int     // calls by id, of several the one that began last
	open    map[string]pending // of calls that have not ended, by id
	outputs []output
	shown   map[string]int // outputs by each id that they had
	asked   map[string]Request
	edits   []Edit
	tasks   map[string]bool
	ran     map[digest]bool // commands that agents asked for
	turns   []Turn
	prompts []Prompt
	back    Back
	sent    map[string]int // prompts by id
	waits   map[string]int64
	answers string // the id of the prompt of the last turn
}

// Last is the sequence of the last event that was added.
func (x *Index) Last() int64 { return x.last }

// Add takes the next event of the log. One that does not follow the last, or is not logged, changes
// nothing.
func (x *Index) Add(e event.Entry) {
	if e.Event.Ephemeral || e.Seq != x.last+1 {
		return
	}
	if x.last == 0 {
		x.newest, x.open, x.shown = map[string]int{}, map[string]pending{}, map[string]int{}
		x.asked, x.tasks, x.ran = map[string]Request{}, map[string]bool{}, map[digest]bool{}
		x.sent, x.waits = map[string]int{}, map[string]int64{}
	}
	x.last = e.Seq
	switch d := e.Event.Data.(type) {
	case event.ToolExecutionStart:
		x.begin(e, d)
	case event.ToolExecutionComplete:
		x.end(e, d)
	case event.OutputReread:
		x.reread(e, d)
	case event.OutputOpened:
		if i := x.shown[d.OutputID]; i > 0 {
			x.outputs[i-1].opened = true
		}
	case event.OutputDeleted:
		if i := x.shown[d.OutputID]; i > 0 && x.outputs[i-1].id == d.OutputID {
			x.outputs[i-1].deleted = true
		}
	case event.PermissionRequested:
		x.asked[d.RequestID] = Request{Asked: e.Seq, Held: event.IsHeld(d)}
		x.ask(e, d)
	case event.UserInputRequested:
		x.asked[d.RequestID] = Request{Asked: e.Seq}
	case event.PermissionCompleted:
		x.answer(e, d.RequestID, d.By)
	case event.UserInputCompleted:
		x.answer(e, d.RequestID, d.By)
	case event.SandboxRefused:
		x.refuse(e, d)
	case event.TaskStarted:
		x.tasks[d.TaskID] = true
	default:
		x.converse(e)
	}
}

// converse takes prompts and messages, and the turns they make.
func (x *Index) converse(e event.Entry) {
	switch d := e.Event.Data.(type) {
	case event.UserMessage:
		p := Prompt{ID: d.MessageID, Seq: e.Seq, Line: line(d.Content)}
		x.waits[p.ID] = e.Seq
		x.prompts = append(x.prompts, p)
		x.sent[p.ID] = len(x.prompts)
	case event.UserMessageWithdrawn:
		delete(x.waits, d.MessageID)
	case event.TurnStart:
		t := Turn{
			ID:    d.TurnID,
			From:  e.Seq,
			Line:  line(d.Cause),
			At:    e.Event.Timestamp,
			Start: e.Seq,
			Was:   d.Snapshot,
			Own:   d.By == event.ByAgent,
		}
		if p := x.prompt(d.MessageID); p != nil {
			p.Turn, p.Waited = e.Seq, slices.Sorted(maps.Values(x.waits))
			t.From, t.Line = p.Seq, p.Line
		}
		x.answers = d.MessageID
		delete(x.waits, d.MessageID)
		x.turns = append(x.turns, t)
	case event.TurnEnd:
		if t := x.turn(); t != nil {
			t.End, t.Outcome, t.Left, t.NoSnapshot, t.Changed = e.Seq, d.Outcome, d.Snapshot, d.NoSnapshot,
				d.Changed > 0
		}
		for _, id := range d.Steered {
			delete(x.waits, id)
		}
	case event.SessionRewound:
		x.rewind(e, d)
	case event.SessionBranched:
		for i := range x.prompts {
			x.prompts[i].Taken = true
		}
	case event.AssistantTurnStart:
		if t := x.turn(); t != nil && !t.Own {
			x.back.Answered = e.Seq
		}
		if p := x.prompt(x.answers); p != nil && d.PromptID != "" {
			p.Agent = d.PromptID
		}
	}
}

// turn is the one that runs; nil: none does.
func (x *Index) turn() *Turn {
	if n := len(x.turns); n > 0 && x.turns[n-1].End == 0 {
		return &x.turns[n-1]
	}
	return nil
}

func (x *Index) prompt(id string) *Prompt {
	if i := x.sent[id]; i > 0 && id != "" {
		return &x.prompts[i-1]
	}
	return nil
}

func (x *Index) begin(e event.Entry, d event.ToolExecutionStart) {
	c := call{
		Call:    Call{ID: d.ToolCallID, Tool: d.ToolName, By: d.By, Start: e.Seq},
		began:   e.Event.Timestamp,
		earlier: x.newest[d.ToolCallID],
	}
	if t := x.turn(); t != nil {
		c.Turn = t.Start
	}
	args := argumentsOf(d.Arguments)
	_ = json.Unmarshal(args.Command, &c.command) // it may be a list of words
	if c.path = args.Path; len(c.path) > longest || len(c.command) > longest {
		c.path, c.command, c.long = "", "", true
	}
	if d.By == event.ByAgent {
		x.ran[digestOf(args.command())] = true
	}
	if c.file, c.shell = args.file(), args.shell(); len(c.file) > longest {
		c.file = ""
	}
	x.calls = append(x.calls, c)
	x.newest[c.ID] = len(x.calls)
}

func (x *Index) end(e event.Entry, d event.ToolExecutionComplete) {
	i := x.newest[d.ToolCallID]
	if i == 0 || x.calls[i-1].End > 0 { // it may be reported without its start
		x.calls = append(x.calls, call{Call: Call{ID: d.ToolCallID}, earlier: i})
		i = len(x.calls)
		x.newest[d.ToolCallID] = i
	}
	c := &x.calls[i-1]
	asked := x.open[d.ToolCallID]
	c.End, c.Secret = e.Seq, asked.secret
	delete(x.open, d.ToolCallID)
	x.edit(e, d, c, asked)
	if d.OutputID == "" {
		return
	}
	at := x.shown[d.OutputID]
	if at == 0 {
		x.outputs = append(x.outputs, output{})
		at = len(x.outputs)
		x.shown[d.OutputID] = at
	}
	o := &x.outputs[at-1]
	*o = output{
		id:     d.OutputID,
		call:   i,
		at:     e.Event.Timestamp,
		made:   made(d.ToolTelemetry),
		opened: o.opened,
	}
}

func (x *Index) reread(e event.Entry, d event.OutputReread) {
	i := x.shown[d.OutputID]
	if i == 0 { // the log does not say what it was
		x.outputs = append(x.outputs, output{})
		i = len(x.outputs)
	}
	o := &x.outputs[i-1]
	x.shown[d.NewOutputID] = i
	*o = output{
		id:     d.NewOutputID,
		call:   o.call,
		at:     e.Event.Timestamp,
		made:   made(d.ToolTelemetry),
		opened: o.opened,
	}
}

// ask notes what is asked about a call.
func (x *Index) ask(e event.Entry, d event.PermissionRequested) {
	if d.ToolCallID == "" {
		return
	}
	p := x.open[d.ToolCallID]
	if d.Sensitive {
		p.secret = e.Seq
	}
	if d.Diff != "" {
		p.diff, p.names = e.Seq, namesOf(EditsOf(d))
	}
	if p.secret+p.diff > 0 {
		x.open[d.ToolCallID] = p
	}
}

func (x *Index) answer(e event.Entry, id string, by event.Decider) {
	if r, ok := x.asked[id]; ok {
		r.Done, r.By = e.Seq, by
		x.asked[id] = r
	}
}

func (x *Index) refuse(e event.Entry, d event.SandboxRefused) {
	if i := x.newest[d.ToolCallID]; i > 0 && slices.Contains(d.Offers, event.OfferOutside) {
		x.calls[i-1].Outside = true
	}
	if t := x.turn(); t != nil && d.Write && d.Kind == event.RefusedPath {
		t.Refused = append(t.Refused, e.Seq)
	}
}

// Call returns the call of an id, of several the one that began last.
func (x *Index) Call(id string) (Call, bool) {
	if i := x.newest[id]; i > 0 {
		return x.calls[i-1].Call, true
	}
	return Call{}, false
}

// Ended returns the first call of an id that ended at an event or later. An agent may use an id
// again in a later turn.
func (x *Index) Ended(id string, from int64) (c Call, ok bool) {
	for i := x.newest[id]; i > 0; i = x.calls[i-1].earlier {
		if call := x.calls[i-1].Call; call.End > 0 && call.End >= from {
			c, ok = call, true
		}
	}
	return c, ok
}

// Output returns the output that has an id, or had it before it was read again.
func (x *Index) Output(id string) (Output, bool) {
	if i := x.shown[id]; i > 0 {
		return x.output(x.outputs[i-1]), true
	}
	return Output{}, false
}

// Outputs are those that a call is known to have shown, in the order in which they were made first.
func (x *Index) Outputs() (all []Output) {
	for _, o := range x.outputs {
		if output := x.output(o); output.Call.Start > 0 {
			all = append(all, output)
		}
	}
	return all
}

func (x *Index) output(o output) Output {
	out := Output{ID: o.id, At: o.at, Made: o.made, Opened: o.opened, Deleted: o.deleted}
	if o.call > 0 {
		c := x.calls[o.call-1]
		out.Call, out.Began, out.Path, out.Command, out.Long = c.Call, c.began, c.path, c.command, c.long
	}
	return out
}

// Prompt returns the prompt of an id.
func (x *Index) Prompt(id string) (Prompt, bool) {
	if p := x.prompt(id); p != nil {
		return *p, true
	}
	return Prompt{}, false
}

// Prompts are those of the log, in its order.
func (x *Index) Prompts() []Prompt { return slices.Clone(x.prompts) }

// Turns are those of the log, in its order.
func (x *Index) Turns() []Turn { return slices.Clone(x.turns) }

// Request returns the question of an id.
func (x *Index) Request(id string) (Request, bool) {
	r, ok := x.asked[id]
	return r, ok
}

// Task reports whether a task of that id was started.
func (x *Index) Task(id string) bool { return x.tasks[id] }

// Asked reports whether an agent asked for the command among the arguments of a call, with any
// tool.
func (x *Index) Asked(arguments json.RawMessage) bool {
	c := argumentsOf(arguments).command()
	return c != "" && x.ran[digestOf(c)]
}

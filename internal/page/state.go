package page

import (
	"hash/fnv"
	"strconv"
	"time"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// State is the state of one session as a page shows it. It is fed events in
// order; what they change is collected in its batch.
type State struct {
	cfg      *ProjectorConfig
	cards    *CardSession
	batch    batch
	root     *node // its children are turns
	Seq      int64 // of the last logged event
	first    int64 // of the first event of the first turn that is kept
	keep     int64 // the turn of this event and those after it are kept, however many; 0: none
	hasFirst bool
	weight   int // of the turns that are kept

	ids     map[uint64]bool  // of the nodes there are and were lately, hashed
	past    [][]uint64       // those of the turns forgotten last
	nodes   map[string]*node // calls, messages, questions and hooks by the id events use
	current *node            // the turn that runs, if any
	queued  map[string]*node // prompts whose turn has not started, by message id
	held    bool             // they wait for the user

	title, Backend, Model string
	Status                event.Status
	asks                  *node   // the open questions, which stand in the dock
	tasks                 []*task // what runs in the background
	todos                 []event.Todo
	left                  func(seq int64) bool // which events the agent was made to forget, as far as that was known at first
	effort                string               // how hard the model thinks
	instructions          []string             // files the agent loads, until the first turn says so
	ledger                ledger
	outputs               []*Call          // in the order shown; the last ones only
	lost                  map[string]*Call // those that run, and whose turn is not kept
	showings              Showings
	now                   time.Time
	unlogged              bool // the event at hand
	damaged               damaged
	Trouble               string // the log cannot be written
}

func NewState(cfg *ProjectorConfig) *State {
	return &State{cfg: cfg, cards: &CardSession{CardConfig: &cfg.CardConfig, Window: window}, root: &node{ID: "turns"}, asks: &node{ID: "asks"}, ids: map[uint64]bool{}, nodes: map[string]*node{}, showings: Showings{}, lost: map[string]*Call{}, ledger: ledger{growing: map[string]bool{}, begun: new(false)}, queued: map[string]*node{}, Status: event.Idle}
}

// apply folds one event.
func (f *State) apply(e event.Entry) {
	f.now, f.unlogged = e.Event.Timestamp, e.Event.Ephemeral
	if logged(e) {
		f.Seq = max(f.Seq, e.Seq)
	}
	if !f.hasFirst && e.Seq > 0 {
		f.hasFirst, f.first = true, e.Seq
	}
	f.fillChanged(e.Event.Data)
	if !f.session(e.Event.Data) && !f.speech(e.Event.Data) && !f.tools(e.Event.Data) && !f.background(e.Event.Data) {
		f.consent(e.Event.Data)
	}
	f.setStatus()
	if logged(e) {
		f.addWeight(e.Event.Data)
	}
	f.trim()
}

// logged reports whether e stands in the log: an error about the log itself
// does not, although errors otherwise do.
func logged(e event.Entry) bool { return !e.Event.Ephemeral && e.Seq > 0 }

// setTrouble shows that the log cannot be written, until it can again.
func (f *State) setTrouble(text string) {
	if text == f.Trouble {
		return
	}
	f.Trouble = text
	f.batch.part(nil, "trouble", "trouble", func() any { return f.Trouble })
	if text != "" {
		f.batch.announce("alert", text)
	}
}

// troubleChanged folds an error about the log, which cannot be in it.
func (f *State) troubleChanged(d event.SessionError) {
	if d.ErrorType == event.ErrorSaved {
		f.setTrouble("")
		f.batch.announce("say", d.Message)
		return
	}
	f.setTrouble(d.Message)
}

// session folds what concerns the session and its turns.
func (f *State) session(data event.Data) bool {
	switch d := data.(type) {
	case event.SessionStart:
		f.ledger.counted = true
		f.setBackend(d.Backend, d.Model)
		f.setTitle(d.Title)
		f.cards.Cwd = d.Context.Cwd
		if !d.InstructionsSeen {
			f.instructions = d.Instructions
		}
	case event.SessionResume:
		f.setBackend(d.Backend, d.Model)
		f.cards.Cwd = d.Context.Cwd
	case event.SessionTitleChanged:
		f.setTitle(d.Title)
	case event.SessionModelChange:
		f.modelChanged(d)
	case event.SessionModeChanged:
		f.modeChanged(d)
	case event.SessionRewound:
		f.rewound(d)
	case event.SessionBranched:
		f.branched(d)
	case event.SessionDamaged:
		f.damagedAt(d)
	case event.SessionTodosChanged:
		f.todosChanged(d)
	case event.UserMessage:
		f.prompt(d)
	case event.UserMessageWithdrawn:
		f.withdrawn(d)
	case event.TurnStart:
		f.turnStart(d)
	case event.TurnEnd:
		f.turnEnd(d)
	case event.SessionError:
		if f.unlogged {
			f.troubleChanged(d)
			break
		}
		if d.Kind == event.KindRetrying {
			f.retrying(d)
			break
		}
		f.note("is-fail", "alert", d.Message).Note.failure(d)
		f.batch.announce("say", d.Message)
	case event.SessionCompactionStart:
		f.note("", "again", "Making room: the conversation so far is being summed up")
	case event.SessionCompactionComplete:
		f.note("", "again", "The conversation so far was summed up for the model. Here nothing is lost")
	case event.SessionTruncation:
		f.note("", "again", "The oldest part no longer fits the model. Here nothing is lost")
	case event.SessionShutdown:
		f.held = true
		f.countUsage(d.Usage)
		f.queueChanged()
	case event.Abort:
		f.held = true
		f.queueChanged()
		f.note("is-ask", "stop", stopped(d))
	default:
		return false
	}
	return true
}

// speech folds what the model says.
func (f *State) speech(data event.Data) bool {
	switch d := data.(type) {
	case event.AssistantTurnStart:
		f.nameKnown(d)
	case event.AssistantUsage:
		f.quotaChanged(d.QuotaSnapshots)
	case event.AssistantMessageDelta:
		f.messageDelta("m-", d.MessageID, d.ParentToolCallID, d.Offset, d.DeltaContent, false)
	case event.AssistantReasoningDelta:
		f.messageDelta("r-", d.ReasoningID, d.ParentToolCallID, d.Offset, d.DeltaContent, true)
	case event.AssistantMessageDiscarded:
		f.messageDiscarded("m-", d.MessageID)
	case event.AssistantMessage:
		f.messageComplete("m-", d.MessageID, d.ParentToolCallID, d.Content, d.Partial, false)
	case event.AssistantReasoning:
		f.messageComplete("r-", d.ReasoningID, d.ParentToolCallID, d.Content, false, true)
	default:
		return false
	}
	return true
}

// tools folds tool calls, hooks and helper agents.
func (f *State) tools(data event.Data) bool {
	switch d := data.(type) {
	case event.ToolExecutionStart:
		f.callStart(d)
	case event.ToolExecutionProgress:
		f.callProgress(d)
	case event.ToolExecutionPartialResult:
		f.callPartial(d)
	case event.ToolExecutionComplete:
		f.callComplete(d)
	case event.OutputDeleted:
		f.outputDeleted(d)
	case event.HookStart:
		f.hookStart(d)
	case event.HookEnd:
		f.hookEnd(d)
	case event.SubagentSelected:
		f.helper(d.ToolCallID, d.AgentName, "running", "")
	case event.SubagentStarted:
		f.helper(d.ToolCallID, d.AgentName, "running", "")
	case event.SubagentCompleted:
		f.helper(d.ToolCallID, d.AgentName, "done", "")
	case event.SubagentFailed:
		f.helper(d.ToolCallID, d.AgentName, "failed", d.Error)
	default:
		return false
	}
	return true
}

// background folds what the agent left running.
func (f *State) background(data event.Data) bool {
	switch d := data.(type) {
	case event.TaskStarted:
		f.taskStarted(d)
	case event.TaskOutput:
		f.taskOutput(d)
	case event.TaskCompleted:
		f.taskCompleted(d)
	default:
		return false
	}
	return true
}

func (f *State) consent(data event.Data) {
	switch d := data.(type) {
	case event.PermissionRequested:
		f.permission(d)
	case event.PermissionCompleted:
		f.decided(d)
	case event.UserInputRequested:
		f.question(d)
	case event.UserInputCompleted:
		f.answered(d)
	}
}

// Empty reports whether nothing was said yet.
func (f *State) Empty() bool { return len(f.root.Kids) == 0 }

// Session is its id.
func (f *State) Session() string { return f.cards.ID }

// Turns are those that are kept.
func (f *State) Turns() []*node { return f.root.Kids }

// Working is what runs in the background.
func (f *State) Working() Working { return Working{f.tasks} }

// Plan is what the agent means to do.
func (f *State) Plan() Plan { return Plan{f.todos} }

// container is the container for what happens now, inside of a helper agent's call
// if there is one.
func (f *State) container(parentCall string) *node {
	if n := f.nodes["c-"+parentCall]; parentCall != "" && n != nil {
		return n
	}
	if f.current != nil {
		return f.current
	}
	if t := f.root.last(); t != nil {
		return t
	}
	return f.addTurn(&turn{State: "completed", At: f.now, f: f}, "t-0")
}

// add puts n at the end of a container. What is not a step ends the steps before it.
func (f *State) add(parent, n *node) *node {
	if s := parent.last(); s != nil && s.Steps != nil {
		f.closeSteps(s)
	}
	f.attach(parent, n)
	f.batch.append(parent, n)
	return n
}

func (f *State) attach(parent, n *node) {
	n.parent = parent
	if t := n.turn(); t != nil && n.Call != nil {
		n.Call.From = t.from
	}
	parent.Kids = append(parent.Kids, n)
	f.touch(n)
}

// node makes one whose id no other has: an agent may use an id twice.
func (f *State) node(id string) *node {
	free := id
	for i := 2; f.ids[hash(free)]; i++ {
		free = id + ".again" + strconv.Itoa(i)
	}
	f.ids[hash(free)] = true
	return &node{ID: free}
}

// hash is the same in every process, so that a page made after a restart has the
// ids of the one before.
func hash(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash takes everything
	return h.Sum64()
}

// touch remembers that the turn of n changed, so that a page that comes back
// gets it.
func (f *State) touch(n *node) {
	if t := n.turn(); t != nil {
		t.seq = f.Seq
	}
}

func (f *State) setBackend(backend, model string) {
	f.Backend, f.Model = backend, model
	f.ledgerChanged()
	for _, op := range f.answering() {
		f.batch.add(change{action: op.Action, target: op.Target, name: op.Name, value: op.Value})
	}
}

// answering is what the composer shows of who answers.
func (f *State) answering() []Op {
	return []Op{
		{Action: "attr", Target: "composer", Name: "data-backend", Value: &f.Backend},
		{Action: "attr", Target: "composer", Name: "data-model", Value: &f.Model},
		{Action: "text", Target: "pick-backend", Value: &f.Backend},
		{Action: "text", Target: "pick-model", Value: ptr(f.Answers())},
	}
}

// Answers names the model that answers.
func (f *State) Answers() string { return f.cfg.Answers(f.Backend, f.Model) }

func (f *State) setTitle(title string) {
	if title == "" || title == f.title {
		return
	}
	f.title = title
	f.batch.add(change{action: "text", target: "title", value: &title})
	f.batch.title(f.DocumentTitle())
}

func (f *State) setStatus() {
	s := event.Idle
	switch {
	case len(f.asks.Kids) > 0:
		s = event.Waiting
	case f.current != nil || len(f.queued) > 0 && !f.Queue().Held:
		s = event.Running
	}
	if s != f.Status {
		f.Status = s
		f.batch.attr(nil, "composer", "data-status", ptr(string(s)))
	}
}

// DocumentTitle counts the open questions before the name.
func (f *State) DocumentTitle() string {
	t := f.Title() + " · webchat"
	if n := len(f.asks.Kids); n > 0 {
		return "(" + wording.Count(n) + ") " + t
	}
	return t
}

// Title is the session's, or what stands there before it has one.
func (f *State) Title() string {
	if f.title == "" {
		return "New session"
	}
	return f.title
}

func ptr[T any](v T) *T { return &v }

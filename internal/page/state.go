package page

import (
	"cmp"
	"slices"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/tokens"
	"webchat/internal/wording"
)

// State is the state of one session as a page shows it. It is fed events in
// order; what they change is collected in its batch.
type State struct {
	pages    *Pages
	cards    *scope
	batch    batch
	root     *node // its children are turns
	Seq      int64 // of the last logged event
	first    int64 // of the first event of the first turn that is kept
	keep     int64 // the turn of this event and those after it are kept, however many; 0: none
	hasFirst bool
	order    int // of what came last, among all of its turn

	ids     map[uint64]bool  // of the nodes there are and were lately, hashed
	past    [][]uint64       // those of the turns forgotten last
	nodes   map[string]*node // calls, messages, questions and hooks by the id events use
	current *node            // the turn that runs, if any
	trying  *node            // the row of a provider that is tried again, while that waits
	queued  map[string]*node // prompts whose turn has not started, by message id
	held    bool             // they wait for the user
	busy    []*node          // calls and hooks that run
	wait    wait             // for nothing, if it is empty

	title, Backend, Model string
	Status                event.Status
	asks                  *node // the open questions, which stand in the dock
	tasks                 *node // what runs in the background, in the dock as well
	todos                 []event.Todo
	left                  []eventlog.Stretch // what is put aside
	backs                 []*node            // the rows of what was not taken back
	effort                string             // how hard the model thinks
	instructions          []string           // files the agent loads, until the first turn says so
	ledger                ledger
	reached               event.BudgetReached // the last one, which the next question is about
	copy                  copied
	beside                map[string]event.FileAlsoChanged // by file: of the turn that runs
	outputs               []*Call                          // in the order shown; the last ones only
	lost                  map[string]*Call                 // those that run, and whose turn is not kept
	former                map[string]*Call                 // by outputs in whose place another one stands
	showings              showings
	now                   time.Time
	damaged               damaged
	OpenedAt              int64  // the last event that opened something of the sandbox, or closed it
	Trouble               string // why the log cannot be written; empty: it can
	Own                   bool   // while parts are rendered for a page that keeps the lists in them
}

// scope is what the calls and questions of one session have in common.
type scope struct {
	*Pages
	ID     string
	Cwd    string // the workspace
	Window int64  // tokens that the model holds at most, or is assumed to
}

func newState(p *Pages, sessionID string) *State {
	return &State{
		pages:    p,
		cards:    &scope{Pages: p, ID: sessionID, Window: tokens.UsualWindow},
		root:     &node{ID: "turns"},
		asks:     &node{ID: "asks"},
		tasks:    &node{ID: "tasks"},
		ids:      map[uint64]bool{},
		nodes:    map[string]*node{},
		queued:   map[string]*node{},
		lost:     map[string]*Call{},
		former:   map[string]*Call{},
		showings: showings{},
		Status:   event.Idle,
		ledger:   ledger{growing: map[string]bool{}},
	}
}

// apply folds one event.
func (f *State) apply(e event.Entry) {
	f.now = e.Event.Timestamp
	if logged(e) {
		f.Seq = max(f.Seq, e.Seq)
	}
	if !f.hasFirst && e.Seq > 0 {
		f.hasFirst, f.first = true, e.Seq
	}
	f.count(e)
	f.fillChanged(e.Event.Data)
	if d, ok := e.Event.Data.(event.SessionError); ok {
		f.failed(d, e.Event.Ephemeral)
	}
	f.tried(e.Event.Data)
	f.session(e.Event.Data)
	f.turns(e.Event.Data)
	f.texts(e.Event.Data)
	f.tools(e.Event.Data)
	f.questions(e.Event.Data)
	f.setStatus()
	for len(f.root.Kids) > f.pages.Turns && f.trimOne() {
	}
	f.setWait()
}

// logged reports whether e stands in the log: an error about the log itself
// does not, although errors otherwise do.
func logged(e event.Entry) bool { return !e.Event.Ephemeral && e.Seq > 0 }

// failed shows an error; one that is not in the log is about the log.
func (f *State) failed(d event.SessionError, unlogged bool) {
	switch {
	case unlogged && d.ErrorType == event.ErrorSaved:
		f.setTrouble("")
		f.say(d.Message)
	case unlogged:
		f.setTrouble(d.Message)
	case d.Kind == event.KindRetrying:
		f.retrying(d)
	default:
		f.note("is-fail", "alert", d.Message).Note.failure(d, !f.pages.noModel(f.Backend) &&
			!f.pages.elsewhere(f.Backend))
		f.say(d.Message)
	}
}

// setTrouble shows that the log cannot be written, until it can again.
func (f *State) setTrouble(text string) {
	if text == f.Trouble {
		return
	}
	f.Trouble = text
	f.changed("trouble")
	if text != "" {
		f.announce(nil, "alert", text)
	}
}

// session folds what concerns the session as a whole.
func (f *State) session(data event.Data) {
	switch d := data.(type) {
	case event.SessionStart:
		f.setBackend(d.Backend, d.Model)
		f.setTitle(d.Title)
		f.cards.Cwd = cmp.Or(f.cards.Cwd, d.Context.Cwd) // it never moves
		if !d.InstructionsSeen {
			f.instructions = d.Instructions
		}
	case event.SessionResume:
		f.setBackend(d.Backend, d.Model)
		f.cards.Cwd = cmp.Or(f.cards.Cwd, d.Context.Cwd) // it never moves
	case event.SessionTitleChanged:
		f.setTitle(d.Title)
	case event.SessionModelChange:
		f.modelChanged(d)
	case event.SessionBudgetChanged:
		f.ledgerChanged()
	case event.BudgetReached:
		f.reached = d
	case event.FileAlsoChanged:
		f.alsoChanged(d)
	case event.SessionWorktree, event.WorktreeBroughtBack, event.WorktreeThrown:
		f.worktree(d)
	case event.SessionModeChanged:
		f.modeChanged(d)
	case event.SessionDamaged:
		f.damagedAt(d)
	case event.SandboxOpened, event.SandboxClosed:
		f.OpenedAt = f.Seq
		f.changed("stays-now")
	case event.SessionTodosChanged:
		f.todos = d.Todos
		f.changed("dock-plan")
	case event.SessionCompactionStart:
		f.note("", "again", "Summarizing the conversation to free room in the model's context")
	case event.SessionCompactionComplete:
		f.note("", "again", "The conversation so far was summarized for the model. Nothing is lost here")
	case event.SessionTruncation:
		f.note("", "again", "The oldest part no longer fits the model's context. Nothing is lost here")
	case event.SessionShutdown:
		f.hold()
	case event.AssistantUsage:
		f.quotaChanged(d.QuotaSnapshots)
	case event.TaskStarted:
		f.taskStarted(d)
	case event.TaskOutput:
		f.taskOutput(d)
	case event.TaskCompleted:
		f.taskCompleted(d)
	}
}

// turns folds prompts, and what becomes of them.
func (f *State) turns(data event.Data) {
	switch d := data.(type) {
	case event.UserMessage:
		f.prompt(d)
	case event.UserMessageWithdrawn:
		f.withdrawn(d)
	case event.TurnStart:
		f.turnStart(d)
	case event.TurnEnd:
		f.notHeld(d.NotHeld)
		f.turnEnd(d)
	case event.AssistantTurnStart:
		f.nameKnown(d)
	case event.Abort:
		f.hold()
		f.note("is-ask", "stop", f.stopped(d))
	case event.SessionRewound:
		f.rewound(d)
	case event.SessionBranched:
		f.branched(d)
	}
}

// texts folds what the model says.
func (f *State) texts(data event.Data) {
	switch d := data.(type) {
	case event.AssistantMessageDelta:
		f.messageDelta("m-", d.MessageID, d.ParentToolCallID, d.Offset, d.DeltaContent)
	case event.AssistantReasoningDelta:
		f.messageDelta("r-", d.ReasoningID, d.ParentToolCallID, d.Offset, d.DeltaContent)
	case event.AssistantMessageDiscarded:
		f.messageDiscarded("m-" + d.MessageID)
	case event.AssistantMessage:
		f.messageComplete("m-", d.MessageID, d.ParentToolCallID, d.Content, d.Partial)
	case event.AssistantReasoning:
		f.messageComplete("r-", d.ReasoningID, d.ParentToolCallID, d.Content, false)
	}
}

// tools folds tool calls, hooks and helper agents.
func (f *State) tools(data event.Data) {
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
	case event.OutputReread:
		f.outputReread(d)
	case event.SandboxRefused:
		f.refused(d)
	case event.SandboxOpened:
		f.opened(d)
	case event.SandboxClosed:
		f.closed(d)
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
	}
}

// questions folds what the user is asked.
func (f *State) questions(data event.Data) {
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
	return f.addTurn(&turn{State: "completed", At: f.now}, "t-0")
}

// add puts n at the end of a container.
func (f *State) add(parent, n *node) *node {
	f.setOrder(n)
	f.insert(parent, nil, n)
	return n
}

func (f *State) setBackend(backend, model string) {
	f.Backend, f.Model = backend, model
	f.ledgerChanged()
	f.changed("composer", "pick")
}

// Answers names the model that answers.
func (f *State) Answers() string { return f.pages.answers(f.Backend, f.Model) }

func (f *State) setTitle(title string) {
	if title == "" || title == f.title {
		return
	}
	f.title = title
	f.changed("title")
	f.batch.title = true
}

func (f *State) setStatus() {
	s := event.Idle
	switch {
	case slices.ContainsFunc(f.asks.Kids, func(q *node) bool { return !q.Question.Later() }):
		// what is held holds nothing up
		s = event.Waiting
	case f.current != nil || len(f.queued) > 0 && !f.Queue().Held:
		s = event.Running
	}
	if s != f.Status {
		f.Status = s
		f.changed("composer")
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
func (f *State) Title() string { return cmp.Or(f.title, "New session") }

// Earlier is the place of the first turn, if there are others before it; else 0.
func (f *State) Earlier() int64 {
	if f.first > 1 && !f.Empty() {
		return f.root.Kids[0].Turn.from
	}
	return 0
}

package page

import (
	"cmp"
	"slices"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// State is the state of one session as a page shows it: parts on one core. It is fed events in
// order; what they change is collected in its batch.
type State struct {
	*core
	*messages
	*ledger
	*shelf
	*questions
	*waits
	*calls
	*turns
	*trim
	*rewinds
	*tasks
	*troubles
	*copied

	Status   event.Status
	todos    []event.Todo
	effort   string // how hard the model thinks
	OpenedAt int64  // the last event that opened something of the sandbox, or closed it
}

func newState(p *Pages, sessionID string) *State {
	c := newCore(p, sessionID)
	messages, ledger := &messages{c}, &ledger{core: c, growing: map[string]bool{}}
	shelf := &shelf{core: c, ledger: ledger, lost: map[string]*Call{}, former: map[string]*Call{},
		showings: showings{}}
	questions := &questions{core: c, asks: &node{ID: "asks"}}
	waits := &waits{core: c, questions: questions}
	return &State{
		core:      c,
		messages:  messages,
		ledger:    ledger,
		shelf:     shelf,
		questions: questions,
		waits:     waits,
		calls:     &calls{core: c, ledger: ledger, shelf: shelf, questions: questions, waits: waits},
		turns: &turns{core: c, messages: messages, shelf: shelf, questions: questions,
			queued: map[string]*node{}},
		trim:     &trim{core: c, shelf: shelf},
		rewinds:  &rewinds{core: c},
		tasks:    &tasks{core: c, running: &node{ID: "tasks"}},
		troubles: &troubles{core: c},
		copied:   &copied{core: c},
		Status:   event.Idle,
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
	f.turns.apply(e.Event.Data)
	f.messages.apply(e.Event.Data)
	f.calls.apply(e.Event.Data)
	f.questions.apply(e.Event.Data)
	f.setStatus()
	for len(f.root.Kids) > f.pages.Turns && f.trim.oldest() {
	}
	f.waits.set()
}

// logged reports whether e stands in the log: an error about the log itself
// does not, although errors otherwise do.
func logged(e event.Entry) bool { return !e.Event.Ephemeral && e.Seq > 0 }

// failed shows an error; one that is not in the log is about the log.
func (f *troubles) failed(d event.SessionError, unlogged bool) {
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
func (f *troubles) setTrouble(text string) {
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
	case event.SessionRewound:
		f.rewound(d)
	case event.SessionWorktree, event.WorktreeBroughtBack, event.WorktreeThrown:
		f.copied.apply(d)
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
		f.tasks.started(d)
	case event.TaskOutput:
		f.tasks.output(d)
	case event.TaskCompleted:
		f.tasks.completed(d)
	}
}

// apply folds prompts, and what becomes of them.
func (f *turns) apply(data event.Data) {
	switch d := data.(type) {
	case event.UserMessage:
		f.prompt(d)
	case event.UserMessageWithdrawn:
		f.withdrawn(d)
	case event.TurnStart:
		f.start(d)
	case event.TurnEnd:
		f.notHeld(d.NotHeld)
		f.end(d)
	case event.AssistantTurnStart:
		f.nameKnown(d)
	case event.Abort:
		f.hold()
		f.note("is-ask", "stop", f.stopped(d))
	case event.SessionBranched:
		f.branched(d)
	}
}

// apply folds what the model says.
func (f *messages) apply(data event.Data) {
	switch d := data.(type) {
	case event.AssistantMessageDelta:
		f.delta("m-", d.MessageID, d.ParentToolCallID, d.Offset, d.DeltaContent)
	case event.AssistantReasoningDelta:
		f.delta("r-", d.ReasoningID, d.ParentToolCallID, d.Offset, d.DeltaContent)
	case event.AssistantMessageDiscarded:
		f.discard("m-" + d.MessageID)
	case event.AssistantMessage:
		f.complete("m-", d.MessageID, d.ParentToolCallID, d.Content, d.Partial)
	case event.AssistantReasoning:
		f.complete("r-", d.ReasoningID, d.ParentToolCallID, d.Content, false)
	}
}

// apply folds tool calls, hooks and helper agents.
func (f *calls) apply(data event.Data) {
	switch d := data.(type) {
	case event.ToolExecutionStart:
		f.start(d)
	case event.ToolExecutionProgress:
		f.progress(d)
	case event.ToolExecutionPartialResult:
		f.partial(d)
	case event.ToolExecutionComplete:
		f.complete(d)
	case event.OutputDeleted:
		f.shelf.deleted(d)
	case event.OutputReread:
		f.shelf.reread(d)
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

// apply folds what the user is asked.
func (f *questions) apply(data event.Data) {
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

// Empty reports whether the conversation has no message yet.
func (f *State) Empty() bool { return len(f.root.Kids) == 0 }

// Session is its id.
func (f *State) Session() string { return f.cards.ID }

// Turns are those that are kept.
func (f *State) Turns() []*node { return f.root.Kids }

// container is the container for what happens now, inside of a helper agent's call
// if there is one.
func (f *core) container(parentCall string) *node {
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
func (f *core) add(parent, n *node) *node {
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
	f.batch.tab = true
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
func (f *trim) Earlier() int64 {
	if f.first > 1 && len(f.root.Kids) > 0 {
		return f.root.Kids[0].Turn.from
	}
	return 0
}

package page

import (
	"cmp"
	"strconv"
	"strings"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// note is one quiet line between other things.
type note struct {
	Class, Icon, Text string
	Kind              string
	Status            int
	Title             string
	Actions           []action
	Files             []noted
	Back              *back // the session went back
}

func (f *core) note(class, icon, text string) *node {
	return f.noteIn(f.container(""), class, icon, text)
}

func (f *core) noteIn(parent *node, class, icon, text string) *node {
	// Only logged events make notes, so a number in the log names one.
	id := "n-" + strconv.FormatInt(f.Seq, 10)
	n := f.node(id)
	n.Note = &note{Class: class, Icon: icon, Text: text}
	return f.add(parent, n)
}

// failure makes a note the card of an error: what happened, and the way out. choice says that there
// are models to choose from.
func (n *note) failure(d event.SessionError, choice bool) {
	n.Kind, n.Status = d.ErrorType, d.StatusCode
	retry := action{Act: "retry", Label: "Try again", Icon: "again"}
	orModel := func(first action) []action {
		if !choice {
			return []action{first}
		}
		return []action{first, {Act: "model", Label: "Other model", Icon: "chip"}}
	}
	kind := cmp.Or(d.Kind, event.KindOfStatus(d.StatusCode))
	switch {
	case d.ErrorType == event.ErrorForgotten:
		n.Title = "A new conversation"
		n.Actions = []action{{Act: "recall", Label: "Send it the conversation", Icon: "read"}}
	case d.ErrorType == event.ErrorWarning:
		n.Title = "Worth knowing"
	case kind == event.KindTooLarge:
		n.Title = "Too long for the model"
		n.Actions = orModel(action{Act: "compact", Label: "Sum it up", Icon: "again"})
	case kind == event.KindLimit:
		n.Title = "Over its limit"
		n.Actions = orModel(retry)
	case d.ErrorType == event.ErrorUnavailable:
		n.Title = "Not available"
		n.Actions = orModel(retry)
	case kind == event.KindAgentDied:
		n.Title = "The agent ended"
		n.Actions = []action{{Act: "retry", Label: "Start it again", Icon: "again"}}
	case d.StatusCode == 401 && d.ErrorType != event.ErrorLogin:
		n.Title = "Wrong key"
		n.Actions = orModel(retry)
	case kind == event.KindDenied && d.ErrorType != event.ErrorHook:
		n.Title = "Not signed in"
		n.Actions = orModel(retry)
	case d.StatusCode != 0: // a model's provider refused
		n.Title = "The model did not answer"
		n.Actions = orModel(retry)
	default:
		n.Title = "The turn failed"
		n.Actions = []action{retry}
	}
}

// troubles are what went wrong.
type troubles struct {
	*core
	trying  *node  // the row of a provider that is tried again, while that waits
	Trouble string // why the log cannot be written; empty: it can
	damaged damaged
}

// retrying shows that the provider is tried again: one line for all the tries.
func (f *troubles) retrying(d event.SessionError) {
	place := f.container("")
	if n := place.last(); n != nil && n.Note != nil && n.Note.Kind == string(event.KindRetrying) {
		n.Note.Text = d.Message
		f.trying = n
	} else {
		f.trying = f.noteIn(place, "is-ask", "again", d.Message)
		f.trying.Note.Kind = string(event.KindRetrying)
		f.say(d.Message)
	}
	f.trying.Note.Actions = nil
	if d.Waits && f.current != nil {
		f.trying.Note.Actions = []action{{Act: "try-now", Label: "Try now"},
			{Act: "model", Label: "Other model"}}
	}
	f.show(f.trying, whole)
}

// tried takes the buttons off the row of the tries when the wait is over: with the first word, call
// or end that follows.
func (f *troubles) tried(d event.Data) {
	if f.trying == nil {
		return
	}
	switch d.(type) {
	case event.AssistantMessageDelta, event.AssistantReasoningDelta, event.AssistantMessage,
		event.AssistantReasoning,
		event.ToolExecutionStart, event.Abort, event.TurnEnd:
		f.trying.Note.Actions = nil
		f.show(f.trying, whole)
		f.trying = nil
	}
}

// stopped says when a turn was stopped, and why if it was not the user who did.
func (f *turns) stopped(d event.Abort) string {
	at := "Stopped at " + f.pages.clock(f.now)
	if why := strings.TrimSuffix(d.Reason, "."); d.By != event.DecidedByUser && why != "" {
		return at + ": " + why
	}
	return at
}

// modeChanged says in which mode the agent works from here.
func (f *State) modeChanged(d event.SessionModeChanged) {
	switch name := cmp.Or(wording.Plain(d.Name), wording.Plain(d.Mode)); {
	case name == "":
		f.note("", "chip", "The agent is in its default mode again")
	case d.Unasked:
		f.note("is-ask", "chip", "Switched to "+name+" mode: the agent acts without asking you")
	default:
		f.note("", "chip", "Switched to "+name+" mode")
	}
}

// modelChanged says who answers from here, or how hard it thinks. Which model the agent has begun
// with is not a switch: the composer names it.
func (f *State) modelChanged(d event.SessionModelChange) {
	if d.NewModel != f.Model || d.Effort == f.effort {
		first := f.Model == "" && f.ledger.sum.Usage == (event.Usage{})
		f.setBackend(f.Backend, d.NewModel)
		if !first {
			f.note("", "chip", "Switched to "+f.Answers())
		}
	} else {
		f.note("", "chip", "Switched to "+cmp.Or(wording.Plain(d.Effort), "the default")+" effort")
	}
	f.effort = d.Effort
}

// damaged are events one after the other that could not be read.
type damaged struct {
	row  *node
	last int64 // the sequence of the last one
	n    int64
}

// damagedAt counts an event that could not be read in the row of those before it.
func (f *troubles) damagedAt(d event.SessionDamaged) {
	if run := &f.damaged; run.row != nil && run.last+1 == f.Seq {
		run.last, run.n = f.Seq, run.n+1
		run.row.Note.Text = Damaged(run.n, d.Copy)
		f.show(run.row, whole)
		return
	}
	f.damaged = damaged{f.note("is-fail", "alert", Damaged(1, d.Copy)), f.Seq, 1}
}

// Damaged says that n events of a log could not be read, and where a copy of them is.
func Damaged(n int64, copied string) string {
	text := wording.Plural(n, "damaged event") + " could not be read here. "
	if copied == "" {
		return text + "What was stored could not be copied"
	}
	return text + "A copy of what was stored is in " + copied + " in the data folder"
}

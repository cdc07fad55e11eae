package page

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// turn is a prompt and what came of it.
type turn struct {
	Prompt      string
	Message     string // its id
	State       string // queued, joined, running, completed, aborted, error, interrupted
	Cause       string // why an agent that is prompted elsewhere began it; for those who cannot see what it is about
	Waited      bool   // for the turn before it, or for the user after a stop
	Look        bool   // it is only something that the user looked at
	Rewinds     bool   // the agent can go back to before it
	Left        bool   // the agent was made to forget it
	At          time.Time
	Attachments []event.Attachment
	Rewrites    []Rewrite // what hooks changed in the prompt

	f      *State
	from   int64  // of its first event
	seq    int64  // of its last change
	weight int    // about how many bytes of a page it makes
	now    string // the prompt as hooks left it
}

// From is the place of the turn in the log.
func (t *turn) From() int64 { return t.from }

// Running reports whether something happens in it.
func (t *turn) Running() bool { return t.State == "running" }

// Waits says why nothing happens in it yet, or ever.
func (t *turn) Waits() string {
	if t.Left {
		return "Left behind: the agent has forgotten this. Files stay as they were"
	}
	switch t.State {
	case "queued":
		return "Queued: its turn comes when this one is over"
	case "joined":
		return "Joined the turn above while it ran"
	}
	return ""
}

// Time is when the prompt was given, as a clock shows it.
func (t *turn) Time() string { return t.At.In(t.f.cfg.Location).Format("15:04") }

// Stamp is when the prompt was given, for machines.
func (t *turn) Stamp() string { return t.At.UTC().Format(time.RFC3339) }

// Long says that the prompt needs to be clamped.
func (t *turn) Long() bool {
	return strings.Count(t.Prompt, "\n") > 3 || len(t.Prompt) > 400
}

func (f *State) addTurn(t *turn, id string) *node {
	n := f.node(id)
	n.Turn = t
	t.f, t.from, t.seq = f, f.Seq, f.Seq
	t.Left = t.Left || f.left != nil && f.left(f.Seq)
	n.parent = f.root
	f.root.Kids = append(f.root.Kids, n)
	f.batch.append(f.root, n)
	f.batch.attr(nil, "hello", "hidden", ptr(""))
	f.addInstructions(n)
	return n
}

// addInstructions says in the first turn which instructions the agent reads in this folder.
func (f *State) addInstructions(turn *node) {
	if len(f.instructions) == 0 {
		return
	}
	n := f.node("n-loads")
	n.Note = &note{Icon: "read", Text: "The agent reads these instructions of this folder:"}
	for _, path := range f.instructions {
		n.Note.Files = append(n.Note.Files, f.instruction(path))
	}
	f.instructions = nil
	f.add(turn, n)
}

// instruction is a file of the workspace by its name there, which can be shown; another
// one by its path.
func (f *State) instruction(path string) file {
	rel, err := filepath.Rel(f.cards.Cwd, path)
	if err != nil || !filepath.IsLocal(rel) {
		return file{Name: wording.Plain(path)}
	}
	return file{Name: wording.Plain(filepath.ToSlash(rel)), Path: filepath.ToSlash(rel)}
}

// file is one that a note names; Path is empty if it cannot be shown.
type file struct{ Name, Path string }

// prompt shows what the user said; its turn may have to wait, or it joins the
// running one, which that one's end tells.
func (f *State) prompt(d event.UserMessage) {
	t := &turn{Prompt: d.Content, Message: d.MessageID, State: "queued", At: f.now, Attachments: d.Attachments, Waited: f.current != nil}
	if f.queued[d.MessageID] != nil || f.current != nil && f.current.Turn.Message == d.MessageID {
		return
	}
	f.queued[d.MessageID] = f.addTurn(t, elementID("t-", d.MessageID))
	f.attached(d.Attachments)
	f.held = false
	f.queueChanged()
}

// withdrawn hides a prompt that has no turn. It stays in the page, so that one that was
// away is told.
func (f *State) withdrawn(d event.UserMessageWithdrawn) {
	if n := f.queued[d.MessageID]; n != nil {
		delete(f.queued, d.MessageID)
		f.setTurn(n, "withdrawn")
		f.queueChanged()
	}
}

func (f *State) turnStart(d event.TurnStart) {
	n := f.queued[d.MessageID]
	if n != nil {
		delete(f.queued, d.MessageID)
		f.held = false
		f.queueChanged()
	}
	switch {
	case n == nil && d.Own():
		if slices.Contains(f.cfg.Elsewhere, f.Backend) { // each of its turns is its own
			n = f.addTurn(&turn{At: f.now, Cause: wording.Plain(d.Cause)}, elementID("t-", d.TurnID))
			break
		}
		n = f.addTurn(&turn{At: f.now}, elementID("t-", d.TurnID))
		if d.By == event.ByUser {
			f.noteIn(n, "", "again", wording.Plain(d.Cause))
			break
		}
		f.noteIn(n, "", "again", "It went on by itself: "+wording.Plain(cmp.Or(d.Cause, "no reason was given.")))
	case n == nil:
		n = f.addTurn(&turn{Message: d.MessageID, At: f.now}, elementID("t-", d.MessageID))
	}
	if f.current != nil { // a session never does this
		f.setTurn(f.current, string(event.Interrupted))
	}
	f.current = n
	f.setTurn(n, "running")
}

func (f *State) setTurn(n *node, state string) {
	n.Turn.State = state
	f.touch(n)
	f.batch.attr(n, n.ID, "data-state", &state)
	var busy *string
	if state == "running" {
		busy = ptr("true")
	}
	f.batch.attr(n, n.inner(), "aria-busy", busy)
	f.batch.part(n, n.ID+".q", "turn.queued", n)
}

var endings = map[event.Outcome]string{
	event.Interrupted: "Interrupted: webchat ended before the turn did. What was said until then is here",
	event.Failed:      "The turn ended with an error",
}

func (f *State) turnEnd(d event.TurnEnd) {
	n := f.current
	if n == nil || n.Turn.Message != d.MessageID {
		n = f.queued[d.MessageID]
	}
	delete(f.queued, d.MessageID)
	if n == nil {
		return
	}
	f.endOpen(n)
	if s := n.last(); s != nil && s.Steps != nil {
		f.closeSteps(s)
	}
	text := endings[d.Outcome]
	switch {
	case d.Outcome == event.Aborted && !endsWith(n, "stop"):
		f.noteIn(n, "is-ask", "stop", "Stopped")
	case d.Outcome == event.Failed && endsWith(n, "alert"):
	case text != "":
		f.noteIn(n, "is-ask", "alert", text)
	}
	f.setTurn(n, string(d.Outcome))
	for _, id := range d.Steered {
		if joined := f.queued[id]; joined != nil {
			delete(f.queued, id)
			f.setTurn(joined, "joined")
		}
	}
	if n == f.current {
		f.current = nil
	}
	f.held = f.held || d.Outcome == event.Aborted || d.Outcome == event.Interrupted
	f.queueChanged()
	f.countUsage(d.Usage)
	f.batch.announce("say", endAnnouncement(n, d.Outcome))
}

// countUsage adds what models took to the ledger.
func (f *State) countUsage(u event.Usage) {
	f.ledger.usage = f.ledger.usage.Plus(u)
	f.ledgerChanged()
}

// endsWith reports whether one of the last things in n is a note with this icon: what a
// message was cut off at stands before it or behind it.
func endsWith(n *node, icon string) bool {
	for _, k := range slices.Backward(n.Kids) {
		if k.Note != nil {
			return k.Note.Icon == icon
		}
		if k.Message == nil {
			break
		}
	}
	return false
}

// endAnnouncement is what a screen reader hears at the end of a turn.
func endAnnouncement(n *node, o event.Outcome) string {
	if o != event.Completed {
		return "The turn ended: " + string(o)
	}
	for i := len(n.Kids) - 1; i >= 0; i-- {
		if m := n.Kids[i].Message; m != nil {
			return wording.FirstLine(m.start(), 300)
		}
	}
	return "The turn ended"
}

// endOpen stops what would look alive after its turn is over.
func (f *State) endOpen(n *node) {
	for _, k := range n.Kids {
		f.endOpen(k)
		if m := k.body(); m != nil && m.Busy {
			f.finish(k)
		}
	}
}

// note is one quiet line between other things.
type note struct {
	Class, Icon, Text string
	Kind              string
	Status            int
	Title             string
	Actions           []Action
	Files             []file
}

func (f *State) note(class, icon, text string) *node {
	return f.noteIn(f.container(""), class, icon, text)
}

func (f *State) noteIn(parent *node, class, icon, text string) *node {
	// Only logged events make notes, so a number in the log names one.
	id := "n-" + strconv.FormatInt(f.Seq, 10)
	n := f.node(id)
	n.Note = &note{Class: class, Icon: icon, Text: text}
	return f.add(parent, n)
}

// failure makes a note the card of an error: what happened, and the way out.
func (n *note) failure(d event.SessionError) {
	n.Kind, n.Status = d.ErrorType, d.StatusCode
	retry := Action{Act: "retry", Label: "Try again", Icon: "again"}
	kind := cmp.Or(d.Kind, event.KindOfStatus(d.StatusCode))
	switch {
	case d.ErrorType == event.ErrorForgotten:
		n.Title = "A new conversation"
		n.Actions = []Action{{Act: "recall", Label: "Give it what was said", Icon: "read"}}
	case d.ErrorType == event.ErrorWarning:
		n.Title = "Worth knowing"
	case kind == event.KindLimit:
		n.Title = "Over its rate"
		n.Actions = []Action{retry, {Act: "model", Label: "Other model", Icon: "chip"}}
	case d.ErrorType == event.ErrorUnavailable:
		n.Title = "Not available"
		n.Actions = []Action{retry, {Act: "model", Label: "Other model", Icon: "chip"}}
	case kind == event.KindAgentDied:
		n.Title = "The agent ended"
		n.Actions = []Action{{Act: "retry", Label: "Start it again", Icon: "again"}}
	case kind == event.KindDenied && d.ErrorType != event.ErrorHook:
		n.Title = "Not signed in"
		n.Actions = []Action{retry, {Act: "model", Label: "Other model", Icon: "chip"}}
	default:
		n.Title = "That did not work"
		n.Actions = []Action{retry}
	}
}

// retrying shows that the provider is tried again: one line for all the tries.
func (f *State) retrying(d event.SessionError) {
	place := f.container("")
	if n := place.last(); n != nil && n.Note != nil && n.Note.Kind == string(event.KindRetrying) {
		n.Note.Text = d.Message
		f.touch(n)
		f.batch.replace(n)
		return
	}
	f.noteIn(place, "is-ask", "again", d.Message).Note.Kind = string(event.KindRetrying)
	f.batch.announce("say", d.Message)
}

// stopped says that a turn was stopped, or why.
func stopped(d event.Abort) string {
	if d.By == event.DecidedByUser {
		return "Stopped by you"
	}
	return cmp.Or(strings.TrimSuffix(wording.Capital(d.Reason), "."), "Stopped")
}

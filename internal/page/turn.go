package page

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/wording"
)

// turn is a prompt and what came of it.
type turn struct {
	Prompt      string
	Message     string // its id
	ID          string // of the turn, once it began
	State       string // queued, joined, withdrawn, running, completed, aborted, error, interrupted
	Cause       string // why an agent that is prompted elsewhere began it; not drawn, but read out
	Waited      bool   // for the turn before it, or for the user after a stop
	Look        bool   // it is only something that the user looked at
	Rewinds     bool   // the agent can go back to before it
	Left        bool   // the agent was made to forget it
	Undone      bool   // its files are what they were before it
	Calls       int64  // of a model, once it is over
	At          time.Time
	Attachments []event.Attachment
	Rewrites    []rewrite // what hooks changed in the prompt
	Changes     int64     // that its edits made, in Files, once it is over
	Files       int64
	Kept        bool                         // what they were is
	Lines       struct{ Added, Removed int } // in those, if its edits made all

	heard  time.Time // when something of it arrived last
	called bool      // a model was
	did    *node     // what it did; nil: nothing
	opens  bool      // what it did stands open: the turn has no answer, or was stopped
	spoke  int       // the place of the agent's last message; 0: none

	from int64  // of its first event
	seq  int64  // of its last change
	now  string // the prompt as hooks left it
}

// From is the place of the turn in the log.
func (t *turn) From() int64 { return t.from }

// Running reports whether something happens in it.
func (t *turn) Running() bool { return t.State == "running" }

// Waits says why nothing happens in it yet, or ever.
func (t *turn) Waits() string {
	if t.Left {
		return "Put aside: the agent goes on without this"
	}
	switch t.State {
	case "queued":
		return "Queued: not sent yet"
	case "joined":
		return "Joined the turn above while it ran"
	}
	return ""
}

// Long says that the prompt needs to be clamped.
func (t *turn) Long() bool {
	return strings.Count(t.Prompt, "\n") > 3 || len(t.Prompt) > 400
}

// Given is the prompt's attachments, as one sends them again; empty if it has none.
func (t *turn) Given() string {
	if len(t.Attachments) == 0 {
		return ""
	}
	b, err := json.Marshal(t.Attachments)
	if err != nil {
		return ""
	}
	return string(b)
}

// turns are the prompts, and what becomes of them.
type turns struct {
	*core
	messages  *messages
	shelf     *shelf
	questions *questions
	queued    map[string]*node // prompts whose turn has not started, by message id
	held      bool             // they wait for the user
}

func (f *core) addTurn(t *turn, id string) *node {
	n := f.node(id)
	n.Turn = t
	t.from, t.Left = f.Seq, t.Left || eventlog.IsLeft(f.left, f.Seq)
	f.insert(f.root, nil, n)
	f.changed("hello")
	f.addInstructions(n)
	return n
}

// addInstructions says in the first turn which instructions the agent reads in this folder.
func (f *core) addInstructions(turn *node) {
	if len(f.instructions) == 0 {
		return
	}
	n := f.node("n-loads")
	n.Note = &note{Icon: "read", Text: "The agent reads these instructions of this folder:"}
	for _, path := range f.instructions {
		file := noted{Name: path}
		if rel, err := filepath.Rel(f.cards.Cwd, path); err == nil && filepath.IsLocal(rel) {
			file.Path = filepath.ToSlash(rel)
			file.Name = file.Path
		}
		n.Note.Files = append(n.Note.Files, file)
	}
	f.instructions = nil
	f.add(turn, n)
}

// noted is a file that a note names; Path is its path in the workspace, empty if it cannot
// be shown.
type noted struct{ Name, Path string }

// prompt shows the user's prompt; its turn may have to wait, or it joins the
// running one, as the end of that one reports.
func (f *turns) prompt(d event.UserMessage) {
	t := &turn{
		Prompt:      d.Content,
		Message:     d.MessageID,
		State:       "queued",
		At:          f.now,
		Attachments: d.Attachments,
		Waited:      f.current != nil,
	}
	if f.queued[d.MessageID] != nil || f.current != nil && f.current.Turn.Message == d.MessageID {
		return
	}
	f.queued[d.MessageID] = f.addTurn(t, elementID("t-", d.MessageID))
	f.shelf.attached(d.Attachments)
	f.held = false
	f.changed("dock-queue")
}

// withdrawn hides a prompt that has no turn. It stays in the page, so that a reader that reconnects
// learns of it.
func (f *turns) withdrawn(d event.UserMessageWithdrawn) {
	if n := f.queued[d.MessageID]; n != nil {
		delete(f.queued, d.MessageID)
		f.setTurn(n, "withdrawn")
		f.changed("dock-queue")
	}
}

func (f *turns) start(d event.TurnStart) {
	n := f.queued[d.MessageID]
	if n != nil {
		delete(f.queued, d.MessageID)
		f.held = false
	}
	f.changed("dock-queue") // what waits is not held while a turn runs
	switch {
	case n == nil && d.Own():
		if f.pages.elsewhere(f.Backend) { // each of its turns is its own
			n = f.addTurn(&turn{At: f.now, Cause: wording.Plain(d.Cause)}, elementID("t-", d.TurnID))
			break
		}
		n = f.addTurn(&turn{At: f.now}, elementID("t-", d.TurnID))
		if d.By == event.ByUser {
			f.noteIn(n, "", "again", wording.Plain(d.Cause))
			break
		}
		f.noteIn(n, "", "again", "It went on by itself: "+
			wording.Plain(cmp.Or(d.Cause, "no reason was given.")))
	case n == nil:
		n = f.addTurn(&turn{Message: d.MessageID, At: f.now}, elementID("t-", d.MessageID))
	}
	if f.current != nil { // a session never does this
		f.setTurn(f.current, string(event.Interrupted))
	}
	f.current, n.Turn.heard, n.Turn.ID = n, f.now, d.TurnID
	f.setTurn(n, "running")
}

func (f *core) setTurn(n *node, state string) {
	n.Turn.State = state
	f.show(n, own)
	if d := n.Turn.did; d != nil {
		f.show(d, own)
	}
}

var endings = map[event.Outcome]string{
	event.Interrupted: "Interrupted: webchat ended before the turn did. What was said until then is " +
		"here",
	event.Failed: "The turn ended with an error",
}

func (f *turns) end(d event.TurnEnd) {
	n := f.current
	if n == nil || n.Turn.Message != d.MessageID {
		n = f.queued[d.MessageID]
	}
	delete(f.queued, d.MessageID)
	if n == nil {
		return
	}
	f.questions.beside = nil
	f.messages.endOpen(n)
	f.foldRemarks(n)
	n.Turn.opens = n.Turn.opens || n.Turn.spoke == 0 || d.Outcome == event.Aborted ||
		d.Outcome == event.Interrupted
	text := endings[d.Outcome]
	switch {
	case d.Outcome == event.Aborted && !endsWith(n, "stop"):
		f.noteIn(n, "is-ask", "stop", f.stopped(event.Abort{}))
	case d.Outcome == event.Failed && endsWith(n, "alert"):
	case text != "":
		f.noteIn(n, "is-ask", "alert", text)
	}
	n.Turn.Calls = d.Usage.Calls
	if n.Turn.Changes, n.Turn.Files = n.edited(); d.Changed > 0 && d.Changed != n.Turn.Files {
		n.Turn.Changes, n.Turn.Files = 0, d.Changed // commands changed some, and how often is not known
	} else {
		n.Turn.Lines = n.lines()
	}
	if d.Added+d.Removed > 0 { // with what commands changed
		n.Turn.Lines.Added, n.Turn.Lines.Removed = int(d.Added), int(d.Removed)
	}
	n.Turn.Kept = d.Changed > 0
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
	f.changed("dock-queue")
	f.say(endAnnouncement(n, d.Outcome))
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
	for _, k := range slices.Backward(n.Kids) {
		if k.Message != nil {
			return wording.FirstLine(k.Message.start(), 300)
		}
	}
	return "The turn ended"
}

// endOpen stops what would look alive after its turn is over.
func (f *messages) endOpen(n *node) {
	for _, k := range n.Kids {
		f.endOpen(k)
		if m := k.body(); m != nil && m.Busy {
			f.finish(k)
		}
	}
}

// hold makes the prompts that wait stay until the user goes on.
func (f *turns) hold() {
	f.held = true
	f.changed("dock-queue")
}

// nameKnown notes that a model is called, and whether the agent can go back to before the prompt of
// the running turn.
func (f *turns) nameKnown(d event.AssistantTurnStart) {
	n := f.current
	if n == nil {
		return
	}
	n.Turn.called = true
	if d.PromptID != "" && n.Turn.Message != "" {
		n.Turn.Rewinds = true
		f.show(n, own)
	}
}

// branched says where the beginning of the session comes from.
func (f *turns) branched(d event.SessionBranched) {
	from := cmp.Or(wording.FirstLine(d.Title, 80), "another session")
	t := f.addTurn(&turn{At: f.now, State: string(event.Completed), Look: true},
		elementID("t-", "branch-"+d.From))
	f.noteIn(t, "", "split", "Branched from “"+from+
		"”. The agent is given what was said so far with your next prompt")
}

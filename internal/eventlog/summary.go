package eventlog

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// ID identifies a session: a UUID, version 7.
type ID string

// Summary is what a list shows of a session. But for Pinned, DeletedAt and Damaged, which are marks
// that no event carries, it is folded from the log by [Summarize].
type Summary struct {
	ID        ID
	User      string // whose it is; empty: of who runs the server
	Workspace string // absolute path; empty: the log does not say
	Backend   string
	Model     string
	Title     string
	CreatedAt time.Time
	UpdatedAt time.Time // of the last event that was activity
	Pinned    bool
	Status    event.Status
	Usage     event.Usage
	Tokens    Tokens

	Pending   int       // open questions: permissions and user input
	LastSeq   int64     // of the last logged event
	DeletedAt time.Time // zero: not deleted
	Damaged   int       // logged events that cannot be read, as far as a store knows
	Open      Open
}

// Tokens is the ledger of what was displayed, in tokens of a model.
type Tokens struct {
	Shown int64 `json:"shown"` // what the displayed outputs would cost a model
	Sent  int64 `json:"sent"`  // what their confirmations cost instead
	Saved int64 `json:"saved"`
}

// Open is what the fold has to remember beside what a list shows. A store keeps it with the row, as
// JSON.
type Open struct {
	Turn   string   `json:"turn,omitempty"`   // the id of the turn without an end
	Tools  int      `json:"tools,omitempty"`  // tool calls without a completion
	Queued int      `json:"queued,omitempty"` // accepted messages without a turn
	Tasks  int      `json:"tasks,omitempty"`  // tasks without an end
	LastID event.ID `json:"lastId,omitempty"` // the id of the last logged event
	Asks   string   `json:"asks,omitempty"`   // what the newest open question is about
	Mode   string   `json:"mode,omitempty"`   // the agent works in; empty: its own
	Effort string   `json:"effort,omitempty"` // how hard its model thinks; empty: the model's own
	// Budget is the session's own; nil: it has that of all sessions. Never changed in place.
	Budget *event.Budget `json:"budget,omitempty"`
	// Worktree is the session's own; nil: it works in none. Never changed in place.
	Worktree *event.SessionWorktree `json:"worktree,omitempty"`
	Failed   bool                   `json:"failed,omitempty"` // the last turn ended with an error
	// the number of the last event that was activity
	Active int64 `json:"active,omitempty"`
	Since  int64 `json:"since,omitempty"` // when Turn began, in milliseconds since 1970
	// when the work began that has no session.shutdown, in the same
	Work int64 `json:"work,omitempty"`
	// what the user allowed for the session; never changed in place
	Grants []Given `json:"grants,omitempty"`

	// Opened is what was opened of the sandbox and is not kept for the workspace; never changed in
	// place.
	Opened []Opened `json:"opened,omitempty"`

	Outputs int  `json:"outputs,omitempty"` // how many were shown
	Begun   bool `json:"begun,omitempty"`   // a turn was; not of what a branch began with

	Todos []event.Todo `json:"todos,omitempty"` // the agent's plan; never changed in place
	// what the agent was made to forget; never changed in place
	Left []Stretch `json:"left,omitempty"`
	// Fill is how full the model's context was when that was reported last; nil if it was not, or the
	// agent forgot something since. It is never changed in place.
	Fill *Fill `json:"fill,omitempty"`
	// Branched says that the session began with the conversation of another.
	Branched bool `json:"branched,omitempty"`

	Held []Held `json:"held,omitempty"` // of displays; never changed in place
	// Waits are the open requests about files that are held; never changed in place.
	Waits []string `json:"waits,omitempty"`
	// bytes of the conversation's text since it was last summed up
	Text int64  `json:"text,omitempty"`
	Cuts []Call `json:"cuts,omitempty"` // the newest calls that are estimated; never changed in place
}

// Stretch is a part of a log: what is after one sequence and before another.
type Stretch struct{ After, Before int64 }

// IsLeft reports whether one of the stretches holds the event of a sequence.
func IsLeft(left []Stretch, seq int64) bool {
	return slices.ContainsFunc(left, func(x Stretch) bool { return seq > x.After && seq < x.Before })
}

// LeftAfter returns what is left behind once the session went back, or took that back.
func LeftAfter(left []Stretch, d event.SessionRewound, seq int64) []Stretch {
	of := StretchesOf(d, seq)
	if d.Undoes == 0 {
		return append(slices.Clone(left), of...)
	}
	return slices.DeleteFunc(slices.Clone(left), func(x Stretch) bool {
		i := slices.Index(of, x)
		if i >= 0 {
			of = slices.Delete(of, i, i+1)
		}
		return i >= 0
	})
}

// StretchesOf are those that an event leaves behind, or brings back; seq is its own.
func StretchesOf(d event.SessionRewound, seq int64) (all []Stretch) {
	if d.FilesOnly {
		return nil
	}
	all = []Stretch{{d.After, cmp.Or(d.Undoes, seq)}}
	for _, seq := range d.Waited {
		all = append(all, Stretch{seq - 1, seq + 1})
	}
	return all
}

// Fill is how full a model's context was, and when.
type Fill struct {
	event.Fill
	At int64 `json:"at"` // in milliseconds since 1970
}

// Given is a grant the user gave for a session.
type Given struct {
	event.Grant
	At int64 `json:"at"` // in milliseconds since 1970
}

// Opened is what is open of the sandbox.
type Opened struct {
	event.SandboxOpened
	At int64 `json:"at"` // in milliseconds since 1970
}

// Unfinished reports whether the log ends with something open: after a restart it has to be closed.
func (s Summary) Unfinished() bool {
	return s.Open.Turn != "" || s.Open.Tools > 0 || s.Open.Tasks > 0 || s.Open.Queued > 0 ||
		s.Pending > 0 || len(s.OpenedOnce()) > 0
}

// IncludeOpen gives a cut of the log what is open at its end.
func (s Summary) IncludeOpen(c *event.Cut) {
	turns := 0
	if s.Open.Turn != "" {
		turns = 1
	}
	c.Include(turns, s.Open.Queued, s.Open.Tools, s.Open.Tasks, s.Pending)
}

// Summarize returns what s is after e. It is pure; an ephemeral entry changes nothing.
func Summarize(s Summary, e event.Entry) Summary {
	if e.Event.Ephemeral {
		return s
	}
	s.LastSeq, s.Open.LastID, s.Open.Grants = e.Seq, e.Event.ID, grantsAfter(s.Open.Grants, e)
	s.Open.Opened = openedAfter(s.Open.Opened, e)
	s.Open.hold(e)
	if event.VoidsFill(e.Event.Data) {
		s.Open.Fill = nil
	}
	s.applySession(e)
	s.applyWork(e)
	s.applyTools(e)
	s.applyRequests(e)
	if !event.Aside(e.Event.Data) {
		s.UpdatedAt, s.Open.Active = e.Event.Timestamp, e.Seq
	}
	switch {
	case s.Pending > 0:
		s.Status = event.Waiting
	case s.Open.Turn != "":
		s.Status = event.Running
	default:
		s.Status = event.Idle
	}
	return s
}

// applySession folds what is reported of the session itself.
func (s *Summary) applySession(e event.Entry) {
	switch d := e.Event.Data.(type) {
	case event.SessionStart:
		s.ID, s.Backend, s.Model, s.Title = ID(d.SessionID), d.Backend, d.Model, d.Title
		s.CreatedAt, s.Workspace, s.User = e.Event.Timestamp, d.Workspace, d.User
		s.Open.Work = e.Event.Timestamp.UnixMilli()
	case event.SessionResume:
		s.Open.Work = e.Event.Timestamp.UnixMilli()
	case event.SessionTitleChanged:
		s.Title = d.Title
	case event.SessionModelChange:
		s.Model, s.Open.Effort = d.NewModel, d.Effort
	case event.SessionBudgetChanged:
		s.Open.Budget = &d.Budget
	case event.SessionWorktree:
		s.Open.Worktree = &d
	case event.SessionModeChanged:
		s.Open.Mode = d.Mode
	case event.SessionTodosChanged:
		s.Open.Todos = d.Todos
	case event.SessionRewound:
		s.Open.Left = LeftAfter(s.Open.Left, d, e.Seq)
	case event.SessionBranched:
		s.Open.Branched, s.Open.Begun = true, false // what was copied was sent by another
	case event.SessionShutdown:
		s.Open.Work = 0
		s.bill(d.Usage, "", e)
	}
}

// applyWork folds prompts, turns and tasks.
func (s *Summary) applyWork(e event.Entry) {
	switch d := e.Event.Data.(type) {
	case event.UserMessage:
		s.Open.Queued++
	case event.UserMessageWithdrawn:
		s.Open.Queued = max(0, s.Open.Queued-1)
	case event.TurnStart:
		s.Open.Turn, s.Open.Failed, s.Open.Since, s.Open.Begun = d.TurnID, false,
			e.Event.Timestamp.UnixMilli(), true
		if !d.Own() {
			s.Open.Queued = max(0, s.Open.Queued-1)
		}
	case event.TurnEnd:
		s.Open.Turn, s.Open.Failed, s.Open.Since = "", d.Outcome == event.Failed, 0
		s.Open.Queued = max(0, s.Open.Queued-len(d.Steered))
		s.bill(d.Usage, d.Outcome, e)
		if d.Fill != nil {
			s.Open.Fill = &Fill{*d.Fill, e.Event.Timestamp.UnixMilli()}
		}
	case event.TaskStarted:
		s.Open.Tasks++
	case event.TaskCompleted:
		s.Open.Tasks = max(0, s.Open.Tasks-1)
		s.bill(d.Usage, "", e)
	}
}

// applyTools folds calls of tools.
func (s *Summary) applyTools(e event.Entry) {
	switch d := e.Event.Data.(type) {
	case event.ToolExecutionStart:
		s.Open.Tools++
	case event.ToolExecutionComplete:
		s.Open.Tools = max(0, s.Open.Tools-1)
		s.Tokens.add(readTelemetry(d.ToolTelemetry))
		if d.OutputID != "" {
			s.Open.Outputs++
		}
	}
}

// applyRequests folds what the user is asked.
func (s *Summary) applyRequests(e event.Entry) {
	switch d := e.Event.Data.(type) {
	case event.PermissionRequested:
		s.Pending++
		s.Open.Asks = Brief(d.Resource)
		if event.IsHeld(d) {
			s.Open.Waits = append(slices.Clone(s.Open.Waits), d.RequestID)
		}
	case event.UserInputRequested:
		s.Pending++
		s.Open.Asks = Brief(d.Question)
	case event.PermissionCompleted:
		s.answered()
		if slices.Contains(s.Open.Waits, d.RequestID) {
			s.Open.Waits = slices.DeleteFunc(slices.Clone(s.Open.Waits), func(id string) bool {
				return id == d.RequestID
			})
		}
	case event.UserInputCompleted:
		s.answered()
	}
}

// answered counts one open question less.
func (s *Summary) answered() {
	if s.Pending = max(0, s.Pending-1); s.Pending == 0 {
		s.Open.Asks = ""
	}
}

// grantsAfter returns what the user allows for the session after e.
func grantsAfter(grants []Given, e event.Entry) []Given {
	without := func(id string) []Given {
		return slices.DeleteFunc(slices.Clone(grants), func(g Given) bool { return g.ID == id })
	}
	switch d := e.Event.Data.(type) {
	case event.PermissionRevoked:
		return without(d.Grant.ID)
	case event.PermissionCompleted:
		if g := d.Grant; g != nil && d.By == event.DecidedByUser && d.Decision == event.Allow &&
			g.Scope == event.ForSession {
			return append(without(g.ID), Given{*g, e.Event.Timestamp.UnixMilli()})
		}
	}
	return grants
}

// openedAfter returns what is open of the sandbox after e.
func openedAfter(opened []Opened, e event.Entry) []Opened {
	without := func(id string) []Opened {
		return slices.DeleteFunc(slices.Clone(opened), func(o Opened) bool { return o.ID == id })
	}
	switch d := e.Event.Data.(type) {
	case event.SandboxOpened:
		if d.Scope != event.ForWorkspace {
			return append(without(d.ID), Opened{d, e.Event.Timestamp.UnixMilli()})
		}
	case event.SandboxClosed:
		return without(d.ID)
	}
	return opened
}

// OpenedOnce is what is open of the sandbox for as long as something runs.
func (s Summary) OpenedOnce() (once []Opened) {
	for _, o := range s.Open.Opened {
		if o.Scope == event.Once {
			once = append(once, o)
		}
	}
	return once
}

// Brief is what a list shows of a long text.
func Brief(text string) string { return wording.Cut(text, 200) }

// telemetry is what is known of the output of a call.
type telemetry struct {
	TokensShown, TokensSent int64
	OutputType              string
}

// readTelemetry reads telemetry; anything but such an object counts as none.
func readTelemetry(raw json.RawMessage) (t telemetry) {
	if len(raw) > 0 && json.Unmarshal(raw, &t) != nil {
		return telemetry{}
	}
	return t
}

// add adds the numbers of one displayed output.
func (t *Tokens) add(o telemetry) {
	if o.TokensShown > 0 {
		t.Shown += o.TokensShown
		t.Sent += max(0, o.TokensSent)
		t.Saved += max(0, o.TokensShown-o.TokensSent)
	}
}

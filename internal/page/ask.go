package page

import (
	"html/template"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/render"
)

// ask is a question: may the agent act, or what does it want to know.
type ask struct {
	Request, Call string
	Who           string // the backend that asks
	Answered      bool

	// A permission.
	Tool, Kind, Action, Resource, Cwd, Why, Digest string
	Diff                                           string
	Sensitive                                      bool // a yes counts once
	Decision                                       event.Decision
	Scope                                          event.Scope
	Reason                                         string
	By                                             event.Decider
	Asked, Expires                                 time.Time

	// An agent's question.
	Question  string
	Choices   []string
	Freeform  bool
	Answer    string
	Cancelled bool

	now func() time.Time
	rev int64
}

// Open reports whether it waits for an answer.
func (a *ask) Open() bool { return !a.Answered }

// Rev changes whenever the question does.
func (a *ask) Rev() int64 { return a.rev }

// IsPermission tells the two kinds apart.
func (a *ask) IsPermission() bool { return a.Question == "" }

// Command is what would be done, whole, with nothing hidden.
func (a *ask) Command() template.HTML { return render.Visible(a.Resource) }

// What is the same in one line.
func (a *ask) What() string {
	if !a.IsPermission() {
		return plain(a.Question)
	}
	return plain(a.Resource)
}

// Where is the folder it would happen in, with nothing hidden.
func (a *ask) Where() template.HTML { return render.Visible(a.Cwd) }

// Changes are what a write would change.
func (a *ask) Changes() template.HTML { return render.Diff(a.Diff) }

// Hides says how many characters would not be seen as they are.
func (a *ask) Hides() string {
	n := strings.Count(string(a.Command()), `class="vis"`)
	switch {
	case n == 0:
		return ""
	case n == 1:
		return "One character that hides is made visible."
	}
	return count(n) + " characters that hide are made visible."
}

// Left is the time until it is denied, and Drain the part of the bar that is left.
func (a *ask) Left() string { return clock(max(0, a.Expires.Sub(a.now()))) }

// Drain is the width of the bar that empties until then.
func (a *ask) Drain() string {
	whole, left := a.Expires.Sub(a.Asked), a.Expires.Sub(a.now())
	if whole <= 0 || left <= 0 {
		return "0%"
	}
	return itoa(int64(min(100, 100*left/whole))) + "%"
}

// Stamp and Since are the ends of the bar, for scripts.
func (a *ask) Stamp() string { return event.Time(a.Expires).String() }

// Since is when it was asked.
func (a *ask) Since() string { return event.Time(a.Asked).String() }

// Timed reports whether it ends by itself.
func (a *ask) Timed() bool { return !a.Expires.IsZero() }

// Head is the question in one line.
func (a *ask) Head() string {
	if !a.IsPermission() {
		return a.Who + " wants to know"
	}
	return a.Who + " asks to " + plain(a.Action)
}

// Verdict is the answer, as the row begins.
func (a *ask) Verdict() string {
	allowed := a.Decision == event.Allow
	word := "Denied"
	if allowed {
		word = "Allowed"
	}
	switch a.By {
	case event.DecidedByUser:
		switch {
		case allowed && a.Scope == event.ForSession:
			return "Allowed for this session by you"
		case allowed:
			return "Allowed once by you"
		}
		return "Denied by you"
	case event.DecidedByRule:
		return word + " by rule"
	case event.DecidedByHook:
		return word + " by hook"
	case event.DecidedByMode:
		return word + " without asking"
	case event.DecidedByAbort:
		return "Not answered"
	}
	return word
}

// Because is the reason behind a refusal.
func (a *ask) Because() string {
	switch {
	case a.Decision == event.Allow:
		return ""
	case a.By == event.DecidedByTimeout:
		return "nobody answered in " + span(a.Expires.Sub(a.Asked))
	case a.By == event.DecidedByAbort:
		return "the turn was stopped"
	case a.By == event.DecidedByUser: // the verdict says so already
		return strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(a.Reason, "The user said no."), "The user said no:"), " ")
	}
	return a.Reason
}

// Icon is the mark of the answered row.
func (a *ask) Icon() string {
	switch {
	case !a.IsPermission() && !a.Cancelled, a.Decision == event.Allow:
		return "check"
	}
	return "x"
}

func (f *fold) permission(d event.PermissionRequested) {
	a := &ask{
		Request: d.RequestID, Call: d.ToolCallID, Who: f.who(), Tool: d.ToolName, Kind: d.Kind, Action: d.Action,
		Resource: d.Resource, Cwd: d.Cwd, Why: d.Why, Sensitive: d.Sensitive, Diff: d.Diff, Digest: d.Digest, Asked: f.now, Expires: time.Time(d.ExpiresAt),
	}
	f.addAsk(a, d.ToolCallID)
	f.batch.say("alert", a.Head()+": "+firstLine(a.What(), 200))
}

func (f *fold) question(d event.UserInputRequested) {
	a := &ask{Request: d.RequestID, Call: d.ToolCallID, Who: f.who(), Question: d.Question, Choices: d.Choices, Freeform: d.AllowFreeform, Asked: f.now}
	if a.Question == "" {
		a.Question = "It did not say what"
	}
	f.addAsk(a, d.ToolCallID)
	f.batch.say("alert", a.Head()+": "+firstLine(a.What(), 200))
}

func (f *fold) addAsk(a *ask, callID string) {
	a.now, a.rev = f.cfg.Now, f.seq
	if f.nodes["p-"+a.Request] != nil {
		return
	}
	n := f.node(elementID("p-", a.Request))
	n.Ask = a
	f.nodes["p-"+a.Request] = n
	f.setOpen(f.open + 1)
	c := f.nodes["c-"+callID]
	if callID == "" || c == nil {
		f.addStep(f.place(""), n)
		return
	}
	c.Call.Asked++
	if p := c.parent; p.Steps != nil {
		f.insertBefore(p, c, n)
	} else if p.last() == c {
		f.stepBefore(p, c, n)
	} else {
		f.addStep(p, n)
	}
	f.callChanged(c)
}

// insertBefore puts n before one of the children of parent.
func (f *fold) insertBefore(parent, sibling, n *node) {
	n.parent = parent
	for i, k := range parent.Kids {
		if k == sibling {
			parent.Kids = append(parent.Kids[:i:i], append([]*node{n}, parent.Kids[i:]...)...)
			break
		}
	}
	f.touch(n)
	f.batch.before(sibling, n)
}

func (f *fold) decided(d event.PermissionCompleted) {
	n := f.nodes["p-"+d.RequestID]
	if n == nil || n.Ask.Answered {
		return
	}
	a := n.Ask
	a.Decision, a.Scope, a.Reason, a.By = d.Decision, d.Scope, d.Reason, d.By
	f.settle(n, d.Decision == event.Deny)
}

func (f *fold) answered(d event.UserInputCompleted) {
	n := f.nodes["p-"+d.RequestID]
	if n == nil || n.Ask.Answered {
		return
	}
	n.Ask.Answer = d.Answer
	n.Ask.Cancelled = d.By == event.DecidedByAbort || d.By == event.DecidedByTimeout
	f.settle(n, false)
}

func (f *fold) settle(n *node, refused bool) {
	n.Ask.Answered, n.Ask.rev = true, f.seq
	f.setOpen(f.open - 1)
	f.stepChanged(n)
	f.batch.replace(n)
	if c := f.nodes["c-"+n.Ask.Call]; n.Ask.Call != "" && c != nil {
		c.Call.Asked--
		c.Call.Refused = c.Call.Refused || refused
		f.callChanged(c)
	}
}

// who is the agent's name, as questions use it.
func (f *fold) who() string {
	if f.backend == "" {
		return "The agent"
	}
	return f.backend
}

package page

import (
	"slices"
	"strconv"
	"time"

	"webchat/internal/event"
	"webchat/internal/render/markdown"
	"webchat/internal/wording"
)

// Dock is the list of open questions above the composer, the oldest first.
type Dock struct{ list *node }

// Dock is the list as it is now.
func (f *State) Dock() Dock { return Dock{f.asks} }

// Kids are the questions.
func (d Dock) Kids() []*node { return d.list.Kids }

// Many says that there is more than one.
func (d Dock) Many() bool { return len(d.list.Kids) > 1 }

// Head counts them.
func (d Dock) Head() string {
	if len(d.list.Kids) == 0 {
		return ""
	}
	return d.list.Kids[0].Question.Who + " asks " + wording.Plural(len(d.list.Kids), "question")
}

// alike are open questions that one button can answer, because one grant covers
// all of them.
type alike struct {
	Option
	Tool     string
	Requests []string
	El       string
}

// Count is how many they are.
func (a alike) Count() int { return len(a.Requests) }

// Alike finds questions about the same tool that a grant with the same text
// covers. Ids are compared, too: the words "this command, exactly" are the same for
// different commands. Where two grants cover the same questions the narrower counts.
func (d Dock) Alike() []alike {
	var groups []alike
	for _, k := range d.list.Kids {
		for _, g := range k.Question.Grants {
			i := slices.IndexFunc(groups, func(a alike) bool { return a.Tool == k.Question.Tool && a.ID == g.ID && a.Text == g.Text })
			if i < 0 {
				i = len(groups)
				groups = append(groups, alike{Option: Option{Grant: g}, Tool: k.Question.Tool, El: "all-" + k.ID + "-" + strconv.Itoa(i)})
			}
			if !slices.Contains(groups[i].Requests, k.Question.Request) {
				groups[i].Requests = append(groups[i].Requests, k.Question.Request)
			}
		}
	}
	var out []alike
	for _, g := range groups {
		same := func(a alike) bool { return slices.Equal(a.Requests, g.Requests) }
		if g.Count() > 1 && !slices.ContainsFunc(out, same) {
			out = append(out, g)
		}
	}
	return out
}

func (f *State) permission(d event.PermissionRequested) {
	a := &Ask{
		Request: d.RequestID, Call: d.ToolCallID, Who: f.agentName(), Tool: d.ToolName, Kind: d.Kind, Action: d.Action,
		Resource: d.Resource, Target: d.Target, Resources: d.Resources, Cwd: d.Cwd, Why: wording.Plain(d.Why), Sensitive: d.Sensitive, Diff: d.Diff, Digest: d.Digest,
		Withheld: d.Withheld, Grants: d.Grants, Asked: f.now, Expires: time.Time(d.ExpiresAt),
	}
	f.addAsk(a)
}

func (f *State) question(d event.UserInputRequested) {
	a := &Ask{Request: d.RequestID, Call: d.ToolCallID, Who: f.agentName(), Question: d.Question, Choices: d.Choices, Freeform: d.AllowFreeform, Asked: f.now}
	if d.Detail != "" {
		a.Detail = markdown.HTML(d.Detail)
	}
	if a.Question == "" {
		a.Question = "(an empty question)"
	}
	f.addAsk(a)
}

// addAsk opens a question: its row in the transcript, its card in the dock.
func (f *State) addAsk(a *Ask) {
	if f.nodes["p-"+a.Request] != nil || f.waiting(a.Request) != nil {
		return
	}
	n := f.node(elementID("p-", a.Request))
	a.In, a.Rev, a.Row = f.cards, f.Seq, n.ID
	n.Ask = a
	f.nodes["p-"+a.Request] = n
	q := &node{ID: "q" + n.ID[1:], Question: a, parent: f.asks, hides: f.placeAsk(n)}
	f.asks.Kids = append(f.asks.Kids, q)
	f.batch.append(f.asks, q)
	f.dockChanged()
	f.batch.announceAbout(q, "alert", a.Head()+": "+wording.FirstLine(a.What(), 200))
}

// placeAsk puts the row of a question before that of its call, if there is one, which
// it returns.
func (f *State) placeAsk(n *node) *node {
	c := f.nodes["c-"+n.Ask.Call]
	if n.Ask.Call == "" || c == nil {
		f.addStep(f.container(""), n)
		return nil
	}
	n.Ask.About = c.Call
	c.Call.Asked++
	if p := c.parent; p.Steps != nil {
		f.insertBefore(p, c, n)
	} else if p.last() == c {
		f.stepBefore(p, c, n)
	} else {
		f.addStep(p, n)
	}
	f.callChanged(c)
	return c
}

// insertBefore puts n before one of the children of parent.
func (f *State) insertBefore(parent, sibling, n *node) {
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

// waiting returns the card of an open question.
func (f *State) waiting(request string) *node {
	for _, q := range f.asks.Kids {
		if q.Question.Request == request {
			return q
		}
	}
	return nil
}

// dockChanged shows what of the dock depends on all of its questions.
func (f *State) dockChanged() {
	var hidden, many *string
	switch len(f.asks.Kids) {
	case 0:
		hidden = ptr("")
	case 1:
	default:
		many = ptr("")
	}
	f.batch.attr(nil, "dock-asks", "hidden", hidden)
	f.batch.attr(nil, "dock-asks", "data-many", many)
	f.batch.part(nil, "asks-head", "asks.head", func() any { return f.Dock() })
	f.batch.part(nil, "asks-alike", "asks.alike", func() any { return f.Dock() })
	f.batch.title(f.DocumentTitle())
}

func (f *State) decided(d event.PermissionCompleted) {
	if q := f.waiting(d.RequestID); q != nil && q.Question.IsPermission() {
		a := q.Question
		a.Decision, a.Scope, a.Grant, a.Rule, a.Reason, a.By = d.Decision, d.Scope, d.Grant, d.Rule, wording.Plain(d.Reason), d.By
		if c := a.About; c != nil {
			c.Waited += min(f.now.Sub(a.Asked), f.now.Sub(c.StartedAt))
		}
		f.closeQuestion(q, d.Decision == event.Deny)
	}
}

func (f *State) answered(d event.UserInputCompleted) {
	if q := f.waiting(d.RequestID); q != nil && !q.Question.IsPermission() {
		q.Question.Answer = d.Answer
		q.Question.Cancelled = d.By == event.DecidedByAbort || d.By == event.DecidedByTimeout
		f.closeQuestion(q, false)
	}
}

// closeQuestion takes the card of an answered question out of the dock; its row says how
// it was answered.
func (f *State) closeQuestion(q *node, refused bool) {
	a := q.Question
	a.Answered, a.Rev = true, f.Seq
	q.detach()
	f.batch.remove(q)
	f.dockChanged()
	c := q.hides
	if n := f.nodes["p-"+a.Request]; n != nil {
		if c != nil && a.AllowedByRule() {
			f.mergeIntoCall(c, n)
		} else {
			f.stepChanged(n)
			f.batch.replace(n)
		}
	}
	if c != nil {
		c.Call.Asked--
		c.Call.Refused = c.Call.Refused || refused
		f.callChanged(c)
	}
}

// mergeIntoCall makes a decision part of its call's row.
func (f *State) mergeIntoCall(c, n *node) {
	c.Call.Allowed = n.Ask
	f.touch(n)
	steps := n.parent
	delete(f.nodes, "p-"+n.Ask.Request)
	n.detach()
	f.batch.remove(n)
	switch {
	case steps.Steps == nil:
	case len(steps.Kids) == 0:
		steps.detach()
		f.batch.remove(steps)
	default:
		f.stepChanged(steps.Kids[0])
	}
}

// askChanged shows the open questions about a call again, which tell of it.
func (f *State) askChanged(callID string) {
	for _, q := range f.asks.Kids {
		if callID != "" && q.Question.Call == callID {
			q.Question.About, q.Question.Rev = f.nodes["c-"+callID].Call, f.Seq
			f.batch.replace(q)
		}
	}
}

// agentName is the agent's name, as questions use it.
func (f *State) agentName() string {
	if f.Backend == "" {
		return "The agent"
	}
	return f.Backend
}

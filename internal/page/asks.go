package page

import (
	"cmp"
	"slices"
	"strings"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// dock is what stands around the open questions above the composer, the oldest first.
type dock struct {
	Kids   []*node
	Many   bool   // several cards stand there
	Own    bool   // the page keeps the questions
	Head   string // counts them
	Groups []together
}

// questions is what the user is asked.
type questions struct {
	*core
	asks    *node                            // the open ones, which stand in the dock
	reached event.BudgetReached              // the last one, which the next question is about
	beside  map[string]event.FileAlsoChanged // by file: of the turn that runs
}

// Dock is that as it is now.
func (f *questions) Dock() dock {
	d := dock{Kids: f.asks.Kids, Own: f.Own, Groups: groupsOf(f.asks.Kids)}
	cards := len(d.Kids)
	for _, g := range d.Groups {
		cards -= len(g.Asks) - 1
	}
	d.Many = cards > 1
	if n := wording.Plural(len(d.Kids), "question"); slices.ContainsFunc(d.Kids, func(q *node) bool {
		return q.Question.ofUser()
	}) {
		d.Head = n + " to answer"
	} else if len(d.Kids) > 0 {
		d.Head = d.Kids[0].Question.Who + " asks " + n
	}
	return d
}

// together is open questions that are one card: a list with a tick for each.
type together struct {
	By   string // what they have in common: acts, held, or a call that waits for hosts
	El   string
	Asks []*Ask // the oldest first
}

// groupBy is what a question may have in common with others; empty: it has a card of its own.
func groupBy(a *Ask) string {
	switch {
	case a.Later():
		return "held"
	case a.Host():
		return "hosts " + a.ToolCallID
	case a.IsPermission() && !a.Budget() && !a.ByUser():
		return "acts"
	}
	return ""
}

// groupsOf puts questions together: those about hosts always, others where they are several.
func groupsOf(questions []*node) (all []together) {
	for _, k := range questions {
		by := groupBy(k.Question)
		if by == "" {
			continue
		}
		i := slices.IndexFunc(all, func(g together) bool { return g.By == by })
		if i < 0 {
			i = len(all)
			all = append(all, together{By: by, El: "all-" + k.ID})
		}
		all[i].Asks = append(all[i].Asks, k.Question)
	}
	return slices.DeleteFunc(all, func(g together) bool { return len(g.Asks) < 2 && !g.Hosts() })
}

// Held reports whether they are about what is held.
func (g together) Held() bool { return g.By == "held" }

// Hosts reports whether they are about the hosts that one call waits for.
func (g together) Hosts() bool { return strings.HasPrefix(g.By, "hosts ") }

// First is the one that came first.
func (g together) First() *Ask { return g.Asks[0] }

// Next is the one that is denied first; nil if they wait.
func (g together) Next() (next *Ask) {
	for _, a := range g.Asks {
		if a.Timed() && (next == nil || a.Expires().Before(next.Expires())) {
			next = a
		}
	}
	return next
}

// Head says how many they are, and what they are about.
func (g together) Head() string {
	if g.Hosts() {
		return g.wantsHosts()
	}
	if g.Held() {
		return "The agent made " + wording.Plural(len(g.Asks), "file") + " that run later by themselves"
	}
	who := g.First().Who + " asks"
	if g.First().ofUser() {
		who = "You asked"
	}
	return who + " to " + g.acts()
}

// acts says what would be done: run 2 commands and change 1 file.
func (g together) acts() string {
	verbs := [...]struct{ kind, does, noun string }{
		{"shell", "run ", "command"},
		{"write", "change ", "file"},
		{"read", "read ", "file"},
	}
	var parts []string
	left := len(g.Asks)
	for _, v := range verbs {
		n := 0
		for _, a := range g.Asks {
			if a.Kind == v.kind {
				n++
			}
		}
		if left -= n; n > 0 {
			parts = append(parts, v.does+wording.Plural(n, v.noun))
		}
	}
	if left > 0 || len(parts) > 2 {
		return "do " + wording.Plural(len(g.Asks), "thing")
	}
	return strings.Join(parts, " and ")
}

// Wrong says what about it wants a second look; empty if nothing does.
func (a *Ask) Wrong() string {
	switch {
	case a.Secret != nil:
		return a.Reveals()
	case len(a.Hides()) > 0:
		return "hides a character"
	case a.Target != "" && a.Outside(), slices.ContainsFunc(a.Resources, func(r event.Resource) bool {
		return r.Target != "" && a.outside(r.Target)
	}):
		return "outside this workspace"
	case a.Sensitive:
		return "asked each time"
	}
	return ""
}

func (f *questions) permission(d event.PermissionRequested) {
	d.Why = wording.Plain(d.Why)
	f.open(&Ask{PermissionRequested: d, Reached: f.reached, Beside: f.alsoIn(d)})
}

func (f *questions) question(d event.UserInputRequested) {
	d.Question = cmp.Or(d.Question, "(an empty question)")
	f.open(&Ask{Input: d, PermissionRequested: event.PermissionRequested{
		RequestID:  d.RequestID,
		ToolCallID: d.ToolCallID,
	}})
}

// open opens a question: its row in the transcript, its card in the dock.
func (f *questions) open(a *Ask) {
	if f.nodes["p-"+a.RequestID] != nil || f.waiting(a.RequestID) != nil {
		return
	}
	n := f.node(elementID("p-", a.RequestID))
	if a.Later() {
		a.ToolCallID = "" // it is made already: nothing of its call waits
	}
	a.In, a.Rev, a.Row, a.Asked, a.Who = f.cards, f.Seq, n.ID, f.now, cmp.Or(f.Backend, "The agent")
	a.ByPrompt = f.pages.noModel(f.Backend)
	n.Ask = a
	f.nodes["p-"+a.RequestID] = n
	q := &node{ID: "q" + n.ID[1:], Question: a, hides: f.place(n)}
	f.insert(f.asks, nil, q)
	f.dockChanged()
	text := a.Head() + ": " + wording.FirstLine(a.What(), 200)
	if secret := a.Reveals(); secret != "" {
		text += ". " + secret
	}
	f.announce(q, "alert", text)
}

// place puts the row of a question beside that of its call, if there is one, which
// it returns if the question stands for the call.
func (f *questions) place(n *node) *node {
	c := f.nodes["c-"+n.Ask.ToolCallID]
	if n.Ask.ToolCallID == "" || c == nil {
		f.addStep(f.container(""), n)
		return nil
	}
	n.Ask.About = c.Call
	inside := isInside(n.Ask, c.Call)
	if !inside {
		c.Call.Asked++
	}
	p := c.parent
	for p.Turn == nil && p.Call == nil { // the turn, or the call of a helper agent
		p = p.parent
	}
	f.addStep(p, n)
	f.callChanged(c)
	if inside {
		return nil
	}
	return c
}

// isInside reports whether a command of the call asks, which goes on whatever the answer is.
func isInside(a *Ask, c *Call) bool {
	v, _ := verbOf(c.Tool)
	return a.Kind == event.KindHost || a.Kind == event.KindMCP && v.done == "Ran"
}

// waiting returns the card of an open question.
func (f *questions) waiting(request string) *node {
	for _, q := range f.asks.Kids {
		if q.Question.RequestID == request {
			return q
		}
	}
	return nil
}

func (f *questions) dockChanged() {
	f.changed("dock-asks")
	f.batch.tab = true
}

func (f *questions) decided(d event.PermissionCompleted) {
	if q := f.waiting(d.RequestID); q != nil && q.Question.IsPermission() {
		d.Reason = wording.Plain(d.Reason)
		q.Question.Decided = d
		if c := q.Question.About; c != nil {
			c.Waited += min(f.now.Sub(q.Question.Asked), f.now.Sub(c.StartedAt))
			if n := f.nodes["c-"+c.ID]; n != nil {
				f.callChanged(n)
			}
		}
		f.close(q, d.Decision == event.Deny)
	}
}

func (f *questions) answered(d event.UserInputCompleted) {
	if q := f.waiting(d.RequestID); q != nil && !q.Question.IsPermission() {
		q.Question.Answer = d
		f.close(q, false)
	}
}

// close takes the card of an answered question out of the dock; its row says how
// it was answered.
func (f *questions) close(q *node, refused bool) {
	a := q.Question
	a.Answered, a.AnsweredAt, a.Rev = true, f.now, f.Seq
	f.remove(q)
	f.dockChanged()
	c := q.hides
	if n := f.nodes["p-"+a.RequestID]; n != nil {
		if c != nil && a.Allowed() {
			f.mergeIntoCall(c, n)
		} else {
			f.stepChanged(n, whole)
		}
	}
	if c != nil {
		c.Call.Asked--
		c.Call.Refused = c.Call.Refused || refused
		f.callChanged(c)
	}
}

// mergeIntoCall makes a decision part of its call's row.
func (f *questions) mergeIntoCall(c, n *node) {
	c.Call.Allowed = append(c.Call.Allowed, n.Ask)
	delete(f.nodes, "p-"+n.Ask.RequestID)
	f.take(n)
}

// callChangedAt shows the open questions about a call again, which describe it.
func (f *questions) callChangedAt(callID string) {
	for _, q := range f.asks.Kids {
		if callID != "" && q.Question.ToolCallID == callID {
			q.Question.About, q.Question.Rev = f.nodes["c-"+callID].Call, f.Seq
			f.show(q, whole)
			f.changed("dock-asks") // which says who asks
			if row := f.nodes["p-"+q.Question.RequestID]; row != nil {
				f.stepChanged(row, whole) // which names the program
			}
		}
	}
}

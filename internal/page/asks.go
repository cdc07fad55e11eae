package page

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// dock is what stands around the open questions above the composer, the oldest first.
type dock struct {
	Kids  []*node
	Many  bool   // several stand by themselves
	Own   bool   // the page keeps the questions
	Head  string // counts them
	Alike []alike
}

// Dock is that as it is now.
func (f *State) Dock() dock {
	d := dock{Kids: f.asks.Kids, Own: f.Own, Alike: alikeOf(f.asks.Kids)}
	single := len(d.Kids)
	for _, g := range d.Alike {
		if !g.Apart {
			single -= len(g.Asks)
		}
	}
	for _, g := range heldAndHosts(f.asks.Kids) {
		single -= len(g.Asks)
		d.Alike = append(d.Alike, g)
	}
	d.Many = single > 1
	if n := wording.Plural(len(d.Kids), "question"); slices.ContainsFunc(d.Kids, func(q *node) bool {
		return q.Question.ofUser()
	}) {
		d.Head = n + " to answer"
	} else if len(d.Kids) > 0 {
		d.Head = d.Kids[0].Question.Who + " asks " + n
	}
	for i := range d.Alike {
		d.Alike[i].More = single > 0
	}
	return d
}

// alike are open questions that one button can answer, because one grant covers
// all of them.
type alike struct {
	event.Grant
	Asks  []*Ask // the oldest first
	El    string
	More  bool // there are others
	Held  bool // they are about what is held
	Hosts bool // they are about hosts that one call waits for
	Apart bool // each has its own card at once, since a line does not show what it does
}

// First is the one that is denied first.
func (a alike) First() *Ask { return a.Asks[0] }

// begins matches the words that commands of a grant begin with.
var begins = regexp.MustCompile("^commands that begin with (`[^`]+`)")

// Head says how many they are, and in what they are alike.
func (a alike) Head() string {
	if a.Hosts {
		return a.wantsHosts()
	}
	if a.Held {
		return "The agent made " + wording.Plural(len(a.Asks), "file") + " that run later by themselves"
	}
	what, head := a.Text, wording.Count(len(a.Asks))
	if m := begins.FindStringSubmatch(a.Text); m != nil {
		what = "beginning with " + m[1]
	}
	if a.More {
		return head + " more, all " + what
	}
	return head + " questions, all " + what
}

// heldAndHosts groups the questions about what is held, if they are several, and behind them those
// about hosts by the call that waits for them.
func heldAndHosts(questions []*node) []alike {
	all := []alike{{Grant: event.Grant{ID: "held"}, Held: true}}
	for _, k := range questions {
		key, el := "held", "held-"+k.ID
		switch q := k.Question; {
		case q.Host():
			key, el = "hosts "+q.ToolCallID, "hosts-"+k.ID
		case !q.Later():
			continue
		}
		i := slices.IndexFunc(all, func(a alike) bool { return a.ID == key })
		if i < 0 {
			i = len(all)
			all = append(all, alike{Grant: event.Grant{ID: key}, Hosts: true})
		}
		all[i].El = cmp.Or(all[i].El, el)
		all[i].Asks = append(all[i].Asks, k.Question)
	}
	if len(all[0].Asks) < 2 {
		return all[1:]
	}
	return all
}

// alikeOf finds questions that a grant covers together: the largest group first, and of two that
// are as large that of the narrower grant. Each question is in one group at most.
func alikeOf(questions []*node) (out []alike) {
	var groups []alike
	for _, k := range questions {
		for _, g := range k.Question.Grants {
			if g.Scope != "" { // it covers whatever is asked, which is not alike
				continue
			}
			i := slices.IndexFunc(groups, func(a alike) bool { return a.ID == g.ID && a.Text == g.Text })
			if i < 0 {
				i = len(groups)
				groups = append(groups, alike{Grant: g, El: "all-" + k.ID + "-" + strconv.Itoa(i)})
			}
			groups[i].Asks = append(groups[i].Asks, k.Question)
			groups[i].Apart = groups[i].Apart || k.Question.Diff != "" || len(k.Question.Resources) > 0
		}
	}
	slices.SortStableFunc(groups, func(a, b alike) int { return len(b.Asks) - len(a.Asks) })
	taken := map[*Ask]bool{}
	for _, g := range groups {
		if len(g.Asks) < 2 || slices.ContainsFunc(g.Asks, func(a *Ask) bool { return taken[a] }) {
			continue
		}
		for _, a := range g.Asks {
			taken[a] = true
		}
		out = append(out, g)
	}
	return out
}

func (f *State) permission(d event.PermissionRequested) {
	d.Why = wording.Plain(d.Why)
	f.addAsk(&Ask{PermissionRequested: d, Reached: f.reached, Beside: f.alsoIn(d)})
}

func (f *State) question(d event.UserInputRequested) {
	d.Question = cmp.Or(d.Question, "(an empty question)")
	f.addAsk(&Ask{Input: d, PermissionRequested: event.PermissionRequested{
		RequestID:  d.RequestID,
		ToolCallID: d.ToolCallID,
	}})
}

// addAsk opens a question: its row in the transcript, its card in the dock.
func (f *State) addAsk(a *Ask) {
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
	q := &node{ID: "q" + n.ID[1:], Question: a, hides: f.placeAsk(n)}
	f.insert(f.asks, nil, q)
	f.dockChanged()
	text := a.Head() + ": " + wording.FirstLine(a.What(), 200)
	if secret := a.Reveals(); secret != "" {
		text += ". " + secret
	}
	f.announce(q, "alert", text)
}

// placeAsk puts the row of a question beside that of its call, if there is one, which
// it returns if the question stands for the call.
func (f *State) placeAsk(n *node) *node {
	c := f.nodes["c-"+n.Ask.ToolCallID]
	if n.Ask.ToolCallID == "" || c == nil {
		f.addStep(f.container(""), n)
		return nil
	}
	n.Ask.About = c.Call
	inside := n.Ask.isInside(c.Call)
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
func (a *Ask) isInside(c *Call) bool {
	v, _ := verbOf(c.Tool)
	return a.Kind == event.KindHost || a.Kind == event.KindMCP && v.done == "Ran"
}

// waiting returns the card of an open question.
func (f *State) waiting(request string) *node {
	for _, q := range f.asks.Kids {
		if q.Question.RequestID == request {
			return q
		}
	}
	return nil
}

func (f *State) dockChanged() {
	f.changed("dock-asks")
	f.batch.title = true
}

func (f *State) decided(d event.PermissionCompleted) {
	if q := f.waiting(d.RequestID); q != nil && q.Question.IsPermission() {
		d.Reason = wording.Plain(d.Reason)
		q.Question.Decided = d
		if c := q.Question.About; c != nil {
			c.Waited += min(f.now.Sub(q.Question.Asked), f.now.Sub(c.StartedAt))
			if n := f.nodes["c-"+c.ID]; n != nil {
				f.callChanged(n)
			}
		}
		f.closeQuestion(q, d.Decision == event.Deny)
	}
}

func (f *State) answered(d event.UserInputCompleted) {
	if q := f.waiting(d.RequestID); q != nil && !q.Question.IsPermission() {
		q.Question.Answer = d
		f.closeQuestion(q, false)
	}
}

// closeQuestion takes the card of an answered question out of the dock; its row says how
// it was answered.
func (f *State) closeQuestion(q *node, refused bool) {
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
func (f *State) mergeIntoCall(c, n *node) {
	c.Call.Allowed = append(c.Call.Allowed, n.Ask)
	delete(f.nodes, "p-"+n.Ask.RequestID)
	f.take(n)
}

// askChanged shows the open questions about a call again, which describe it.
func (f *State) askChanged(callID string) {
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

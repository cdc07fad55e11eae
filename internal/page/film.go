package page

import (
	"slices"
	"strconv"
	"strings"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

const (
	filmStops   = 256  // events between two summaries that a film keeps
	filmColumns = 300  // a drawn film has no more columns, and marks of one kind
	filmTimes   = 2000 // moments whose time a drawn film carries
)

// Film is the whole of a session's log as a replay draws it: what it cost after each event, and
// what happened when. It is fed the log from its start and grows with it. It is not safe for
// concurrent use.
type Film struct {
	sum     eventlog.Summary
	stops   []eventlog.Summary // the session's, after every filmStops events
	times   []int64            // of each event, in milliseconds since 1970
	costs   []filmCost         // after each event that changed it
	sent    int64              // the first event that shows that a model was called; 0: none does
	marks   []filmMark
	sights  []sight
	prompts []filmPrompt
	tools   map[string]string // of running calls, by their ids
}

// filmCost is what a session's calls took up to an event, in tokens; guess is the part of so far
// that no agent reported.
type filmCost struct{ seq, sofar, read, guess int64 }

// filmMark is something that happened at an event: prompt, look, edit, question or compaction.
type filmMark struct {
	seq  int64
	kind string
}

// sight is something that came before the user's eyes: an output, or what a call edited.
type sight struct {
	seq          int64
	output, call string // one of the two
}

type filmPrompt struct {
	seq int64
	id  string
}

// costOf is what calls took as charged, and what they would have taken had the models read
// everything that was shown.
func costOf(u event.Usage) (sofar, read int64) {
	sofar = u.InputTokens + u.OutputTokens
	return sofar, sofar + u.KeptTokens
}

// Last is the last event that the film has.
func (m *Film) Last() int64 { return m.sum.LastSeq }

// Before returns the summary of the session after an event up to seq, as close to it as the film
// keeps one. [eventlog.Summarize] brings it forward.
func (m *Film) Before(seq int64) eventlog.Summary {
	i := min(seq/filmStops, int64(len(m.stops)))
	if i <= 0 {
		return eventlog.Summary{}
	}
	return m.stops[i-1]
}

// Take takes the events that come next in the log.
func (m *Film) Take(entries ...event.Entry) {
	if m.tools == nil {
		m.tools = map[string]string{}
	}
	for _, e := range entries {
		if e.Seq == m.sum.LastSeq+1 {
			m.take(e)
		}
	}
}

func (m *Film) take(e event.Entry) {
	m.sum = eventlog.Summarize(m.sum, e)
	m.times = append(m.times, e.Event.Timestamp.UnixMilli())
	if e.Seq%filmStops == 0 {
		m.stops = append(m.stops, m.sum)
	}
	sofar, read := costOf(m.sum.Usage)
	now := filmCost{0, sofar, read, m.sum.Usage.EstimatedTokens}
	if n := len(m.costs); n > 0 {
		now.seq = m.costs[n-1].seq
	}
	if len(m.costs) == 0 || m.costs[len(m.costs)-1] != now {
		now.seq = e.Seq
		m.costs = append(m.costs, now)
	}
	mark := func(kind string) { m.marks = append(m.marks, filmMark{e.Seq, kind}) }
	if m.sent == 0 && showsAModel(e.Event.Data) {
		m.sent = e.Seq
	}
	switch d := e.Event.Data.(type) {
	case event.UserMessage:
		m.prompts = append(m.prompts, filmPrompt{e.Seq, d.MessageID})
		mark("prompt")
	case event.UserMessageWithdrawn:
		m.prompts = slices.DeleteFunc(m.prompts, func(p filmPrompt) bool { return p.id == d.MessageID })
	case event.PermissionRequested, event.UserInputRequested:
		mark("question")
	case event.SessionCompactionComplete, event.SessionTruncation:
		mark("compaction")
	case event.ToolExecutionStart:
		m.tools[d.ToolCallID] = d.ToolName
	case event.ToolExecutionComplete:
		c := Call{Tool: m.tools[d.ToolCallID], State: "done"}
		delete(m.tools, d.ToolCallID)
		if d.Result != nil {
			c.Edits = d.Result.Edits
		}
		switch {
		case d.OutputID != "":
			mark("look")
			m.sights = append(m.sights, sight{seq: e.Seq, output: d.OutputID})
		case d.Success && c.edits():
			mark("edit")
			m.sights = append(m.sights, sight{seq: e.Seq, call: d.ToolCallID})
		}
	case event.OutputOpened:
		m.sights = append(m.sights, sight{seq: e.Seq, output: d.OutputID})
	case event.OutputReread:
		m.sights = append(m.sights, sight{seq: e.Seq, output: d.NewOutputID})
	}
}

// showsAModel reports whether an event comes of a call of a model, whose size is known later.
func showsAModel(data event.Data) bool {
	switch d := data.(type) {
	case event.AssistantTurnStart, event.AssistantMessage, event.AssistantReasoning:
		return true
	case event.ToolExecutionStart:
		return d.By == event.ByAgent
	}
	return false
}

// seenUpTo are the sights up to an event.
func (m *Film) seenUpTo(seq int64) []sight {
	i, _ := slices.BinarySearchFunc(m.sights, seq+1, func(s sight, seq int64) int {
		return int(s.seq - seq)
	})
	return m.sights[:i]
}

// nextPrompt is the first prompt after an event; false if there is none.
func (m *Film) nextPrompt(seq int64) (filmPrompt, bool) {
	i := slices.IndexFunc(m.prompts, func(p filmPrompt) bool { return p.seq > seq })
	if i < 0 {
		return filmPrompt{}, false
	}
	return m.prompts[i], true
}

// drawnFilm is a film as its template has it, at a moment.
type drawnFilm struct {
	At, Last int64
	Clock    string
	Bars     []filmBar
	Marks    []drawnMark
	Clocks   []drawnMark // the times of prompts, as far as there is room
	Past     string      // the part before the moment, in percent
	Base     string      // the address of the replay; empty: a file, in which nothing leads anywhere

	// For the script: the prompts' events; the time of every Stride-th event, in milliseconds since
	// the one before; "event so-far read" for each change; the first event's time, and what the
	// server's clock adds to UTC, in the same.
	Prompts, Times, Costs codes
	Stride                int
	Start, Zone           int64
	// the first event at which something was sent to a model; 0: there is none
	Sent int64
}

// Before and After are the moments beside that of the film.
func (d *drawnFilm) Before() int64 { return max(1, d.At-1) }
func (d *drawnFilm) After() int64  { return min(d.Last, d.At+1) }

// codes is text of ours that scripts and browsers read. It is not a string, so that nothing of it
// is taken for what people read and has to be covered or marked.
type codes struct{ text string }

func (c codes) String() string { return c.text }

// filmBar is a part of the film with one height, in percent of its width and in its units of
// height.
type filmBar struct {
	X, Width         string
	Held, HeldTop    int64
	Guess            int64 // the part of Held, at its top, that is estimated
	Seen, SeenTop    int64
	seq, sofar, read int64
}

const filmHeight = 56

type drawnMark struct {
	Seq   int64
	X     string
	Kind  string
	Clock string
}

// draw draws the film at a moment.
func (p *Pages) draw(m *Film, at int64, base string) *drawnFilm {
	last := m.Last()
	d := &drawnFilm{At: at, Last: last, Base: base, Past: m.place(at)}
	if len(m.times) > 0 {
		d.Start = m.times[0]
		d.Clock = p.second(m.times[at-1])
		_, zone := msTime(d.Start).In(p.Location).Zone()
		d.Zone = int64(zone) * 1000
	}
	if !p.noModel(m.sum.Backend) {
		d.Sent = m.sent
	}
	d.Bars = m.bars()
	last, drawn := int64(0), map[string]int64{}
	gap := max(1, m.Last()/filmColumns)
	for _, k := range m.marks {
		if before, ok := drawn[k.kind]; ok && k.seq-before < gap {
			continue
		}
		drawn[k.kind] = k.seq
		mark := drawnMark{k.seq, m.place(k.seq), k.kind, p.second(m.times[k.seq-1])}
		d.Marks = append(d.Marks, mark)
		if k.kind == "prompt" && (last == 0 || 100*(k.seq-last) > 7*m.Last()) && 100*k.seq < 97*m.Last() {
			last = k.seq
			mark.Clock = p.clock(msTime(m.times[k.seq-1]))
			d.Clocks = append(d.Clocks, mark)
		}
	}
	d.script(m)
	return d
}

// script gives the film what its script steps by.
func (d *drawnFilm) script(m *Film) {
	var prompts, times, costs []string
	for i := 0; i < len(m.prompts); i += 1 + len(m.prompts)/filmTimes {
		prompts = append(prompts, strconv.FormatInt(m.prompts[i].seq, 10))
	}
	d.Stride = 1 + len(m.times)/filmTimes
	before := d.Start
	for i := 0; i < len(m.times); i += d.Stride {
		times = append(times, strconv.FormatInt(m.times[i]-before, 10))
		before = m.times[i]
	}
	for _, c := range d.Bars {
		costs = append(costs, strconv.FormatInt(c.seq, 10)+" "+strconv.FormatInt(c.sofar, 10)+" "+
			strconv.FormatInt(c.read, 10))
	}
	d.Prompts, d.Times, d.Costs = codes{strings.Join(prompts, " ")}, codes{strings.Join(times, " ")},
		codes{strings.Join(costs, ",")}
}

// bars are the film's costs as columns; of more than it has room for, each is what its last event
// came to.
func (m *Film) bars() []filmBar {
	costs := m.costs
	if over := len(costs) / filmColumns; over > 0 {
		var few []filmCost
		for i := over; i < len(costs); i += over + 1 {
			few = append(few, costs[i])
		}
		if few[len(few)-1] != costs[len(costs)-1] {
			few = append(few, costs[len(costs)-1])
		}
		costs = few
	}
	if len(costs) == 0 {
		return nil
	}
	most := max(1, costs[len(costs)-1].read)
	bars := make([]filmBar, 0, len(costs))
	for i, c := range costs {
		to := m.Last()
		if i+1 < len(costs) {
			to = costs[i+1].seq
		}
		b := filmBar{
			X:     m.place(c.seq),
			Width: percent(m.part(to) - m.part(c.seq)),
			seq:   c.seq,
			sofar: c.sofar,
			read:  c.read,
		}
		b.Seen = filmHeight * c.read / most
		b.Held = filmHeight * c.sofar / most
		if c.sofar > 0 {
			b.Held = max(1, b.Held)
		}
		b.Guess = filmHeight * max(0, c.guess) / most
		b.SeenTop, b.HeldTop = filmHeight-b.Seen, filmHeight-b.Held
		bars = append(bars, b)
	}
	return bars
}

// part is where an event stands in the film: 0 is its begin, 1 its end.
func (m *Film) part(seq int64) float64 { return float64(seq-1) / float64(max(1, m.Last()-1)) }

func (m *Film) place(seq int64) string { return percent(m.part(seq)) }

func percent(part float64) string { return strconv.FormatFloat(100*part, 'f', 2, 64) + "%" }

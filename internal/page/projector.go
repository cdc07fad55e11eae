package page

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"webchat/internal/event"
)

// Projector folds one session into what a page shows. Many may look at it.
type Projector struct {
	pages *Pages

	mu   sync.Mutex // guards all below
	fed  sync.Cond  // on mu: fold has taken more, or a waiting caller's context ended
	fold *State
	pos  int64 // of the last frame
	past int64 // the last Pos of an event taken in
}

// Projector returns what folds a session: feed it the log from its start
// (or from the start of a turn), then the events in flight, then what comes.
func (p *Pages) Projector(sessionID string) *Projector {
	pr := &Projector{pages: p, fold: newState(p, sessionID)}
	pr.fed.L = &pr.mu
	return pr
}

// ProjectorFrom returns a projector that keeps every turn from the one of event
// seq on, however many there are; 1 keeps all. It is for one page: what follows a
// session for long is a [Pages.Projector].
func (p *Pages) ProjectorFrom(sessionID string, seq int64) *Projector {
	pr := p.Projector(sessionID)
	pr.fold.keep = seq
	return pr
}

// Feed takes events in their order and returns the frame that brings a page
// which has all before them to now; false if they change nothing on a page.
// Events it has seen (by Seq for logged ones, by Pos for live ones) are left out.
func (p *Projector) Feed(entries ...event.Entry) (Frame, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.fold
	before := f.Seq
	p.apply(entries)
	ops := f.ops()
	if len(ops) == 0 && f.Seq == before {
		return Frame{}, false
	}
	p.pos++
	return Frame{Seq: f.Seq, Pos: p.pos, Ops: ops}, true
}

// Load takes events as Feed does, when there is no page yet to bring forward:
// nothing becomes HTML before it is asked for.
func (p *Projector) Load(entries ...event.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.apply(entries)
	p.fold.batch.reset()
}

// apply folds the events it has not seen. p.mu is held.
func (p *Projector) apply(entries []event.Entry) {
	for _, e := range entries {
		if logged(e) && e.Seq <= p.fold.Seq || e.Pos > 0 && e.Pos <= p.past {
			continue
		}
		p.past = max(p.past, e.Pos)
		p.fold.apply(e)
	}
	p.fed.Broadcast()
}

// Await waits until the log up to seq has been taken in. The error is ctx's cause.
func (p *Projector) Await(ctx context.Context, seq int64) error {
	stop := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.fed.Broadcast()
	})
	defer stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.fold.Seq < seq {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.fed.Wait()
	}
	return nil
}

// InFlight takes what a session that runs already has beside its log, for a
// Projector that was just fed that log: messages in flight from offset 0 and the
// progress of tools. pos is the live position they stand for; Feed leaves out
// live events up to it.
func (p *Projector) InFlight(pos int64, entries ...event.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range entries {
		if !logged(e) {
			p.fold.apply(e)
		}
	}
	p.past = max(p.past, pos)
	p.fold.batch.reset()
}

// Join returns the frame that brings a page that knows the log up to after, and
// any part of what is not logged, to now; the frames to follow have a Pos above
// the second result. An after that is not a place in this log gives a frame that
// rebuilds everything.
func (p *Projector) Join(after int64) (Frame, int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.fold
	fr := Frame{Seq: f.Seq, Pos: p.pos, Join: true, From: after}
	if after < 0 || after > f.Seq || after > 0 && after < f.first-1 {
		fr.Reset = true
		fr.Ops = append(fr.Ops, Op{Action: "clear", Target: "turns"})
	}
	for _, n := range f.root.Kids {
		// What runs may be further than the log that the page knows.
		if fr.Reset || n.Turn.seq > after || n.Turn.Running() || n.Turn.State == "queued" {
			fr.Ops = append(fr.Ops, f.inPieces(Op{Action: "add", Target: "turns"}, n)...)
		}
	}
	fr.Ops = append(fr.Ops, f.renderParts(nil, true)...)
	fr.Ops = append(fr.Ops, Op{Action: "title", HTML: f.DocumentTitle()})
	return fr, p.pos
}

// Tool returns what is inside of the row of a call, in the turn that begins with an
// event; 0 means in any, the last one first. It reports false if there is no such call.
func (p *Projector) Tool(callID string, from int64) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range slices.Backward(p.fold.root.Kids) {
		if from > 0 && t.Turn.from != from {
			continue
		}
		for _, n := range t.calls(nil) {
			if n.Call.ID == callID {
				return p.pages.render("call.more", n.Call), true
			}
		}
	}
	return "", false
}

// lateReport is how long after it began an agent may report a call.
const lateReport = time.Second

// Wrote reports whether an edit of the agent was at work on a file, by its absolute name, at a
// time, and whether it still is.
func (p *Projector) Wrote(name string, at time.Time) (wrote, writes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.fold.nodes {
		c := n.Call
		// the log has milliseconds
		if c == nil || c.State == "failed" || c.Asked > 0 || at.Before(c.StartedAt.Add(-lateReport)) ||
			c.Done() && at.Truncate(time.Millisecond).After(c.EndedAt) {
			continue
		}
		if c.editsFile(name) {
			wrote, writes = true, writes || !c.Done()
		}
	}
	return wrote, writes
}

// Seq returns the last logged event it has taken in.
func (p *Projector) Seq() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fold.Seq
}

// ErrNoOutput is returned for an output that the session never showed.
var ErrNoOutput = errors.New("page: no such output in this session")

// With says what a pane comes with.
type With int

// What a pane comes with.
const (
	NoRows    With = iota
	FirstRows      // those that a page asks for first, so that what is drawn first is whole
)

// Pane writes an output as the Desk shows it: head, frame and foot. Its other rows come
// by /api/outputs. By the id of a question it writes what a write would change, without
// what answers it. The error is one of w, or [ErrNoOutput].
func (p *Projector) Pane(w io.Writer, target string, with With) error {
	return p.pane(w, target, with, false)
}

// Look writes the pane of a preview, which is in no log: of the entries that it would
// have there.
func (p *Pages) Look(w io.Writer, sessionID, target string, with With,
	entries ...event.Entry) error {
	pr := p.Projector(sessionID)
	pr.Load(entries...)
	return pr.pane(w, target, with, true)
}

func (p *Projector) pane(w io.Writer, target string, with With, look bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.fold.nodes["p-"+target]; n != nil && n.Ask.Diff != "" {
		return p.pages.write(w, "pane.asked", n.Ask)
	}
	c := p.fold.shownAs(target)
	if c == nil || c.Gone { // of the latter only the name is known here
		return ErrNoOutput
	}
	v := c.card(false)
	v.Look = look
	if with == FirstRows && v.State == "done" {
		v.Begin = v.Out.Content.First()
	}
	return p.pages.write(w, "pane", v)
}

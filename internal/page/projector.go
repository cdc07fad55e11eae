package page

import (
	"context"
	"slices"
	"sync"

	"webchat/internal/event"
)

// Projector folds one session into what a page shows.
type Projector struct {
	cfg *ProjectorConfig

	mu   sync.Mutex // guards all below
	fed  sync.Cond  // on mu: fold has taken more, or a waiting caller's context ended
	fold *State
	pos  int64 // of the last batch
	past int64 // the last Pos of an event taken in
}

// New returns a new one for a session: feed it the log from its start
// (or from the start of a turn), then the events in flight, then what comes.
func NewProjector(c *ProjectorConfig, sessionID string) *Projector {
	p := &Projector{cfg: c, fold: NewState(c)}
	p.fold.cards.ID = sessionID
	p.fed.L = &p.mu
	return p
}

// KeepFrom has a new projector keep every turn from the one of event seq on, however
// many there are; 1 keeps all. It is for one page.
func (p *Projector) KeepFrom(seq int64) { p.fold.keep = seq }

// Read calls f with what is folded, which f must not keep.
func (p *Projector) Read(f func(*State) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return f(p.fold)
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
	ops := f.batch.ops(p.cfg.render)
	f.batch = batch{}
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
	p.fold.batch = batch{}
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
	p.fold.batch = batch{}
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
	for _, t := range f.root.Kids {
		if fr.Reset || t.Turn.seq > after || t.Turn.Running() || t.Turn.State == "queued" {
			fr.Ops = append(fr.Ops, Op{Action: "append", Target: "turns", HTML: p.cfg.render("node", t)})
		}
	}
	if len(f.root.Kids) > 0 {
		fr.Ops = append(fr.Ops, Op{Action: "trim", Target: "turns", Value: ptr(f.root.Kids[0].ID)})
		fr.Ops = append(fr.Ops, Op{Action: "attr", Target: "hello", Name: "hidden", Value: ptr("")})
	}
	fr.Ops = append(fr.Ops, Op{Action: "replace", Target: "dock-plan", HTML: p.cfg.render("plan", Plan{f.todos})})
	fr.Ops = append(fr.Ops, Op{Action: "replace", Target: "dock-queue", HTML: p.cfg.render("queue", f.Queue())})
	fr.Ops = append(fr.Ops, Op{Action: "replace", Target: "dock-tasks", HTML: p.cfg.render("tasks", Working{f.tasks})})
	fr.Ops = append(fr.Ops, Op{Action: "replace", Target: "dock-asks", HTML: p.cfg.render("asks", f.Dock())})
	for _, part := range []string{"ledger", "outs", "meter"} {
		fr.Ops = append(fr.Ops, Op{Action: "replace", Target: part, HTML: p.cfg.render(part, f.Rail())})
	}
	fr.Ops = append(fr.Ops, Op{Action: "replace", Target: "trouble", HTML: p.cfg.render("trouble", f.Trouble)})
	for _, op := range f.answering() {
		if op.Action == "text" {
			op.HTML, op.Value = *op.Value, nil
		}
		fr.Ops = append(fr.Ops, op)
	}
	fr.Ops = append(fr.Ops,
		Op{Action: "replace", Target: "earlier", HTML: p.cfg.render("earlier", f.Earlier())},
		Op{Action: "attr", Target: "composer", Name: "data-status", Value: ptr(string(f.Status))},
		Op{Action: "text", Target: "title", HTML: f.Title()},
		Op{Action: "title", HTML: f.DocumentTitle()})
	return fr, p.pos
}

// Tool returns what is inside of the row of a call, in the turn that begins with an
// event; 0: in any, the last one first. False: there is no such call.
func (p *Projector) Tool(callID string, from int64) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range slices.Backward(p.fold.root.Kids) {
		if from > 0 && t.Turn.from != from {
			continue
		}
		for _, n := range t.calls(nil) {
			if n.Call.ID == callID {
				return p.cfg.render("call.more", n.Call), true
			}
		}
	}
	return "", false
}

// Seq returns the last logged event it has taken in.
func (p *Projector) Seq() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fold.Seq
}

// Earlier leads to the turns before those that are shown.
type Earlier struct {
	Before int64 // 0: there are none
}

// Earlier is the link to older turns.
func (f *State) Earlier() Earlier {
	if f.first > 1 && len(f.root.Kids) > 0 {
		return Earlier{Before: f.root.Kids[0].Turn.from}
	}
	return Earlier{}
}

package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
)

// turn is the work on one prompt.
type turn struct {
	id     string
	prompt *prompt
	// snapshot is the id of what the workspace was before; empty: none are kept.
	snapshot string
	whole    context.Context // ends when the turn is stopped
	stop     context.CancelCauseFunc
	ctx      context.Context // of the work in it: ends also when the agent is idle
	cancel   context.CancelCauseFunc
	leave    func() // its worker's: gives up a conversation that did not stop; nil: it did

	// What follows is guarded by the session's mu.
	started  bool      // its turn.start is in the log
	at       time.Time // when the work began
	usage    event.Usage
	fill     *event.Fill     // as the agent reported it last
	steered  []string        // the prompts that joined it
	abort    *event.Abort    // the stop that is not logged yet
	reported map[string]bool // messages of the errors the backend reported
	errs     []event.SessionError
	before   *before // the snapshot of what the workspace was; nil: nothing needed one yet
	refused  refused
	acts     bool   // something may have changed the workspace
	left     string // the snapshot of what it was at the end
	unkept   event.NoSnapshot
	changed  files.Counted  // what differs between both
	notHeld  int64          // files that take effect later and stay; of the turn's own goroutine
	goesOn   bool           // the user lets it go on past the budget
	ended    bool           // no further call may join
	ending   bool           // its end was composed and is being logged
	joined   sync.WaitGroup // steers and tool calls; Add under mu and not after ended
}

// turns has the agent work, on one prompt after the other.
type turns struct {
	*core
	*hooking
	*keeper
	*draftKeeper
	*conversation
}

func (s *turns) newTurn(p *prompt) *turn {
	t := &turn{id: string(event.NewID()), prompt: p, reported: map[string]bool{}}
	if s.cfg.Snapshots != nil {
		t.snapshot = t.id
	}
	t.whole, t.stop = context.WithCancelCause(s.ctx)
	t.ctx, t.cancel = context.WithCancelCause(t.whole)
	return t
}

// turnID is the turn's id, empty outside of turns.
func (t *turn) turnID() string {
	if t == nil {
		return ""
	}
	return t.id
}

// joinLocked registers work that the turn's end waits for; it reports false if the turn has ended.
func (t *turn) joinLocked() bool {
	if !t.ended {
		t.joined.Add(1)
	}
	return !t.ended
}

// start is the event that opens the turn.
func (t *turn) start() event.TurnStart {
	if own := t.prompt.own; own != nil {
		return event.TurnStart{TurnID: t.id, By: own.by, Cause: own.cause, Snapshot: t.snapshot}
	}
	return event.TurnStart{
		TurnID:    t.id,
		MessageID: t.prompt.id,
		By:        event.ByUser,
		Snapshot:  t.snapshot,
	}
}

// run is one turn, from its turn.start to its turn.end. It returns the next one.
func (s *turns) run(t *turn) (next *turn) {
	defer t.stop(errTurnOver)
	s.mu.Lock()
	t.at = s.cfg.Now()
	s.mu.Unlock()
	err := s.events.Persist(t.whole, func() error {
		if err := s.beginLocked(t.start()); err != nil {
			return err
		}
		t.started = true
		return nil
	})
	stop := func() {}
	if err == nil && t.ctx.Err() == nil {
		s.opened.Resume()
		stop = s.keepDrafts(t)
		s.heldFiles.begin()
		defer s.beside.begin(t.id)()
		err = s.prompt(t)
		s.drain(t)
		t.notHeld = s.heldFiles.look(t.whole, "", true)
		s.keepLeft(t)
		if stray, ok := errors.AsType[unaskedMode](context.Cause(t.whole)); ok {
			err = stray
		} else if over, ok := errors.AsType[overBudget](context.Cause(t.whole)); ok {
			err = over
		}
		s.hookErrors(t, err)
	}
	how := event.Completed
	switch cause := context.Cause(t.ctx); {
	case errors.Is(cause, errShutdown):
		how = event.Interrupted
	case errors.Is(cause, errAborted):
		how = event.Aborted
	case err != nil:
		how = event.Failed
	}
	next = s.end(t, how, err)
	stop() // clears the drafts, now that the log has the messages
	if t.leave != nil {
		t.leave()
	}
	return next
}

// drain waits for what still runs in the turn: the agent is idle, or did not stop.
func (s *turns) drain(t *turn) {
	s.mu.Lock()
	t.ended = true
	s.mu.Unlock()
	t.cancel(errTurnOver)
	gone := make(chan struct{})
	s.wg.Go(func() { t.joined.Wait(); close(gone) })
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-gone:
	case <-grace.C:
	}
}

// end closes the turn and what it opened in one append, and returns the next one.
func (s *turns) end(t *turn, how event.Outcome, failure error) (next *turn) {
	err := s.events.Persist(s.ctx, func() error {
		data := s.endingLocked(t, how, failure)
		t.ending = true
		if err := s.events.Append(data...); err != nil {
			t.ending = false
			return err
		}
		s.unbilled = event.Usage{}
		if how == event.Aborted {
			t.abort = nil
		}
		next = s.nextLocked(t)
		if err := s.restLocked(); err != nil {
			s.log().Warn("session.shutdown was not logged", "error", err)
		}
		return nil
	})
	if err != nil { // the program ends and the log still fails: its next start closes the turn
		s.log().Error("the end of a turn was not logged", "error", err)
		// it does not fail
		_ = s.events.Change(context.Background(), func() error { next = s.nextLocked(t); return nil })
	}
	return next
}

// nextLocked leaves t behind and returns the next turn, if a prompt waits.
func (s *turns) nextLocked(t *turn) *turn {
	s.requests.Abandon()
	clear(s.rewritten)
	if own := t.prompt.own; own != nil {
		close(own.done)
	}
	s.turn = nil
	s.noteUseLocked()
	s.queue = slices.DeleteFunc(s.queue, func(p *prompt) bool {
		gone := p.own != nil && (p.own.ctx.Err() != nil || s.ctx.Err() != nil)
		if gone {
			p.own.err = ErrNoTurn
			close(p.own.done)
		}
		return gone
	})
	i := slices.IndexFunc(s.queue, func(p *prompt) bool {
		return p.own != nil || !s.held && s.ctx.Err() == nil
	})
	if i >= 0 {
		s.turn = s.newTurn(s.queue[i])
		s.queue = slices.Delete(s.queue, i, i+1)
		return s.turn
	}
	if t.abort != nil && len(s.queue) > 0 { // it came while the end was being logged
		if err := s.events.Append(*t.abort); err != nil {
			s.log().Warn("a stop was not logged", "error", err)
		}
	}
	if err := s.events.Append(event.SessionIdle{}); err != nil {
		s.log().Warn("session.idle was not sent", "error", err)
	}
	return nil
}

// endingLocked returns what the end of t says.
func (s *turns) endingLocked(t *turn, how event.Outcome, failure error) (data []event.Data) {
	why := eventlog.Ending{Code: "aborted", Reason: eventlog.Reasons[how]}
	switch how {
	case event.Interrupted:
		why.Code = "interrupted"
	case event.Aborted:
		why.By = event.DecidedByUser
	}
	if !t.started { // the log did not take it
		data = append(data, t.start())
	}
	if t.abort != nil && how == event.Aborted {
		data = append(data, *t.abort)
	}
	data = append(data, s.events.Open().Closing(why, s.events.Now())...)
	last := s.bill.end(s.events.Summary().Open, how, errors.Is(failure, agent.ErrDied))
	t.usage = t.usage.Plus(last)
	s.budget.spendLocked(last)
	if how == event.Failed && !t.reported[failure.Error()] {
		data = append(data, sessionErrorOf(failure).In(t.id))
	}
	return append(data, event.TurnEnd{
		TurnID:     t.id,
		MessageID:  t.prompt.id,
		Outcome:    how,
		Usage:      t.usage.Plus(s.unbilled),
		Fill:       t.fill,
		Snapshot:   t.left,
		NoSnapshot: t.unkept,
		Changed:    t.changed.Files,
		Added:      t.changed.Added,
		Removed:    t.changed.Removed,
		NotHeld:    t.notHeld,
		DurationMs: max(0, s.cfg.Now().Sub(t.at).Milliseconds()),
		Steered:    t.steered,
	})
}

// prompt has the agent work on the prompt and returns when it is idle, or was left because it did
// not stop.
func (s *turns) prompt(t *turn) error {
	if own := t.prompt.own; own != nil {
		return s.runOwnWork(t, own)
	}
	p := t.prompt
	v, err := s.hook(t.ctx, consent.HookCall{
		RequestID: p.id,
		Event:     consent.PromptSubmitted,
		Prompt:    p.content,
	})
	if err == nil && !v.Allow {
		err = fmt.Errorf("%w the prompt: %s", errHook, v.Reason)
	}
	if err == nil && len(p.attachments) < len(p.given) { // accepted by an earlier process
		p.attachments, err = s.cfg.Resolve(t.ctx, s.id, p.given)
	}
	if err == nil {
		err = s.budget.pause(t.ctx, t)
	}
	if err != nil {
		return err
	}
	given := agent.Prompt{
		MessageID:   p.id,
		Content:     cmp.Or(v.Prompt, p.content),
		Attachments: p.attachments,
	}
	if err := s.forget(t.ctx, t); err != nil {
		return err
	}
	owed, err := s.owed(t.ctx)
	if err != nil {
		return err
	}
	conn, err := s.connect(t.ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.bill.counting == agent.CountsTurns {
		s.bill.begin(s.events.Summary().Open)
	}
	s.mu.Unlock()
	return s.await(t, conn, func() error {
		err := conn.Prompt(t.ctx, s.withTaken(given, owed))
		if err == nil {
			s.setTaken("")
		}
		return err
	})
}

// await has the agent work and returns when it is idle, or was left.
func (s *turns) await(t *turn, conn *liveConn, work func() error) error {
	s.beforePrompt(t)
	back := make(chan error, 1)
	_, silent, err := contain.CallWithGrace(t.ctx, s.runner(), "the agent", func() (struct{}, error) {
		err := work()
		back <- err
		return struct{}{}, err
	}, nil)
	switch {
	case silent:
		s.connecting <- struct{}{} // until leave knows whether the conversation goes on
		t.leave = func() {
			defer func() { <-s.connecting }()
			select {
			case err := <-back: // it only waited for a log that is slow, as the end of the turn did
				if !errors.Is(err, agent.ErrDied) {
					return
				}
			case <-time.After(logGrace):
			}
			s.disconnect(conn)
		}
	case errors.Is(err, agent.ErrDied), errors.Is(err, contain.ErrPanic):
		s.disconnect(conn)
	}
	return err
}

package copilot

import (
	"context"
	"errors"
	"strings"

	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
)

// turn is the work on one prompt, or of a helper agent in the background. It is owned by the loop.
type turn struct {
	*convo.Turn
	// closed when it is decided; not nil: the agent began it, and the session has not logged its start
	pending chan struct{}
	backlog []func()      // what is to be done then
	behind  int           // bytes of the events in it
	joined  bool          // what the agent began by itself belongs to it, too
	heard   bool          // the CLI has begun with it
	begins  chan struct{} // closed when the CLI begins with its prompt
	aborted bool          // we asked to stop
	failure error         // what the CLI reported last
	refused *refusal      // the last call of a model if it failed and was not tried again
	// the last call of a model that failed in the open step, tried again or not
	last     *refusal
	idle     bool            // the CLI is, but somebody is steering
	steering int             // steers without an answer
	messages map[string]bool // prompts the CLI has begun with: true, and steers it has not
	native   string          // what the CLI calls the event of its prompt, until that was reported
	calls    convo.Calls[*execution]
	wished   map[string]wish // calls of its messages, by the CLI's ids
	requests map[string]bool // ids of what the CLI asked in it
	finals   *finals         // of its last message; nil: the turn goes on behind it
	held     []*question     // that wait for the start of their calls
}

func newTurn(t *convo.Turn, id string) *turn {
	t.Name = id
	return &turn{
		Turn:     t,
		begins:   make(chan struct{}),
		messages: map[string]bool{},
		wished:   map[string]wish{},
		requests: map[string]bool{},
	}
}

// asks reports whether a request of the CLI's comes for the first time, while it may be answered.
func (t *turn) asks(requestID string) bool {
	if requestID == "" || t.aborted || t.requests[requestID] {
		return false
	}
	t.requests[requestID] = true
	return true
}

// mostBehind is how many bytes of events wait for the start of a turn in the log.
const mostBehind = 8 << 20

// errBehind is why a turn of the agent's own was given up: the session took too long to begin it.
var errBehind = errors.New("too much waits for the start of the turn")

// hold keeps an event until it is decided whether t begins. Too much gives t up; the pieces of
// texts, which are most of it, are not kept then.
func (t *turn) hold(e cli.Event, handle func()) {
	if t.behind += len(e.Data); t.behind > mostBehind {
		t.Cancel(errBehind)
		if strings.HasSuffix(e.Type, "_delta") {
			return
		}
	}
	t.backlog = append(t.backlog, handle)
}

// turns are the turns of a conversation: those of prompts, and those that the agent begins by
// itself. They belong to the loop.
type turns struct {
	c          *convo.Conversation
	ask        asker
	processing func(context.Context) bool
	helpers    *helpers
	ended      func(calls ...*execution) // gets the calls of a turn that ended
	retool     func(*turn)               // looks again at the tools

	now   *turn // runs, or waits for its start in the log; nil: none
	tools bool  // they changed while no turn ran
}

// take makes t the running turn. What the agent began by itself before that could be logged becomes
// part of it.
func (s *turns) take(t *turn) {
	own := s.now
	s.now = t
	if own == nil || own.pending == nil {
		return
	}
	t.joined = true
	own.Cancel(errTaken)
	own.End(nil)
	s.unhold(own, t)
}

// finish ends t once.
func (s *turns) finish(t *turn, err error) {
	if s.now != t {
		return
	}
	s.now = nil
	s.ended(t.calls.All()...)
	defer t.End(err) // a report may panic
	t.EndStep()
}

// lose ends the turn of a conversation that takes no more prompts.
func (s *turns) lose(why error) {
	if t := s.now; t != nil && !s.forgo(t) {
		s.finish(t, why)
	}
}

// begun notes that the CLI began with a prompt, and how it calls that.
func (s *turns) begun(t *turn, native, messageID string) {
	if t.Steps() == 0 && !t.heard { // else it joins the turn
		t.native = native
		close(t.begins)
	}
	t.heard, t.idle = true, false
	t.messages[messageID] = true
}

// steered has send give the CLI a prompt in the running turn; false if none takes it.
func (s *turns) steered(send func() (messageID string, err error)) (taken bool, err error) {
	var t *turn
	s.c.Do(func() {
		if r := s.now; r != nil && r.heard && !r.aborted && !r.idle {
			t = r
			t.steering++
		}
	})
	if t == nil {
		return false, nil
	}
	id, err := send()
	s.c.Post(func() {
		t.steering--
		if err == nil && !t.messages[id] {
			t.messages[id] = false
		}
		if t.idle {
			s.rest(t)
		}
	})
	return true, err
}

// rest ends t when the CLI is idle, unless a steer crossed that on its way: the CLI then begins
// anew with it, and that belongs to this turn. An idle before the CLI has begun with t is of an
// earlier turn, also if t is to stop.
func (s *turns) rest(t *turn) {
	steered := t.steering > 0
	for _, begun := range t.messages {
		steered = steered || !begun
	}
	switch {
	case !t.heard:
		return
	case t.aborted, !steered:
		s.finish(t, t.failure)
		return
	}
	if t.idle = true; t.steering > 0 {
		return
	}
	t.Spawn(func() {
		if !s.processing(t.Ctx) {
			s.c.Post(func() {
				if t.idle && t.steering == 0 {
					s.finish(t, t.failure)
				}
			})
		}
	})
}

// errTaken is why a turn of the agent's own was not begun: a prompt came first, and what the agent
// does belongs to that.
var errTaken = errors.New("it became part of another turn")

// wentOn is the cause of a turn of which no other is known.
const wentOn = "The agent went on by itself."

// goOn opens a turn that the agent began by itself, for example because a background command ended
// (1.0.102: system.notification, then the model is called). What it reports is held until the
// session has logged the turn's start.
func (s *turns) goOn(cause string) {
	t := newTurn(s.c.NewTurn(s.c.Quit()), string(event.NewID()))
	t.heard, t.pending = true, make(chan struct{})
	if s.tools {
		t.backlog = append(t.backlog, func() { s.look(s.now) })
	}
	if !s.c.Beside(func() {
		err := s.c.Host.RunTurn(t.Ctx, cause, func(ctx context.Context) error { return s.pursue(ctx, t) })
		t.Cancel(nil)
		var refused bool
		s.c.Do(func() { refused = err != nil && s.forgo(t) })
		if refused { // no turn takes what it does
			ctx, cancel := context.WithTimeout(s.c.Quit(), abortPatience)
			defer cancel()
			_ = s.ask(ctx, "session.abort", nil, nil) // that it is gone is as good
		}
	}) {
		return
	}
	s.now = t
}

// look looks again at the tools, in t.
func (s *turns) look(t *turn) {
	s.tools = false
	s.retool(t)
}

// pursue is the work in a turn of the agent's own, from its start in the log.
func (s *turns) pursue(ctx context.Context, t *turn) error {
	defer context.AfterFunc(ctx, func() { t.Cancel(context.Cause(ctx)) })()
	var begun bool
	s.c.Do(func() {
		if begun = s.now == t && t.pending != nil; begun {
			s.c.Take(t.Turn)
			s.unhold(t, t)
		}
	})
	if !begun {
		return nil
	}
	return s.c.Await(ctx, t.Turn)
}

// unhold gives what was held for one turn to a turn that runs.
func (s *turns) unhold(from, to *turn) {
	backlog := from.backlog
	close(from.pending)
	from.pending, from.backlog = nil, nil
	for _, f := range backlog {
		if s.now != to {
			return // it is over
		}
		s.c.Contained(f)() // what comes behind a panic may be a question that waits
	}
}

// forgo drops a turn of the agent's own if it was not begun.
func (s *turns) forgo(t *turn) bool {
	if s.now != t || t.pending == nil {
		return false
	}
	s.now = nil
	s.unhold(t, t) // there is no turn
	t.Cancel(errTaken)
	t.End(nil)
	return true
}

// within joins what the CLI asks within, until done is called: the work of a helper in the
// background for which use returns true, else the running turn. use runs on the loop. t is nil when
// nothing runs.
func (s *turns) within(use func(*turn) bool) (t *turn, done func()) {
	for {
		var undecided chan struct{}
		s.c.Do(func() {
			if t = s.now; t != nil && t.pending != nil {
				undecided = t.pending
				return
			}
			found := false
			for _, h := range s.helpers.turns() {
				if found = use(h); found || t == nil {
					t = h
				}
				if found {
					break
				}
			}
			switch ok := false; {
			case t == nil:
			case t.aborted:
				t = nil
			default:
				if _, done, ok = t.Join(t.Ctx); !ok {
					t = nil
				} else if !found {
					use(t)
				}
			}
		})
		if undecided == nil {
			return t, done
		}
		<-undecided
	}
}

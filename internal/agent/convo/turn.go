package convo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
	"webchat/internal/wording"
)

// Turn is the work on one prompt, or what a helper of the agent does beside the turns.
type Turn struct {
	// Ctx ends when the turn is to stop, and when it has ended.
	Ctx  context.Context
	Done chan struct{} // closed at its end

	c       *Conversation
	program *jsonrpc.Program // that runs it; nil: one of the backend's
	cancel  context.CancelCauseFunc
	err     error          // of its end
	work    sync.WaitGroup // what its end waits for; Add under c.mu while not over
	over    bool           // no further call may join; guarded by c.mu
	busy    int            // what the agent waits for, and works on; guarded by c.mu
	sign    chan struct{}  // has room for one: a sign of life

	// What follows belongs to the loop.
	speech
	Name  string // unique in the session, for the names of its steps; empty: these have numbers only
	steps int
	step  string // the call of the model that is open; empty: none is
}

// NewTurn returns a turn, which runs beside that of the conversation until it is
// [Conversation.Take]n.
func (c *Conversation) NewTurn(ctx context.Context) *Turn {
	t := &Turn{
		c:      c,
		Done:   make(chan struct{}),
		sign:   make(chan struct{}, 1),
		speech: speech{report: c.Report, whole: map[string]bool{}},
	}
	t.Ctx, t.cancel = context.WithCancelCause(ctx)
	return t
}

// Prompt implements [agent.Conn].
func (c *Conversation) Prompt(ctx context.Context, p agent.Prompt) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	exit, err := c.Enter()
	if err != nil {
		return err
	}
	defer exit()
	if c.Broken() {
		return agent.Broken(c.Title)
	}
	t := c.NewTurn(ctx)
	defer t.cancel(nil)
	defer context.AfterFunc(c.Quit(), func() { t.Cancel(ErrClosed) })()
	if err := c.Agent.Ready(t.Ctx); err != nil {
		if t.Ctx.Err() != nil {
			return context.Cause(t.Ctx)
		}
		return err
	}
	c.Take(t)
	if err := c.Agent.Send(t, p); err != nil {
		c.Post(func() { t.End(err) })
	}
	return c.Await(ctx, t)
}

// Take makes t the running turn.
func (c *Conversation) Take(t *Turn) {
	c.mu.Lock()
	c.turn, t.program = t, c.program
	c.mu.Unlock()
	if c.Silence > 0 {
		t.work.Go(c.Contained(t.watch))
	}
}

// Await waits for the end of t, stops it when ctx or the conversation ends, and returns how it
// ended.
func (c *Conversation) Await(ctx context.Context, t *Turn) error {
	select {
	case <-t.Done:
	case <-t.Ctx.Done():
		c.Agent.Abort(t)
	}
	stopped := context.Cause(t.Ctx)
	t.cancel(nil)
	t.Wait()
	if s, ok := c.Agent.(Settler); ok {
		s.Settle(t)
	}
	c.Do(func() {
		t.Quiet()
		c.Agent.Finish(t)
	})
	switch {
	case c.Broken():
		return agent.Broken(c.Title)
	case ctx.Err() != nil && errors.Is(t.err, agent.ErrDied):
		return fmt.Errorf("%w: %w", context.Cause(ctx), t.err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case stopped != nil:
		return stopped
	}
	return t.err
}

// Turn returns the running turn; nil if none runs, or it has ended.
func (c *Conversation) Turn() *Turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turn
}

// End ends t, once. It is called on the loop.
func (t *Turn) End(err error) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	if t.Ended() {
		return
	}
	if t.c.turn == t {
		t.c.turn = nil
	}
	t.err = err
	close(t.Done)
}

// Ended reports whether t has ended.
func (t *Turn) Ended() bool {
	select {
	case <-t.Done:
		return true
	default:
		return false
	}
}

// Cancel has t stop, for why.
func (t *Turn) Cancel(why error) { t.cancel(why) }

// Program returns the program of the conversation that runs t; nil if it ended before.
func (t *Turn) Program() *jsonrpc.Program { return t.program }

// Spawn runs f, contained, in a goroutine that the end of t waits for, unless t is over.
func (t *Turn) Spawn(f func()) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	if !t.over {
		t.work.Go(t.c.Contained(f))
	}
}

// Join counts something that the agent waits for in t, until done is called: the turn's end waits
// for it, and the context ends when the turn is to stop. false: t takes no new work.
func (t *Turn) Join(ctx context.Context) (joined context.Context, done func(), ok bool) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	if t.over || t.c.closed || t.Ctx.Err() != nil {
		return ctx, nil, false
	}
	t.work.Add(1)
	t.busy++
	joined, cancel := context.WithCancel(ctx)
	left := context.AfterFunc(t.Ctx, cancel)
	return joined, func() {
		left()
		cancel()
		t.worksOn(-1)
		t.work.Done()
	}, true
}

// Join is [Turn.Join] of the running turn; nil if there is none for it.
func (c *Conversation) Join(ctx context.Context) (t *Turn, joined context.Context, done func()) {
	if t = c.Turn(); t != nil {
		var ok bool
		if joined, done, ok = t.Join(ctx); ok {
			return t, joined, done
		}
	}
	return nil, ctx, nil
}

// Wait waits for what joined t and takes no new work.
func (t *Turn) Wait() {
	t.c.mu.Lock()
	t.over = true
	t.c.mu.Unlock()
	t.work.Wait()
}

// worksOn counts n more things that the agent waits for or works on.
func (t *Turn) worksOn(n int) {
	t.c.mu.Lock()
	t.busy += n
	t.c.mu.Unlock()
	t.Alive()
}

// NextStep begins a call of the agent's model, and ends the one before. promptID is the agent's own
// name of the prompt, with its first call.
func (t *Turn) NextStep(promptID string) {
	t.EndStep()
	t.steps++
	if t.step = strconv.Itoa(t.steps); t.Name != "" {
		t.step = t.Name + "-" + t.step
	}
	t.c.Report(event.AssistantTurnStart{TurnID: t.step, PromptID: promptID})
}

// EndStep ends the call of the model that is open, if one is.
func (t *Turn) EndStep() {
	if t.step != "" {
		t.c.Report(event.AssistantTurnEnd{TurnID: t.step})
		t.step = ""
	}
}

// Steps is how many calls of the model began.
func (t *Turn) Steps() int { return t.steps }

// Alive notes a sign of life.
func (t *Turn) Alive() {
	select {
	case t.sign <- struct{}{}:
	default:
	}
}

// Alive notes a sign of life of the running turn.
func (c *Conversation) Alive() {
	if t := c.Turn(); t != nil {
		t.Alive()
	}
}

// watch warns the user, once, of an agent without a sign of life, and ends the turn of one that
// shows none for long.
func (t *Turn) watch() {
	c := t.c
	silent, warned := time.NewTimer(c.Silence), false
	defer silent.Stop()
	for {
		var over <-chan time.Time
		if !warned || c.Stall > 0 {
			over = silent.C
		}
		select {
		case <-t.Ctx.Done():
			return
		case <-t.sign:
			warned = false
			silent.Reset(c.Silence)
			continue
		case <-over:
		}
		c.mu.Lock()
		busy := t.busy > 0
		c.mu.Unlock()
		switch {
		case busy:
			silent.Reset(c.Silence)
		case !warned:
			warned = true
			c.Warn(event.KindTimeout, "%s has not responded for %s. Stop it, or wait.", c.Title,
				wording.Span(c.Silence))
			silent.Reset(c.Stall - c.Silence)
		default:
			t.cancel(fmt.Errorf(
				"%s did nothing for %s, so its turn was ended. Run it in a terminal to see whether its "+
					"provider works", c.Title, wording.Span(c.Stall)))
			return
		}
	}
}

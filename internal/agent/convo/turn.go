package convo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
	"webchat/internal/wording"
)

// Turn is the work on one prompt, or what a helper of the agent does beside the turns. What it
// keeps of texts and calls belongs to the loop.
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
	speech  *Speech        // in flight; nil: none is
	theirs  string         // the agent's own id of it
}

// NewTurn returns a turn, which runs beside that of the conversation until it is
// [Conversation.Take]n.
func (c *Conversation) NewTurn(ctx context.Context) *Turn {
	t := &Turn{c: c, Done: make(chan struct{}), sign: make(chan struct{}, 1)}
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
	c.Agent.Settle(t)
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
	select {
	case <-t.Done:
		return
	default:
	}
	if t.c.turn == t {
		t.c.turn = nil
	}
	t.err = err
	close(t.Done)
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
			c.Warn(event.KindTimeout, "%s has not responded for %s. Stop it, or wait.", c.Title, wording.Span(c.Silence))
			silent.Reset(c.Stall - c.Silence)
		default:
			t.cancel(fmt.Errorf("%s did nothing for %s, so its turn was ended. Run it in a terminal to see whether its provider works", c.Title, wording.Span(c.Stall)))
			return
		}
	}
}

// mostSaid is how many bytes one message has; the rest is another. Sessions take no longer ones
// than 16 MiB.
const mostSaid = 12 << 20

// Speech is a message or a thought in flight.
type Speech struct {
	ID      string
	Parent  string // the call whose helper agent says it; empty: the main agent does
	Thought bool
	said    []byte
}

// Said returns the text so far.
func (x *Speech) Said() string { return string(x.said) }

// Grow reports the next piece of a text.
func (t *Turn) Grow(x *Speech, piece string) {
	offset := int64(len(x.said))
	x.said = append(x.said, piece...)
	if x.Thought {
		t.c.Report(event.AssistantReasoningDelta{ReasoningID: x.ID, Offset: offset, DeltaContent: piece, ParentToolCallID: x.Parent})
		return
	}
	t.c.Report(event.AssistantMessageDelta{MessageID: x.ID, Offset: offset, DeltaContent: piece, ParentToolCallID: x.Parent})
}

// Whole reports the end of a text. Where the whole of a message differs from the sum of its pieces,
// these are taken back; those of a thought cannot be.
func (t *Turn) Whole(x *Speech, m event.AssistantMessage) {
	if x.Thought {
		t.c.Report(event.AssistantReasoning{ReasoningID: x.ID, Content: cmp.Or(x.Said(), m.Content), ParentToolCallID: x.Parent})
		return
	}
	if len(x.said) > 0 && x.Said() != m.Content {
		t.c.Report(event.AssistantMessageDiscarded{MessageID: x.ID})
	}
	m.MessageID, m.ParentToolCallID = x.ID, x.Parent
	t.c.Report(m)
}

// Saying reports whether a text is in flight.
func (t *Turn) Saying() bool { return t.speech != nil }

// Say adds to the text in flight, or begins another if it is of another kind or of another id of
// the agent's.
func (t *Turn) Say(thought bool, theirs, text string) {
	if s := t.speech; s != nil && (s.Thought != thought || t.theirs != theirs) {
		t.Quiet()
	}
	for text = strings.ToValidUTF8(text, "\uFFFD"); text != ""; {
		piece := text
		if len(piece) > mostSaid {
			piece = strings.ToValidUTF8(piece[:mostSaid], "") // less a character that is cut in two
		}
		text = text[len(piece):]
		if s := t.speech; s != nil && len(s.said)+len(piece) > mostSaid {
			t.Quiet()
		}
		if t.speech == nil {
			t.speech, t.theirs = &Speech{ID: string(event.NewID()), Thought: thought}, theirs
		}
		t.Grow(t.speech, piece)
	}
}

// Quiet ends the text in flight, with the calls that the model wished for in it.
func (t *Turn) Quiet(wished ...event.ToolRequest) {
	if x := t.speech; x != nil {
		t.speech = nil
		t.Whole(x, event.AssistantMessage{Content: x.Said(), ToolRequests: wished})
	}
}

// Call is a tool call of the agent's own. ID is unique in the session.
type Call struct {
	ID, Tool string
	Parent   string          // the call whose helper agent makes it; empty: the main agent does
	Args     json.RawMessage // an object; empty: it has none
	Begun    bool            // it was reported
	Done     bool            // its end was reported
}

// Begin reports the start of a call, once. An agent that works on one may be silent for long.
func (t *Turn) Begin(k *Call) {
	if k.Begun {
		return
	}
	k.Begun = true
	t.worksOn(1)
	if len(k.Args) == 0 {
		k.Args = json.RawMessage("{}")
	}
	t.c.Report(event.ToolExecutionStart{ToolCallID: k.ID, ToolName: k.Tool, Arguments: k.Args, By: event.ByAgent, ParentToolCallID: k.Parent})
}

// Complete reports the end of a call, once.
func (t *Turn) Complete(k *Call, d event.ToolExecutionComplete) {
	if k.Done {
		return
	}
	t.Begin(k)
	k.Done = true
	t.worksOn(-1)
	d.ToolCallID = k.ID
	t.c.Report(d)
}

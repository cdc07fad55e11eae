package copilot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
)

const (
	settlePatience = 500 * time.Millisecond // for the idle event of an abort
	abortPatience  = 2 * time.Second        // then the CLI does not stop
)

// turn is the work on one prompt.
type turn struct {
	id   string
	ctx  context.Context // ends when the turn is to stop, or has ended
	stop context.CancelCauseFunc
	done chan struct{}  // closed at its end; err is set then
	work sync.WaitGroup // calls and questions that wait for the session
	err  error

	// What follows is owned by the loop.
	pending   bool            // the agent began it, and the session has not logged its start
	backlog   []func()        // what is to be done then
	questions []func()        // those of backlog that wait for an answer
	joined    bool            // what the agent began by itself belongs to it, too
	heard     bool            // the CLI has begun with it
	aborted   bool            // we asked to stop
	failure   error           // what the CLI reported last
	refused   *refusal        // the last call of a model if it failed and was not tried again
	retries   int             // how often that was said
	idle      bool            // the CLI is, but somebody is steering
	steering  int             // steers without an answer
	messages  map[string]bool // prompts the CLI has begun with
	waiting   map[string]bool // steers it has not
	step      string          // the open model call
	steps     int
	native    string                // what the CLI calls the event of its prompt, until that was reported
	texts     []*text               // messages and reasoning in flight
	ended     map[string]bool       // ids of texts that are whole
	calls     map[string]string     // the CLI's ids of tool calls -> ours
	wishes    map[string]*wish      // calls the model is writing, by the CLI's ids
	used      map[string]bool       // ours
	tools     map[string]*execution // by our id
	requests  map[string]bool       // ids of what the CLI asked in it
	held      []*question           // that wait for the start of their calls
}

func newTurn(ctx context.Context, id string) *turn {
	t := &turn{id: id, done: make(chan struct{}), messages: map[string]bool{}, waiting: map[string]bool{},
		ended: map[string]bool{}, calls: map[string]string{}, wishes: map[string]*wish{}, used: map[string]bool{}, tools: map[string]*execution{}, requests: map[string]bool{}}
	t.ctx, t.stop = context.WithCancelCause(ctx)
	return t
}

// Prompt implements [agent.Conn].
func (c *conn) Prompt(ctx context.Context, p agent.Prompt) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !c.enter() {
		return errClosed
	}
	defer c.turns.Done()
	t := newTurn(ctx, p.MessageID)
	defer t.stop(nil)
	defer context.AfterFunc(c.quit, func() { t.stop(errClosed) })()
	if err := c.revive(t.ctx); err != nil {
		if stopped := context.Cause(t.ctx); stopped != nil {
			return stopped
		}
		return err
	}
	c.post(func() { c.begin(t) })
	if err := c.instruct(t.ctx); err != nil && t.ctx.Err() == nil {
		c.post(func() { c.finish(t, err) })
	} else if _, err := c.send(t.ctx, p, ""); err != nil && t.ctx.Err() == nil {
		c.post(func() { c.finish(t, c.b.cli.Explain(err)) })
	}
	return c.await(ctx, t)
}

// outcome is what a turn returns that ended, or was stopped.
func (t *turn) outcome(ctx context.Context, stopped error) error {
	switch {
	case stopped == nil:
		return t.err
	case errors.Is(t.err, agent.ErrDied):
		return fmt.Errorf("%w: %w", stopped, t.err)
	case errors.Is(stopped, errClosed):
		return errClosed
	}
	return ctx.Err()
}

// begin makes t the running turn.
func (c *conn) begin(t *turn) {
	c.take(t)
	if c.loop.dead != nil {
		c.finish(t, c.loop.dead)
	}
}

// blind is the model if it is said to see no pictures.
func (c *conn) blind() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.b.cfg.Providers.Sees(c.model) {
		return ""
	}
	return c.model
}

// send gives the CLI a prompt; it answers before it begins.
func (c *conn) send(ctx context.Context, p agent.Prompt, mode string) (messageID string, err error) {
	s := sendRequest{SessionID: c.id, Prompt: strings.ToValidUTF8(p.Content, "\uFFFD"), Mode: mode}
	shown := s.Prompt
	for _, a := range p.Attachments {
		switch {
		case a.Path != "":
			s.Attachments = append(s.Attachments, sentAttachment{Type: "file", Path: a.Path, DisplayName: a.Name})
		case strings.HasPrefix(a.MimeType, "image/"):
			if model := c.blind(); model != "" { // the CLI would send it all the same
				return "", fmt.Errorf("%s sees no pictures, so nothing was sent. Take %s out of the prompt, or choose another model", model, cmp.Or(a.Name, "the picture"))
			}
			s.Attachments = append(s.Attachments, sentAttachment{Type: "blob", Data: a.Data, MimeType: a.MimeType, DisplayName: a.Name})
		default: // text the user wants read: the CLI takes only pictures as data
			s.Prompt += "\n\n<attachment name=" + fmt.Sprintf("%q", a.Name) + ">\n" + strings.ToValidUTF8(string(a.Data), "\uFFFD") + "\n</attachment>"
		}
	}
	if s.Prompt != shown {
		s.DisplayPrompt = shown // what the CLI makes the title of
	}
	var sent struct{ MessageID string }
	err = c.ask(ctx, "session.send", s, &sent)
	return sent.MessageID, err
}

// abort stops t and waits until the CLI is idle. A CLI that is not after
// abortPatience is given up. One that has not begun with the prompt takes no notice and
// begins all the same, so it is asked twice before its word is believed.
func (c *conn) abort(t *turn) {
	c.post(func() { t.aborted = true })
	asked := 0
	ctx, cancel := context.WithTimeout(context.Background(), abortPatience)
	defer cancel()
	for {
		err := c.ask(ctx, "session.abort", c.named(nil), nil)
		asked++
		settle := time.NewTimer(settlePatience)
		select {
		case <-t.done:
			settle.Stop()
			return
		case <-settle.C:
		}
		// No idle event: there was nothing to stop, or it takes its time.
		switch {
		case err == nil && asked > 1 && !c.processing(ctx):
			c.post(func() { c.finish(t, nil) })
		case ctx.Err() != nil:
			c.post(func() { c.finish(t, cli.Died("GitHub Copilot CLI did not stop when it was asked to")) })
		}
	}
}

// processing asks whether the CLI works on the session.
func (c *conn) processing(ctx context.Context) bool {
	var is struct{ Processing bool }
	return c.ask(ctx, "session.metadata.isProcessing", c.named(nil), &is) != nil || is.Processing
}

// Steer implements [agent.Conn].
func (c *conn) Steer(ctx context.Context, p agent.Prompt) error {
	if !c.enter() {
		return errClosed
	}
	defer c.turns.Done()
	joined := make(chan *turn, 1)
	c.post(func() {
		t := c.loop.turn
		if t == nil || !t.heard || t.aborted || t.idle {
			joined <- nil
			return
		}
		t.steering++
		joined <- t
	})
	var t *turn
	select {
	case t = <-joined:
	case <-c.done:
		return errClosed
	}
	if t == nil {
		return agent.ErrUnsupported
	}
	id, err := c.send(ctx, p, "immediate")
	c.post(func() {
		t.steering--
		if err == nil && !t.messages[id] {
			t.waiting[id] = true
		}
		if t.idle {
			c.rest(t)
		}
	})
	if err != nil {
		return fmt.Errorf("steer: %w", c.b.cli.Explain(err))
	}
	return nil
}

// heardOf notes that the CLI begins with a prompt.
func (t *turn) heardOf(messageID string) {
	t.heard, t.idle = true, false
	t.messages[messageID] = true
	delete(t.waiting, messageID)
}

// rest ends t when the CLI is idle, unless a steer crossed that on its way: the
// CLI then begins anew with it, and that belongs to this turn. An idle before the CLI has
// begun with t is of an earlier turn, also if t is to stop.
func (c *conn) rest(t *turn) {
	switch {
	case !t.heard:
		return // of an earlier turn
	case t.aborted, t.steering == 0 && len(t.waiting) == 0:
		c.finish(t, t.failure)
		return
	}
	t.idle = true
	if t.steering > 0 {
		return
	}
	t.work.Go(c.contained(func() {
		if !c.processing(t.ctx) {
			c.post(func() {
				if t.idle && t.steering == 0 {
					c.finish(t, t.failure)
				}
			})
		}
	}))
}

// finish ends t once, and what it left open.
func (c *conn) finish(t *turn, err error) {
	if c.loop.turn != t {
		return
	}
	c.loop.turn = nil
	if t.err = err; c.broken.Load() {
		t.err = agent.Broken(cli.Title)
	}
	defer close(t.done) // a report may panic
	c.closeOpen(t, err == nil && !t.aborted)
	c.endStep(t)
}

// closeOpen ends what a turn, or a helper, left open.
func (c *conn) closeOpen(t *turn, completed bool) {
	if completed {
		for _, x := range slices.Clone(t.texts) { // whole takes out of it
			c.whole(t, x, string(x.content), nil, true)
		}
	}
	for id, x := range t.tools {
		if x.called || x.completed {
			continue
		}
		why := event.ToolError{Message: "The turn was stopped.", Code: "aborted", Kind: event.KindAborted}
		if !t.aborted {
			why = event.ToolError{Message: "The turn ended before this did.", Code: "interrupted", Kind: event.KindInterrupted}
		}
		c.report(event.ToolExecutionComplete{ToolCallID: id, Error: &why, DurationMs: time.Since(x.at).Milliseconds()})
	}
}

func (c *conn) endStep(t *turn) {
	if t.step != "" {
		c.report(event.AssistantTurnEnd{TurnID: t.step})
		t.step = ""
	}
}

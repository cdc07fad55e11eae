package copilot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// errTaken is why a turn of the agent's own was not begun: a prompt came first, and
// what the agent does belongs to that.
var errTaken = errors.New("it became part of another turn")

// begins are the events with which the CLI goes on by itself, for example because a
// background command ended (1.0.102: system.notification, then the model is called).
var begins = map[string]bool{
	"system.notification": true, "assistant.turn_start": true, "external_tool.requested": true, "permission.requested": true,
}

// goOn opens a turn that the agent began by itself. What it says is held until the
// session has logged the turn's start.
func (c *conn) goOn(cause string) {
	if c.loop.dead != nil || !c.enter() {
		return
	}
	t := newTurn(c.quit, string(event.NewID()))
	t.heard, t.pending = true, true
	c.loop.turn = t
	if c.loop.retool {
		t.backlog = append(t.backlog, func() { c.onToolsUpdated(cli.Event{}) })
	}
	go c.contained(func() {
		defer c.turns.Done()
		err := c.host.RunTurn(t.ctx, cause, func(ctx context.Context) error { return c.pursue(ctx, t) })
		t.stop(nil)
		if err == nil {
			return
		}
		refused := make(chan bool, 1)
		c.post(func() { refused <- c.loop.turn == t && t.pending; c.forgo(t) })
		select {
		case r := <-refused:
			if r { // no turn takes what it does
				ctx, cancel := context.WithTimeout(c.quit, abortPatience)
				defer cancel()
				_ = c.ask(ctx, "session.abort", c.named(nil), nil) // that it is gone is as good
			}
		case <-c.done:
		}
	})()
}

// pursue is the work in a turn of the agent's own, from its start in the log.
func (c *conn) pursue(ctx context.Context, t *turn) error {
	defer context.AfterFunc(ctx, func() { t.stop(context.Cause(ctx)) })()
	begun := make(chan bool, 1)
	c.post(func() {
		ours := c.loop.turn == t && t.pending
		begun <- ours
		if ours {
			c.unhold(t, t)
		}
	})
	if !<-begun { // the loop ends behind the turns
		return nil
	}
	return c.await(ctx, t)
}

// unhold gives what was held for one turn to a turn that runs.
func (c *conn) unhold(from, to *turn) {
	backlog := from.backlog
	from.pending, from.backlog = false, nil
	for _, f := range backlog {
		if c.loop.turn != to {
			return // it is over
		}
		c.contained(f)() // what comes behind a panic may be a question that waits
	}
}

// forgo drops a turn of the agent's own that was not begun.
func (c *conn) forgo(t *turn) {
	if c.loop.turn != t || !t.pending {
		return
	}
	c.loop.turn = nil
	for _, q := range t.questions {
		c.contained(q)() // there is no turn
	}
	t.pending, t.backlog, t.questions = false, nil, nil
	t.stop(errTaken)
	close(t.done)
}

// take makes what the agent began by itself part of the turn t: its prompt came
// before that could be logged.
func (c *conn) take(t *turn) {
	own := c.loop.turn
	c.loop.turn = t
	if own == nil || !own.pending {
		return
	}
	t.joined = true
	own.stop(errTaken)
	close(own.done)
	c.unhold(own, t)
}

// await waits for the end of a turn, which it stops when ctx ends.
func (c *conn) await(ctx context.Context, t *turn) error {
	select {
	case <-t.done:
	case <-t.ctx.Done():
		c.abort(t)
	}
	stopped := context.Cause(t.ctx)
	t.stop(nil)
	t.work.Wait()
	return t.outcome(ctx, stopped)
}

// notification is what the CLI tells the agent of its tasks.
type notification struct {
	Kind struct {
		Type, ShellID, AgentID, Description, DisplayName string
		ExitCode                                         *int
	}
}

// onNotification is not for the user's eyes: it says why the agent goes on.
func (c *conn) onNotification(e cli.Event) {
	n, ok := decode[notification](c, e)
	if !ok || e.AgentID != "" {
		return
	}
	k := n.Kind
	if b := c.loop.tasks[k.ShellID]; b != nil && k.ShellID != "" {
		b.exit = k.ExitCode
		c.endTask(b, event.Completed)
	}
	if c.loop.turn != nil {
		return
	}
	name := k.DisplayName
	if name == "" {
		name = k.Description
	}
	cause := "The agent went on by itself."
	switch {
	case k.ShellID != "" && k.ExitCode != nil:
		cause = fmt.Sprintf("The background command “%s” ended with exit code %d.", wording.Cut(name, 80), *k.ExitCode)
	case k.ShellID != "":
		cause = fmt.Sprintf("The background command “%s” ended.", wording.Cut(name, 80))
	case k.AgentID != "":
		cause = fmt.Sprintf("The helper “%s” reported back.", wording.Cut(name, 80))
	}
	c.goOn(cause)
}

// exitPatience is how long the end of a command waits for its exit code, which the
// CLI tells only with its notification.
const exitPatience = 500 * time.Millisecond

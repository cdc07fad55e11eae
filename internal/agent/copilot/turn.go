package copilot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// turn is the work on one prompt, or of a helper agent in the background. It is owned by the loop.
type turn struct {
	*convo.Turn
	pending  chan struct{}   // closed when it is decided; not nil: the agent began it, and the session has not logged its start
	backlog  []func()        // what is to be done then
	behind   int             // bytes of the events in it
	joined   bool            // what the agent began by itself belongs to it, too
	heard    bool            // the CLI has begun with it
	aborted  bool            // we asked to stop
	failure  error           // what the CLI reported last
	refused  *refusal        // the last call of a model if it failed and was not tried again
	last     *refusal        // the last call of a model that failed in the open step, tried again or not
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
	return &turn{Turn: t, messages: map[string]bool{}, wished: map[string]wish{}, requests: map[string]bool{}}
}

func (c *conn) Steer(ctx context.Context, p agent.Prompt) error {
	return c.During(func() error {
		var t *turn
		c.Do(func() {
			if r := c.loop.turn; r != nil && r.heard && !r.aborted && !r.idle {
				t = r
				t.steering++
			}
		})
		if t == nil {
			return agent.ErrUnsupported
		}
		id, err := c.send(ctx, p, "immediate")
		c.Post(func() {
			t.steering--
			if err == nil && !t.messages[id] {
				t.messages[id] = false
			}
			if t.idle {
				c.rest(t)
			}
		})
		if err != nil {
			return fmt.Errorf("steer: %w", c.b.cli.Explain(err))
		}
		return nil
	})
}

// onUserMessage notes that the CLI began with a prompt, and how it calls that.
func (c *conn) onUserMessage(t *turn, e cli.Event, d struct{ MessageID string }) {
	if t.Steps() == 0 && !t.heard { // else it joins the turn
		t.native = e.ID
	}
	t.heard, t.idle = true, false
	t.messages[d.MessageID] = true
}

// onIdle ends t when the CLI is idle, unless a steer crossed that on its way: the CLI then begins
// anew with it, and that belongs to this turn. An idle before the CLI has begun with t is of an
// earlier turn, also if t is to stop.
func (c *conn) onIdle(t *turn, _ cli.Event, _ struct{}) { c.rest(t) }

func (c *conn) rest(t *turn) {
	steered := t.steering > 0
	for _, begun := range t.messages {
		steered = steered || !begun
	}
	switch {
	case !t.heard:
		return
	case t.aborted, !steered:
		c.finish(t, t.failure)
		return
	}
	if t.idle = true; t.steering > 0 {
		return
	}
	t.Spawn(func() {
		if !c.processing(t.Ctx) {
			c.Post(func() {
				if t.idle && t.steering == 0 {
					c.finish(t, t.failure)
				}
			})
		}
	})
}

// finish ends t once.
func (c *conn) finish(t *turn, err error) {
	if c.loop.turn != t {
		return
	}
	c.loop.turn = nil
	c.b.locked.end(t.calls.All()...)
	defer t.End(err) // a report may panic
	t.EndStep()
}

// errTaken is why a turn of the agent's own was not begun: a prompt came first, and what the agent
// does belongs to that.
var errTaken = errors.New("it became part of another turn")

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

// goOn opens a turn that the agent began by itself, for example because a background command ended
// (1.0.102: system.notification, then the model is called). What it reports is held until the
// session has logged the turn's start.
func (c *conn) goOn(cause string) {
	t := newTurn(c.NewTurn(c.Quit()), string(event.NewID()))
	t.heard, t.pending = true, make(chan struct{})
	if c.loop.retool {
		t.backlog = append(t.backlog, func() { c.onToolsUpdated(c.loop.turn, cli.Event{}, struct{}{}) })
	}
	if !c.Beside(func() {
		err := c.Host.RunTurn(t.Ctx, cause, func(ctx context.Context) error { return c.pursue(ctx, t) })
		t.Cancel(nil)
		var refused bool
		c.Do(func() { refused = err != nil && c.forgo(t) })
		if refused { // no turn takes what it does
			ctx, cancel := context.WithTimeout(c.Quit(), abortPatience)
			defer cancel()
			_ = c.ask(ctx, "session.abort", nil, nil) // that it is gone is as good
		}
	}) {
		return
	}
	c.loop.turn = t
}

// pursue is the work in a turn of the agent's own, from its start in the log.
func (c *conn) pursue(ctx context.Context, t *turn) error {
	defer context.AfterFunc(ctx, func() { t.Cancel(context.Cause(ctx)) })()
	var begun bool
	c.Do(func() {
		if begun = c.loop.turn == t && t.pending != nil; begun {
			c.Take(t.Turn)
			c.unhold(t, t)
		}
	})
	if !begun {
		return nil
	}
	return c.Await(ctx, t.Turn)
}

// unhold gives what was held for one turn to a turn that runs.
func (c *conn) unhold(from, to *turn) {
	backlog := from.backlog
	close(from.pending)
	from.pending, from.backlog = nil, nil
	for _, f := range backlog {
		if c.loop.turn != to {
			return // it is over
		}
		c.Contained(f)() // what comes behind a panic may be a question that waits
	}
}

// forgo drops a turn of the agent's own if it was not begun.
func (c *conn) forgo(t *turn) bool {
	if c.loop.turn != t || t.pending == nil {
		return false
	}
	c.loop.turn = nil
	c.unhold(t, t) // there is no turn
	t.Cancel(errTaken)
	t.End(nil)
	return true
}

// take makes t the running turn. What the agent began by itself before that could be logged becomes
// part of it.
func (c *conn) take(t *turn) {
	own := c.loop.turn
	c.loop.turn = t
	if own == nil || own.pending == nil {
		return
	}
	t.joined = true
	own.Cancel(errTaken)
	own.End(nil)
	c.unhold(own, t)
}

// notification is what the CLI reports to the agent of its tasks.
type notification struct {
	Kind struct {
		Type, ShellID, AgentID, Description, DisplayName string
		ExitCode                                         *int
	}
}

// onNotification is not for the user's eyes: it says why the agent goes on.
func (c *conn) onNotification(t *turn, _ cli.Event, n notification) {
	k := n.Kind
	if b := c.loop.tasks[k.ShellID]; b != nil && k.ShellID != "" {
		b.Exit = k.ExitCode
		c.endTask(b, event.Completed)
	}
	if t != nil {
		return
	}
	cause, name := wentOn, wording.Cut(cmp.Or(k.DisplayName, k.Description), 80)
	switch {
	case k.ShellID != "" && k.ExitCode != nil:
		cause = fmt.Sprintf("The background command “%s” ended with exit code %d.", name, *k.ExitCode)
	case k.ShellID != "":
		cause = fmt.Sprintf("The background command “%s” ended.", name)
	case k.AgentID != "":
		cause = fmt.Sprintf("The helper “%s” reported back.", name)
	}
	c.goOn(cause)
}

// wentOn is the cause of a turn of which no other is known.
const wentOn = "The agent went on by itself."

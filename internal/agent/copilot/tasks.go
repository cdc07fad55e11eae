package copilot

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/proc"
)

// background is a task: a command or a helper agent that the agent left running.
type background struct {
	id     string // ours: that of its call
	native string // the CLI's
	ended  bool
	told   bool // to end
	exit   *int
	scope  *turn         // of a helper: what it does beside the turns
	tree   *proc.Session // of a detached command; nil: something else
}

const (
	listPause   = 100 * time.Millisecond // between two looks at the tasks
	endPatience = 2 * time.Second        // for the end of all tasks
)

// nativeTask is one entry of session.tasks.list. Commands that the agent waits for
// are in it, too, with another execution mode.
type nativeTask struct {
	Type, ID, Status, Command, ExecutionMode, AttachmentMode, LogPath string

	PID float64 // written as 123.0
}

// onTasksChanged looks at what runs in the background. The CLI says dozens of times
// that something changed: one look answers all that come while it is made.
func (c *conn) onTasksChanged(cli.Event) {
	if c.loop.looking {
		c.loop.lookAgain = true
		return
	}
	if !c.enter() {
		return
	}
	c.loop.looking, c.loop.lookAgain = true, false
	go c.contained(func() {
		defer c.turns.Done()
		var list struct{ Tasks []nativeTask }
		err := c.ask(c.quit, "session.tasks.list", c.named(nil), &list)
		pause := time.NewTimer(listPause)
		defer pause.Stop()
		c.post(func() {
			if err == nil {
				c.sawTasks(list.Tasks)
				c.missed(list.Tasks)
			}
		})
		select {
		case <-pause.C:
		case <-c.quit.Done():
		}
		c.post(func() {
			if c.loop.looking = false; c.loop.lookAgain {
				c.onTasksChanged(cli.Event{})
			}
		})
	})()
}

// sawTasks tells the session which tasks began and ended.
func (c *conn) sawTasks(list []nativeTask) {
	for _, n := range list {
		b := c.loop.tasks[n.ID]
		switch {
		case b == nil && n.Type == "shell" && n.ExecutionMode == "background" && n.Status == "running":
			c.beginShell(n)
		case b == nil || b.ended || n.Status == "running":
		case n.Status == "cancelled":
			c.endTask(b, event.Aborted)
		case n.Status == "failed":
			c.endTask(b, event.Failed)
		case b.scope != nil:
			c.endTask(b, event.Completed)
		default: // the exit code is on its way
			time.AfterFunc(exitPatience, func() { c.post(func() { c.endTask(b, event.Completed) }) })
		}
	}
}

// missed looks after the tasks that were told to end: the CLI takes its time to list
// them as cancelled, and says nothing when it does or when it lists them no more.
func (c *conn) missed(list []nativeTask) {
	for _, b := range c.loop.tasks {
		switch listed := slices.ContainsFunc(list, func(n nativeTask) bool { return n.ID == b.native }); {
		case !b.told || b.ended:
		case listed:
			c.loop.lookAgain = true
		default:
			c.endTask(b, event.Aborted)
		}
	}
}

// beginShell reports a command that its call left running, once the call has ended.
func (c *conn) beginShell(n nativeTask) {
	var s *shell
	for _, x := range c.loop.shells {
		if x.done && x.task == nil && (x.native == n.ID || x.native == "" && x.command == n.Command) {
			s = x
		}
	}
	if s == nil {
		return
	}
	b := &background{id: s.call, native: n.ID}
	c.loop.tasks[n.ID], s.task = b, b
	c.report(event.TaskStarted{TaskID: b.id, Kind: event.ShellTask, Title: n.Command, ToolCallID: s.call})
	if len(s.text) > 0 {
		c.report(event.TaskOutput{TaskID: b.id, Text: string(s.text)})
	}
	if n.AttachmentMode == "detached" {
		b.tree = proc.SessionOf(int(n.PID), c.b.cli.PID())
		c.loop.detached.Add(n.LogPath)
		c.follow(b)
	}
}

// follow reads what a detached command prints: of those the CLI does not tell.
func (c *conn) follow(b *background) {
	if !c.enter() {
		return
	}
	go c.contained(func() {
		defer c.turns.Done()
		cursor, first := "", true
		for {
			p := c.named(map[string]any{"id": b.native, "waitMs": 20000})
			if !first {
				p["cursor"] = cursor
			}
			var out struct {
				Text, Cursor string
				Exit         *struct {
					Status   string
					ExitCode *int
				}
			}
			if c.ask(c.quit, "session.tasks.readOutput", p, &out) != nil {
				return // the list of tasks tells its end
			}
			cursor, first = out.Cursor, false
			c.post(func() {
				if !b.ended && out.Text != "" {
					c.report(event.TaskOutput{TaskID: b.id, Text: out.Text})
				}
				if out.Exit != nil {
					b.exit = out.Exit.ExitCode
					how := event.Completed
					if out.Exit.Status == "cancelled" {
						how = event.Aborted
					}
					c.endTask(b, how)
				}
			})
			if out.Exit != nil {
				return
			}
		}
	})()
}

// endTask reports the end of a task once, and of what a helper left open.
func (c *conn) endTask(b *background, how event.Outcome) {
	if b.ended {
		return
	}
	b.ended = true
	if b.told { // what was killed may say that it failed, or that it came to its end
		how = event.Aborted
	}
	if b.scope != nil {
		c.closeOpen(b.scope, how == event.Completed)
		b.scope.stop(nil)
		c.dismiss(b.scope)
	}
	if how != event.Completed {
		b.exit = nil
	}
	if how == event.Aborted && b.tree != nil {
		c.endTree(b)
	}
	c.report(event.TaskCompleted{TaskID: b.id, Outcome: how, ExitCode: b.exit})
}

// endTree ends what a detached command that was told to end has left: the CLI finds
// its processes by the program pgrep (1.0.102), and without it ends the shell only.
func (c *conn) endTree(b *background) {
	if !c.enter() {
		return
	}
	go c.contained(func() {
		defer c.turns.Done()
		for _, p := range b.tree.End() {
			c.b.cfg.Logger.Warn("copilot: a process of a command that was stopped could not be ended", "pid", p.PID, "command", p.Command)
		}
	})()
}

// beginHelper reports a helper agent that works in the background, and gives it a
// place of its own to work in.
func (c *conn) beginHelper(agentID, call, title string) {
	if old := c.loop.tasks[agentID]; old != nil && !old.ended {
		return
	}
	b := &background{id: call, native: agentID, scope: newTurn(c.quit, string(event.NewID()))}
	for n := 2; c.loop.began[b.id]; n++ { // it was given more to do
		b.id = call + "." + strconv.Itoa(n)
	}
	c.loop.began[b.id] = true
	b.scope.heard = true
	c.loop.tasks[agentID], c.loop.helpers[agentID] = b, b.scope
	c.report(event.TaskStarted{TaskID: b.id, Kind: event.AgentTask, Title: title, ToolCallID: call})
	if !c.enter() {
		return
	}
	go c.contained(func() { // Close waits for what still asks the session
		defer c.turns.Done()
		<-b.scope.ctx.Done()
		over := make(chan struct{})
		c.post(func() {
			defer close(over)
			b.scope.aborted = true
			c.dismiss(b.scope)
		})
		<-over
		b.scope.work.Wait()
	})()
}

// dismiss forgets a helper, and its own helpers.
func (c *conn) dismiss(scope *turn) {
	maps.DeleteFunc(c.loop.helpers, func(_ string, h *turn) bool { return h == scope })
}

// active reports whether something may still begin in t.
func (c *conn) active(t *turn) bool {
	for _, h := range c.loop.helpers {
		if h == t {
			return true
		}
	}
	return c.loop.turn == t
}

// scope returns what an event belongs to: a turn, or the work of a helper in the
// background; nil if it is none's.
func (c *conn) scope(e cli.Event) *turn {
	if h := c.loop.helpers[e.AgentID]; h != nil && e.AgentID != "" {
		return h
	}
	return c.loop.turn
}

// endTasks reports the end of all tasks: nothing of them is left, or will be.
func (c *conn) endTasks() {
	for _, b := range c.loop.tasks {
		c.endTask(b, event.Interrupted)
	}
	clear(c.loop.tasks)
	c.loop.shells = nil
}

// AbortTask implements [agent.Tasker].
func (c *conn) AbortTask(ctx context.Context, taskID string) error {
	if !c.enter() {
		return errClosed
	}
	defer c.turns.Done()
	for _, b := range c.running() {
		if b.id == taskID {
			return c.cancelTask(ctx, b)
		}
	}
	return nil
}

// cancelTask has the CLI end a task. It says so itself (1.0.102), the list of tasks
// says it as well.
func (c *conn) cancelTask(ctx context.Context, b *background) error {
	if b.tree != nil {
		b.tree.Look()
	}
	c.post(func() { b.told = true }) // its end may be told before the answer
	err := c.cancel(ctx, b)
	c.post(func() {
		b.told = err == nil
		c.onTasksChanged(cli.Event{})
	})
	return err
}

// cancel asks until the CLI says that it ends the task, or has it no more.
func (c *conn) cancel(ctx context.Context, b *background) error {
	ctx, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	for {
		var answer struct{ Cancelled bool }
		if err := c.ask(ctx, "session.tasks.cancel", c.named(map[string]any{"id": b.native}), &answer); err != nil {
			return c.b.cli.Explain(err)
		}
		if answer.Cancelled || !slices.Contains(c.running(), b) {
			return nil
		}
		pause := time.NewTimer(listPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return errors.New("GitHub Copilot CLI did not end it; try again, or end the session")
		}
	}
}

// running returns the tasks that have no end.
func (c *conn) running() []*background {
	found := make(chan []*background, 1)
	c.post(func() {
		var all []*background
		for _, b := range c.loop.tasks {
			if !b.ended {
				all = append(all, b)
			}
		}
		found <- all
	})
	select {
	case all := <-found:
		return all
	case <-c.done:
		return nil
	}
}

// cancelTasks ends all tasks before the conversation lets go of them.
func (c *conn) cancelTasks() {
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	for _, b := range c.running() {
		if err := c.cancel(ctx, b); err != nil && ctx.Err() == nil {
			c.b.cfg.Logger.Warn("copilot: a background task was not ended", "error", err)
		}
	}
	told := make(chan struct{})
	c.post(func() { defer close(told); c.endTasks() })
	<-told
}

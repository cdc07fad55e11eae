package copilot

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
)

// background is a task, a command or a helper agent that the agent left running, or a call of the
// CLI's shell that may leave one.
type background struct {
	convo.Task
	native string // the CLI's id; empty: the call left nothing running so far
	theirs string // of a command: the CLI's id of the call
	text   []byte // of a command: the last it printed
	scope  *turn  // of a helper: what it does beside the turns
}

const (
	listPause   = 100 * time.Millisecond // between two looks at the tasks
	endPatience = 2 * time.Second        // for the end of all tasks, when the conversation ends
	// stopPatience is for the end of one task that the user stops: the CLI (1.0.102) says that it
	// did not end one while it is busy.
	stopPatience = 20 * time.Second
	// exitPatience is how long the end of a command waits for its exit code, which the CLI reports
	// only with its notification.
	exitPatience = 500 * time.Millisecond
)

// nativeTask is one entry of session.tasks.list. Commands that the agent waits for are in it, too,
// with another execution mode.
type nativeTask struct {
	Type, ID, Status, Command, ExecutionMode string
}

// onTasksChanged looks at what runs in the background. The CLI reports dozens of changes: one look
// covers all that come while it is made.
func (c *conn) onTasksChanged(*turn, cli.Event, struct{}) { c.lookAtTasks() }

func (c *conn) lookAtTasks() {
	c.loop.tasking.Run(c.Conversation, func() {
		var list struct{ Tasks []nativeTask }
		if c.ask(c.Quit(), "session.tasks.list", nil, &list) == nil {
			c.Post(func() { c.sawTasks(list.Tasks) })
		}
		select {
		case <-time.After(listPause):
		case <-c.Quit().Done():
		}
	})
}

// sawTasks reports which tasks began and ended. The CLI takes its time to list those that are to
// end as cancelled, and reports nothing when it does or when it lists them no more.
func (c *conn) sawTasks(list []nativeTask) {
	listed := map[string]bool{}
	for _, n := range list {
		b := c.loop.tasks[n.ID]
		listed[n.ID] = true
		switch {
		case b == nil && n.Type == "shell" && n.ExecutionMode == "background" && n.Status == "running":
			c.beginShell(n)
		case b == nil || b.Ended || n.Status == "running":
		case n.Status == "cancelled":
			c.endTask(b, event.Aborted)
		case n.Status == "failed":
			c.endTask(b, event.Failed)
		case b.scope != nil:
			c.endTask(b, event.Completed)
		default: // the exit code is on its way
			c.After(exitPatience, func() { c.endTask(b, event.Completed) })
		}
	}
	for _, b := range c.loop.tasks {
		switch {
		case !b.Stopped || b.Ended:
		case listed[b.native]:
			c.loop.tasking.More()
		default:
			c.endTask(b, event.Aborted)
		}
	}
}

const (
	maxShells    = 50       // that are remembered behind their calls
	maxShellText = 64 << 10 // bytes of what a command printed
)

// shellID is how the CLI's tools name a command they leave running: one started in the background,
// or one that was still running after 30 seconds (1.0.102).
var shellID = regexp.MustCompile(`<command (?:started in (?:detached )?background )?with shellId: (\S+?)(?:>| is still running)`)

// beginCommand remembers a call of the CLI's shell.
func (c *conn) beginCommand(x *execution, theirs string) {
	if !isShell(x.Tool) {
		return
	}
	if c.loop.shells = append(c.loop.shells, &background{Task: convo.Task{ID: x.ID}, theirs: theirs}); len(c.loop.shells) > maxShells {
		c.loop.shells = slices.Delete(c.loop.shells, 0, 1)
	}
}

// shell returns the last call for which is returns true: a provider may count from 0 in each
// answer.
func (c *conn) shell(is func(*background) bool) *background {
	for _, s := range slices.Backward(c.loop.shells) {
		if is(s) {
			return s
		}
	}
	return nil
}

// endCommand notes what a call of the shell that has ended left running.
func (c *conn) endCommand(ours, text string) {
	m := shellID.FindStringSubmatch(text)
	if s := c.shell(func(s *background) bool { return s.ID == ours }); s != nil && m != nil {
		s.native = m[1]
		c.lookAtTasks()
	}
}

// onShellOutput hands on what a command prints behind the end of its call.
func (c *conn) onShellOutput(_ *turn, _ cli.Event, d struct{ ToolCallID, Text string }) {
	s := c.shell(func(s *background) bool { return s.theirs == d.ToolCallID })
	if s == nil || d.Text == "" {
		return
	}
	s.text = append(s.text, d.Text...)
	if over := len(s.text) - maxShellText; over > 0 {
		s.text = []byte(strings.ToValidUTF8(string(s.text[over:]), ""))
	}
	c.TaskPrinted(&s.Task, d.Text)
}

// beginShell reports a command that its call left running, once the call has ended.
func (c *conn) beginShell(n nativeTask) {
	b := c.shell(func(s *background) bool { return s.native == n.ID && !s.Begun })
	if b == nil {
		return
	}
	c.loop.tasks[n.ID] = b
	c.BeginTask(&b.Task, event.ShellTask, n.Command, b.ID)
	c.TaskPrinted(&b.Task, string(b.text))
}

// endTask reports the end of a task once.
func (c *conn) endTask(b *background, how event.Outcome) {
	if b.Ended {
		return
	}
	if b.scope != nil {
		b.scope.Cancel(nil)
		c.dismiss(b.scope)
	}
	c.EndTask(&b.Task, how)
}

// beginHelper reports a helper agent that works in the background, and gives it a place of its own
// to work in.
func (c *conn) beginHelper(agentID, call, title string) {
	if old := c.loop.tasks[agentID]; old != nil && !old.Ended {
		return
	}
	b := &background{Task: convo.Task{ID: call}, native: agentID, scope: newTurn(c.NewTurn(c.Quit()), string(event.NewID()))}
	for n := 2; c.loop.began[b.ID]; n++ { // it was given more to do
		b.ID = call + "." + strconv.Itoa(n)
	}
	c.loop.began[b.ID] = true
	b.scope.heard = true
	c.loop.tasks[agentID], c.loop.helpers[agentID] = b, b.scope
	c.BeginTask(&b.Task, event.AgentTask, title, call)
	c.Beside(func() { // Close waits for what still asks the session
		<-b.scope.Ctx.Done()
		c.Do(func() {
			b.scope.aborted = true
			c.dismiss(b.scope)
		})
		b.scope.Wait()
	})
}

// dismiss forgets a helper, and its own helpers.
func (c *conn) dismiss(scope *turn) {
	maps.DeleteFunc(c.loop.helpers, func(_ string, h *turn) bool { return h == scope })
}

// scope returns what an event belongs to: a turn, or the work of a helper in the background; nil if
// there is none.
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

// AbortTask implements [agent.Tasker]. The CLI reports the end of a task that it ended (1.0.102),
// and the list of tasks has it as well.
func (c *conn) AbortTask(ctx context.Context, taskID string) error {
	return c.During(func() error {
		all := c.unended()
		i := slices.IndexFunc(all, func(b *background) bool { return b.ID == taskID })
		if i < 0 {
			return nil
		}
		ctx, stop := context.WithTimeout(ctx, stopPatience)
		defer stop()
		c.Post(func() { all[i].Stopped = true }) // its end may be reported before the answer
		err := c.cancel(ctx, all[i])
		c.Post(func() {
			all[i].Stopped = err == nil
			c.lookAtTasks()
		})
		return err
	})
}

// cancel asks until the CLI says that it ends the task, or has it no more.
func (c *conn) cancel(ctx context.Context, b *background) error {
	for {
		var answer struct{ Cancelled bool }
		if err := c.ask(ctx, "session.tasks.cancel", map[string]any{"id": b.native}, &answer); err != nil {
			return c.b.cli.Explain(err)
		}
		if answer.Cancelled || !slices.Contains(c.unended(), b) {
			return nil
		}
		select {
		case <-time.After(listPause):
		case <-ctx.Done():
			return errors.New("GitHub Copilot CLI did not end it; try again, or end the session")
		}
	}
}

// unended returns the tasks that have no end.
func (c *conn) unended() (all []*background) {
	c.Do(func() {
		for _, b := range c.loop.tasks {
			if !b.Ended {
				all = append(all, b)
			}
		}
	})
	return all
}

// cancelTasks ends all tasks before the conversation releases them.
func (c *conn) cancelTasks() {
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	for _, b := range c.unended() {
		if err := c.cancel(ctx, b); err != nil && ctx.Err() == nil {
			c.Logger.Warn("copilot: a background task was not ended", "error", err)
		}
	}
	c.Do(c.endTasks)
}

type todos struct {
	Rows []struct {
		ID, Title, Description string
		Status                 string // pending, in_progress, done or blocked
	}
}

// onTodos reads the agent's list: the event reports only that it changed.
func (c *conn) onTodos(*turn, cli.Event, struct{}) {
	c.loop.listing.Run(c.Conversation, func() {
		var list todos
		if c.ask(c.Quit(), "session.plan.readSqlTodos", nil, &list) == nil {
			c.Post(func() { c.Report(event.SessionTodosChanged{Todos: list.events()}) })
		}
	})
}

// events are the rows in the session's words. What is blocked is still to be done.
func (l todos) events() []event.Todo {
	list := make([]event.Todo, 0, len(l.Rows))
	for _, r := range l.Rows {
		t := event.Todo{Text: cmp.Or(r.Title, r.Description, r.ID), Status: event.TodoPending}
		switch r.Status {
		case "in_progress":
			t.Status = event.TodoDoing
		case "done":
			t.Status = event.TodoDone
		case "blocked":
			t.Text += " (blocked)"
		}
		list = append(list, t)
	}
	return list
}

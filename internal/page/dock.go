package page

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// plan is what the dock shows of the agent's plan.
type plan struct {
	Open  bool   // something of it is left to do
	Head  string // how far it is
	Now   string // what the agent does
	Todos []event.Todo
}

// Plan is the plan as it is now.
func (f *State) Plan() plan {
	p, done := plan{Todos: f.todos}, 0
	for _, t := range f.todos {
		switch {
		case t.Status == event.TodoDone:
			done++
		case t.Status == event.TodoDoing && p.Now == "":
			p.Now = wording.Plain(t.Text)
		}
	}
	p.Open = done < len(f.todos)
	p.Head = "Plan: " + wording.Count(done) + " of " + wording.Count(len(f.todos)) + " done"
	return p
}

// queue is what the dock shows of the prompts that wait.
type queue struct {
	Rows []queued // in the order of sending
	Held bool     // they wait until the user goes on
}

// queued is a prompt that waits.
type queued struct{ El, Message, Prompt string }

// Queue is the list as it is now. A prompt that nothing is ahead of is about to start, and
// does not wait.
func (f *turns) Queue() queue {
	var q queue
	for _, n := range f.root.Kids {
		if t := n.Turn; t.State == "queued" && f.queued[t.Message] == n && (t.Waited || f.held) {
			q.Rows = append(q.Rows, queued{"w-" + n.ID, t.Message, t.Prompt})
		}
	}
	q.Held = f.held && f.current == nil && len(q.Rows) > 0
	return q
}

// maxPrinted is how many bytes of what a task printed last are shown.
const maxPrinted = 4 << 10

// tasks are what runs in the background.
type tasks struct {
	*core
	running *node // they stand in the dock
}

// task is work in the background. It stands above the composer while it runs.
type task struct {
	ID, Title string
	Shell     bool
	At        time.Time
	Printed   string // the last of it
	El        string // its element
}

// Tasks are those that run.
func (f *tasks) Tasks() []*node { return f.running.Kids }

// TasksHead says how many they are.
func (f *tasks) TasksHead() string {
	return wording.Plural(len(f.running.Kids), "task") + " in the background"
}

func (f *tasks) task(id string) *node {
	i := slices.IndexFunc(f.running.Kids, func(n *node) bool { return n.Task.ID == id })
	if i < 0 {
		return nil
	}
	return f.running.Kids[i]
}

func (f *tasks) started(d event.TaskStarted) {
	if f.task(d.TaskID) != nil {
		return
	}
	t := &task{
		ID:    d.TaskID,
		Title: d.Title,
		Shell: d.Kind == event.ShellTask,
		At:    f.now,
		El:    elementID("task-", d.TaskID),
	}
	f.insert(f.running, nil, &node{ID: t.El, Task: t})
	f.note("", "tail", "Left running in the background: "+
		wording.FirstLine(wording.Plain(d.Title), 120))
	f.changed("dock-tasks")
}

func (f *tasks) output(d event.TaskOutput) {
	n := f.task(d.TaskID)
	if n == nil {
		return
	}
	n.Task.Printed = lastOf(n.Task.Printed+d.Text, maxPrinted)
	f.show(n, own)
}

// lastOf is the end of a text, from the beginning of a line if it has several.
func lastOf(text string, most int) string {
	over := len(text) - most
	if over <= 0 {
		return text
	}
	text = strings.ToValidUTF8(text[over:], "")
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		return rest
	}
	return text
}

func (f *tasks) completed(d event.TaskCompleted) {
	n := f.task(d.TaskID)
	if n == nil {
		return
	}
	f.remove(n)
	how := "Done in the background"
	switch {
	case d.ExitCode != nil && *d.ExitCode != 0:
		how = "Ended in the background with exit code " + strconv.Itoa(*d.ExitCode)
	case d.Outcome == event.Aborted:
		how = "Stopped in the background"
	case d.Outcome == event.Failed:
		how = "Failed in the background"
	case d.Outcome == event.Interrupted:
		how = "Ended in the background, with its agent"
	}
	text := how + ": " + wording.FirstLine(wording.Plain(n.Task.Title), 120)
	f.note("", "check", text)
	f.changed("dock-tasks")
	f.say(text)
}

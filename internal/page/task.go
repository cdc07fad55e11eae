package page

import (
	"html/template"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/render"
	"webchat/internal/wording"
)

// maxPrinted is how many bytes of what a task printed last are shown.
const maxPrinted = 4 << 10

// task is work in the background. It stands above the composer while it runs.
type task struct {
	ID, Title string
	Shell     bool
	At        time.Time

	el   string // its element
	text string // the last it printed
}

// El is the id of its element.
func (t *task) El() string { return t.el }

// Stamp is when it began, for machines.
func (t *task) Stamp() string { return event.Time(t.At).String() }

// Command is what it does, with nothing hidden.
func (t *task) Command() template.HTML { return render.Visible(t.Title) }

// Line is the same in one line.
func (t *task) Line() string { return wording.Plain(t.Title) }

// Printed is the last it printed.
func (t *task) Printed() template.HTML { return render.Visible(t.text) }

// Working is what the dock shows of the background.
type Working struct{ Tasks []*task }

// Head says how much there is.
func (w Working) Head() string { return wording.Plural(len(w.Tasks), "task") + " in the background" }

func (f *State) tasksChanged() {
	f.batch.part(nil, "dock-tasks", "tasks", func() any { return Working{f.tasks} })
}

func (f *State) task(id string) *task {
	for _, t := range f.tasks {
		if t.ID == id {
			return t
		}
	}
	return nil
}

func (f *State) taskStarted(d event.TaskStarted) {
	if f.task(d.TaskID) != nil {
		return
	}
	t := &task{ID: d.TaskID, Title: d.Title, Shell: d.Kind == event.ShellTask, At: f.now, el: elementID("task-", d.TaskID)}
	f.tasks = append(f.tasks, t)
	f.note("", "tail", "Left running in the background: "+wording.FirstLine(wording.Plain(d.Title), 120))
	f.tasksChanged()
}

func (f *State) taskOutput(d event.TaskOutput) {
	t := f.task(d.TaskID)
	if t == nil {
		return
	}
	t.text += d.Text
	if over := len(t.text) - maxPrinted; over > 0 {
		t.text = strings.ToValidUTF8(t.text[over:], "")
		if _, rest, ok := strings.Cut(t.text, "\n"); ok {
			t.text = rest
		}
	}
	el := t.el + ".o"
	f.batch.add(change{action: "replace", target: el, key: el, within: "dock-tasks", tmpl: "task.output", data: func() any { return t }})
}

func (f *State) taskCompleted(d event.TaskCompleted) {
	f.countUsage(d.Usage)
	t := f.task(d.TaskID)
	if t == nil {
		return
	}
	for i, x := range f.tasks {
		if x == t {
			f.tasks = append(f.tasks[:i:i], f.tasks[i+1:]...)
			break
		}
	}
	how := map[event.Outcome]string{event.Aborted: "Stopped in the background", event.Failed: "Failed in the background",
		event.Interrupted: "Ended with its agent, in the background"}[d.Outcome]
	if how == "" {
		how = "Done in the background"
	}
	if d.ExitCode != nil && *d.ExitCode != 0 {
		how = "Ended in the background with exit code " + wording.Count(*d.ExitCode)
	}
	text := how + ": " + wording.FirstLine(wording.Plain(t.Title), 120)
	f.note("", "check", text)
	f.tasksChanged()
	f.batch.announce("say", text)
}

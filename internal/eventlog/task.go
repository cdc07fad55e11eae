package eventlog

import (
	"slices"
	"time"

	"webchat/internal/event"
)

// MaxTaskText is how many bytes are kept of what a task printed last.
const MaxTaskText = 64 << 10

// Task is a task without an end, folded like the rest of [Work].
type Task struct {
	Start event.TaskStarted
	At    time.Time
	Text  []byte // the last it printed
}

func (o *Work) Task(id string) *Task {
	return o.task(func(t *Task) bool { return t.Start.TaskID == id })
}

func (o *Work) task(wanted func(*Task) bool) *Task {
	if t := find(o.Tasks, wanted); t != nil {
		return *t
	}
	return nil
}

// TaskOf returns the id of the task that a call left, if it runs.
func (o *Work) TaskOf(call string) string {
	if t := o.task(func(t *Task) bool { return t.Start.ToolCallID == call }); t != nil {
		return t.Start.TaskID
	}
	return ""
}

// Helper returns the task that a call left, or one the call was made in; nil if no such task is
// open.
func (o *Work) Helper(call string) *Task {
	for range 10 { // helpers of helpers
		t := o.task(func(t *Task) bool { return call != "" && t.Start.ToolCallID == call })
		x := o.Tool(call)
		if t != nil || x == nil {
			return t
		}
		call = x.Start.ParentToolCallID
	}
	return nil
}

// ParentOf returns the call whose helper d is about; empty if it is about none.
func (o *Work) ParentOf(d event.Data) string {
	id := ""
	switch d := d.(type) {
	case event.ToolExecutionProgress:
		id = d.ToolCallID
	case event.ToolExecutionPartialResult:
		id = d.ToolCallID
	case event.ToolExecutionComplete:
		id = d.ToolCallID
	default:
		return event.ParentCall(d)
	}
	if x := o.Tool(id); x != nil {
		return x.Start.ParentToolCallID
	}
	return ""
}

// Request returns an open request.
func (o *Work) Request(id string) event.Data {
	if e := find(o.Requests, func(e event.Entry) bool {
		return QuestionID(e.Event.Data) == id
	}); e != nil {
		return e.Event.Data
	}
	return nil
}

// applyTask folds an event of a task.
func (o *Work) applyTask(e event.Entry) {
	switch d := e.Event.Data.(type) {
	case event.TaskStarted:
		o.Tasks = append(o.Tasks, &Task{Start: d, At: e.Event.Timestamp})
	case event.TaskOutput:
		if t := o.Task(d.TaskID); t != nil {
			t.Text = append(t.Text, d.Text...)
			if over := len(t.Text) - MaxTaskText; over > 0 {
				t.Text = slices.Delete(t.Text, 0, over)
			}
		}
	case event.TaskCompleted:
		o.Tasks = slices.DeleteFunc(o.Tasks, func(t *Task) bool { return t.Start.TaskID == d.TaskID })
	}
}

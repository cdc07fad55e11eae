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
	for _, t := range o.Tasks {
		if t.Start.TaskID == id {
			return t
		}
	}
	return nil
}

// TaskOf returns the id of the task that a call left, if it runs.
func (o *Work) TaskOf(call string) string {
	for _, t := range o.Tasks {
		if t.Start.ToolCallID == call {
			return t.Start.TaskID
		}
	}
	return ""
}

// Helper returns the task that a call left, or one the call was made in; nil if no such task is
// open.
func (o *Work) Helper(call string) *Task {
	for range 10 { // helpers of helpers
		for _, t := range o.Tasks {
			if call != "" && t.Start.ToolCallID == call {
				return t
			}
		}
		x := o.Tool(call)
		if x == nil {
			return nil
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
	for _, e := range o.Requests {
		if QuestionID(e.Event.Data) == id {
			return e.Event.Data
		}
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

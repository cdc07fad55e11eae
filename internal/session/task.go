package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"webchat/internal/agent"
	"webchat/internal/event"
)

const (
	maxTaskText  = 64 << 10 // bytes that are kept of what a task printed last
	maxTaskTitle = 2000     // characters
	// endTaskLimit is how long the end of all tasks may take.
	endTaskLimit = 5 * time.Second
)

// openTask is a task without an end, folded like the rest of [open].
type openTask struct {
	start event.TaskStarted
	at    time.Time
	text  []byte // the last it printed
	scope *turn  // of what is called for it, also while no turn runs; nil: it was left by an earlier process
}

// Task is work in the background, as a list shows it.
type Task struct {
	TaskID     string         `json:"taskId"`
	Kind       event.TaskKind `json:"kind"`
	Title      string         `json:"title"`
	ToolCallID string         `json:"toolCallId,omitempty"`
	StartedAt  event.Time     `json:"startedAt"`
	Output     string         `json:"output"` // the last of what it printed, at most 64 KiB
}

// Tasks returns what runs in the background, the oldest first.
func (s *Session) Tasks() []Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Task{}
	for _, t := range s.open.tasks {
		out = append(out, Task{t.start.TaskID, t.start.Kind, t.start.Title, t.start.ToolCallID, event.Time(t.at), strings.ToValidUTF8(string(t.text), "")})
	}
	return out
}

// AbortTask ends a task with everything it started. [ErrGone] for one that has
// ended, [ErrNotFound] for one that never was.
func (s *Session) AbortTask(ctx context.Context, taskID string) error {
	s.mu.Lock()
	t, conn := s.open.task(taskID), s.conn
	s.mu.Unlock()
	if t == nil {
		var known bool
		err := s.scan(ctx, 0, func(e event.Entry) bool {
			d, ok := e.Event.Data.(event.TaskStarted)
			known = ok && d.TaskID == taskID
			return !known
		})
		switch {
		case err != nil:
			return err
		case known:
			return fmt.Errorf("task %s has ended: %w", taskID, ErrGone)
		}
		return fmt.Errorf("task %s: %w", taskID, ErrNotFound)
	}
	var tasker agent.Tasker
	if conn != nil {
		tasker, _ = conn.Conn.(agent.Tasker)
	}
	if tasker == nil {
		return fmt.Errorf("task %s: %w", taskID, agent.ErrUnsupported)
	}
	_, err := Guard(s.log(), "ending a task", func() (struct{}, error) { return struct{}{}, tasker.AbortTask(ctx, taskID) })
	if err != nil {
		return fmt.Errorf("end task %s: %w", taskID, err)
	}
	return nil
}

// AbortTasks ends all tasks.
func (s *Session) AbortTasks(ctx context.Context) error {
	var errs []error
	for _, t := range s.Tasks() {
		if err := s.AbortTask(ctx, t.TaskID); !errors.Is(err, ErrGone) { // it ended meanwhile
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (o *open) task(id string) *openTask {
	for _, t := range o.tasks {
		if t.start.TaskID == id {
			return t
		}
	}
	return nil
}

// taskOf returns the id of the task that a call left, if it runs.
func (o *open) taskOf(call string) string {
	for _, t := range o.tasks {
		if t.start.ToolCallID == call {
			return t.start.TaskID
		}
	}
	return ""
}

// helper returns the task that a call left, or one the call was made in; nil if no
// such task is open.
func (o *open) helper(call string) *openTask {
	for range 10 { // helpers of helpers
		for _, t := range o.tasks {
			if call != "" && t.start.ToolCallID == call {
				return t
			}
		}
		x := o.tool(call)
		if x == nil {
			return nil
		}
		call = x.start.ParentToolCallID
	}
	return nil
}

// parentOf returns the call whose helper d is about; empty if it is about none.
func (o *open) parentOf(d event.Data) string {
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
	if x := o.tool(id); x != nil {
		return x.start.ParentToolCallID
	}
	return ""
}

// request returns an open request.
func (o *open) request(id string) event.Data {
	for _, e := range o.requests {
		if questionID(e.Event.Data) == id {
			return e.Event.Data
		}
	}
	return nil
}

// applyTask folds an event of a task.
func (o *open) applyTask(e event.Entry) {
	switch d := e.Event.Data.(type) {
	case event.TaskStarted:
		o.tasks = append(o.tasks, &openTask{start: d, at: e.Event.Timestamp})
	case event.TaskOutput:
		if t := o.task(d.TaskID); t != nil {
			t.text = append(t.text, d.Text...)
			if over := len(t.text) - maxTaskText; over > 0 {
				t.text = slices.Delete(t.text, 0, over)
			}
		}
	case event.TaskCompleted:
		o.tasks = slices.DeleteFunc(o.tasks, func(t *openTask) bool { return t.start.TaskID == d.TaskID })
	}
}

// screenTaskLocked returns a report about a task as it may be relayed.
func (s *Session) screenTaskLocked(data event.Data) (event.Data, error) {
	switch d := data.(type) {
	case event.TaskStarted:
		switch {
		case d.TaskID == "" || d.Kind != event.ShellTask && d.Kind != event.AgentTask:
			return nil, fmt.Errorf("%w: %s without the id or the kind of the task", ErrInvalid, event.TypeOf(d))
		case s.open.task(d.TaskID) != nil:
			return nil, nil
		}
		d.Title = strings.ToValidUTF8(d.Title, "\uFFFD")
		if utf8.RuneCountInString(d.Title) > maxTaskTitle {
			d.Title = string([]rune(d.Title)[:maxTaskTitle]) + "…"
		}
		return d, nil
	case event.TaskOutput:
		if s.open.task(d.TaskID) == nil || d.Text == "" {
			return nil, nil
		}
		if over := len(d.Text) - maxTaskText; over > 0 {
			d.Text = d.Text[over:]
		}
		d.Text = strings.ToValidUTF8(d.Text, "\uFFFD")
		return d, nil
	case event.TaskCompleted:
		if s.open.task(d.TaskID) == nil {
			return nil, nil
		}
		if d.Outcome == "" {
			d.Outcome = event.Completed
		}
		return d, nil
	}
	return nil, nil
}

// openScopeLocked gives a task that starts what the calls made for it run in.
func (s *Session) openScopeLocked(data event.Data) {
	if d, ok := data.(event.TaskStarted); ok {
		scope := s.newTurn(&prompt{})
		scope.started = true
		s.open.task(d.TaskID).scope = scope
	}
}

// endTaskLocked logs the end of a task, and with it of what a helper left open.
func (s *Session) endTaskLocked(d event.TaskCompleted) error {
	t := s.open.task(d.TaskID)
	d.Usage = s.unbilled
	data := s.open.closing(ending{code: "interrupted", reason: "The task ended before this did.", of: t}, s.now())
	if err := s.appendLocked(append(data, d)...); err != nil {
		return err
	}
	s.unbilled = event.Usage{}
	if t.scope != nil {
		t.scope.ended = true
		t.scope.stop(errTurnOver)
		s.abandonRequestsLocked()
	}
	return nil
}

// endTasks logs the end of all tasks: their conversation is over.
func (s *Session) endTasks(outcome event.Outcome) {
	s.mu.Lock()
	none := len(s.open.tasks) == 0
	s.mu.Unlock()
	if none {
		return
	}
	err := s.change(context.Background(), func() error {
		for len(s.open.tasks) > 0 {
			if err := s.endTaskLocked(event.TaskCompleted{TaskID: s.open.tasks[0].start.TaskID, Outcome: outcome}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil { // the next start closes them
		s.log().Warn("the end of a task was not logged", "error", err)
	}
}

package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// endTaskLimit is how long the end of all tasks may take.
const endTaskLimit = 5 * time.Second

// Task is work in the background.
type Task struct {
	TaskID     string
	Kind       event.TaskKind
	Title      string
	ToolCallID string
	StartedAt  time.Time
	Output     string // the last of what it printed, at most 64 KiB
}

// Tasks returns what runs in the background, the oldest first.
func (s *Session) Tasks() []Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Task{}
	for _, t := range s.events.Open.Tasks {
		out = append(out, Task{t.Start.TaskID, t.Start.Kind, t.Start.Title, t.Start.ToolCallID, t.At, strings.ToValidUTF8(string(t.Text), "")})
	}
	return out
}

// AbortTask ends a task with everything it started. [consent.ErrGone] for one that has
// ended, [eventlog.ErrNotFound] for one that never was.
func (s *Session) AbortTask(ctx context.Context, taskID string) error {
	s.mu.Lock()
	t, conn := s.events.Open.Task(taskID), s.conn
	s.mu.Unlock()
	if t == nil {
		return s.missing(ctx, "task "+taskID, func(d event.Data) bool {
			start, ok := d.(event.TaskStarted)
			return ok && start.TaskID == taskID
		})
	}
	var tasker agent.Tasker
	if conn != nil {
		tasker, _ = conn.Conn.(agent.Tasker)
	}
	if tasker == nil {
		return fmt.Errorf("task %s: %w", taskID, agent.ErrUnsupported)
	}
	_, err := contain.Call(s.log(), "ending a task", func() (struct{}, error) { return struct{}{}, tasker.AbortTask(ctx, taskID) })
	if err != nil {
		return fmt.Errorf("end task %s: %w", taskID, err)
	}
	return nil
}

// AbortTasks ends all tasks.
func (s *Session) AbortTasks(ctx context.Context) error {
	var errs []error
	for _, t := range s.Tasks() {
		if err := s.AbortTask(ctx, t.TaskID); !errors.Is(err, consent.ErrGone) { // it ended meanwhile
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// openScopeLocked gives a task that starts what the calls made for it run in.
func (s *Session) openScopeLocked(data event.Data) {
	if d, ok := data.(event.TaskStarted); ok {
		scope := s.newTurn(&prompt{})
		scope.started = true
		s.scopes[d.TaskID] = scope
	}
}

// endTaskLocked logs the end of a task, and with it of what a helper left open.
func (s *Session) endTaskLocked(d event.TaskCompleted) error {
	t := s.events.Open.Task(d.TaskID)
	d.Usage = s.unbilled
	data := s.events.Open.Closing(eventlog.Ending{Code: "interrupted", Reason: "The task ended before this did.", Of: t}, s.events.Now())
	if err := s.events.Append(append(data, d)...); err != nil {
		return err
	}
	s.unbilled = event.Usage{}
	s.noteUseLocked()
	if scope := s.scopes[d.TaskID]; scope != nil {
		delete(s.scopes, d.TaskID)
		scope.ended = true
		scope.stop(errTurnOver)
		s.requests.Abandon()
	}
	return nil
}

// endTasks logs the end of all tasks: their conversation is over.
func (s *Session) endTasks(outcome event.Outcome) {
	s.mu.Lock()
	none := len(s.events.Open.Tasks) == 0
	s.mu.Unlock()
	if none {
		return
	}
	err := s.events.Change(context.Background(), func() error {
		for len(s.events.Open.Tasks) > 0 {
			if err := s.endTaskLocked(event.TaskCompleted{TaskID: s.events.Open.Tasks[0].Start.TaskID, Outcome: outcome}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil { // the next start closes them
		s.log().Warn("the end of a task was not logged", "error", err)
	}
}

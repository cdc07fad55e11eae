package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/calls"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

const (
	// stopOrder is how long a stop waits for its place in the log before what it stops.
	stopOrder = stopGrace / 10
	// endTaskLimit is how long the end of all tasks may take.
	endTaskLimit = 5 * time.Second
)

// Abort stops the running turn, within about a second and with everything the agent started in it.
// The prompts that wait go on waiting, until the user sends one of them or another one. Displays of
// the user go on; only when no turn runs they are what is stopped. While the log is slow or refuses
// it, the end of the turn logs the stop, and Abort does not wait for that. Nothing to stop is no
// error.
func (s *Session) Abort(ctx context.Context, reason string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	abort := event.Abort{
		Reason: cmp.Or(strings.TrimSpace(reason), "Stopped by the user."),
		By:     event.DecidedByUser,
	}
	logged := make(chan error, 1)
	s.mu.Lock()
	if s.state >= stateClosing { // which stops everything
		s.mu.Unlock()
		return nil
	}
	s.wg.Go(func() { logged <- s.logStop(ctx, abort) })
	s.mu.Unlock()
	select {
	case err := <-logged:
		if err != nil {
			s.log().Warn("a stop was not logged at once", "error", err)
		}
	case <-time.After(stopOrder + logGrace): // the log is slow, and its write goes on
	}
	return nil
}

// logStop stops what runs, and logs that. It acts with its place in the log, which it waits for up
// to [stopOrder].
func (s *Session) logStop(ctx context.Context, abort event.Abort) error {
	stopped := false
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopOrder)
	defer cancel()
	err := s.events.Change(limited, func() error {
		stopped = true
		return s.stopLocked(abort)()
	})
	if !stopped {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stopLocked(abort)
	}
	return err
}

// stopLocked stops the turn that runs, else the user's own calls, and returns what logs that.
func (s *Session) stopLocked(abort event.Abort) (logStop func() error) {
	t := s.turn
	if t == nil {
		calls := false
		for _, c := range s.calls {
			if c.by == event.ByUser {
				calls = true
				c.cancel(errAborted)
			}
		}
		return func() error {
			if !calls {
				return nil
			}
			return s.events.Append(abort)
		}
	}
	if t.whole.Err() == nil { // else it is stopping
		t.abort = &abort
	}
	s.held = true
	t.stop(errAborted)
	return func() error {
		if s.turn != t || t.abort == nil || t.ending { // the end of the turn logged it, or will
			return nil
		}
		if err := s.events.Append(append([]event.Data{*t.abort},
			s.requests.Refusals()...)...); err != nil {
			return err
		}
		t.abort = nil
		s.requests.Abandon()
		return nil
	}
}

// AbortTool stops one running tool call, the agent's or the user's, or the task it left; its turn
// goes on. [consent.ErrGone] for a call that has ended, [eventlog.ErrNotFound] for one that never
// was, [agent.ErrUnsupported] for one the agent runs by itself.
func (s *Session) AbortTool(ctx context.Context, toolCallID string) error {
	s.mu.Lock()
	c, runs, task := s.calls[toolCallID], s.events.Open().Tool(toolCallID) != nil,
		s.events.Open().TaskOf(toolCallID)
	s.mu.Unlock()
	switch {
	case c != nil:
		c.cancel(errAborted)
		return nil
	case task != "":
		return s.AbortTask(ctx, task)
	case runs:
		return fmt.Errorf("tool call %s is the agent's own, stop its turn: %w", toolCallID,
			agent.ErrUnsupported)
	}
	return s.missing(ctx, "tool call "+toolCallID, func(x *calls.Index) bool {
		c, ok := x.Call(toolCallID)
		return ok && c.Start > 0
	})
}

// Task is work in the background.
type Task struct {
	TaskID     string         `json:"taskId"`
	Kind       event.TaskKind `json:"kind"`
	Title      string         `json:"title"`
	ToolCallID string         `json:"toolCallId,omitempty"`
	StartedAt  event.Time     `json:"startedAt"`
	Output     string         `json:"output"` // the last of what it printed, at most 64 KiB
}

// Tasks returns what runs in the background, the oldest first.
func (s *conversation) Tasks() []Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Task{}
	for _, t := range s.events.Open().Tasks {
		out = append(out, Task{t.Start.TaskID, t.Start.Kind, t.Start.Title, t.Start.ToolCallID,
			event.Time(t.At), strings.ToValidUTF8(string(t.Text), "")})
	}
	return out
}

// AbortTask ends a task with everything it started. [consent.ErrGone] for one that has ended,
// [eventlog.ErrNotFound] for one that never was.
func (s *conversation) AbortTask(ctx context.Context, taskID string) error {
	s.mu.Lock()
	t, conn := s.events.Open().Task(taskID), s.conn
	s.mu.Unlock()
	if t == nil {
		return s.missing(ctx, "task "+taskID, func(x *calls.Index) bool { return x.Task(taskID) })
	}
	tasker, ok := can[agent.Tasker](conn)
	if !ok {
		return fmt.Errorf("task %s: %w", taskID, agent.ErrUnsupported)
	}
	if err := s.contained("ending a task", func() error {
		return tasker.AbortTask(ctx, taskID)
	}); err != nil {
		return fmt.Errorf("end task %s: %w", taskID, err)
	}
	return nil
}

// AbortTasks ends all tasks.
func (s *conversation) AbortTasks(ctx context.Context) error {
	var errs []error
	for _, t := range s.Tasks() {
		if err := s.AbortTask(ctx, t.TaskID); !errors.Is(err, consent.ErrGone) { // it ended meanwhile
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// endTaskLocked logs the end of a task, and with it of what a helper left open.
func (s *conversation) endTaskLocked(d event.TaskCompleted) error {
	d.Usage = s.unbilled
	why := eventlog.Ending{
		Code:   "interrupted",
		Reason: "The task ended before this did.",
		Of:     s.events.Open().Task(d.TaskID),
	}
	if err := s.events.Append(append(s.events.Open().Closing(why, s.events.Now()), d)...); err != nil {
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

// endTasks logs that all tasks were interrupted: their conversation is over.
func (s *conversation) endTasks() {
	if len(s.Tasks()) == 0 {
		return
	}
	err := s.events.Change(context.Background(), func() error {
		for len(s.events.Open().Tasks) > 0 {
			d := event.TaskCompleted{
				TaskID:  s.events.Open().Tasks[0].Start.TaskID,
				Outcome: event.Interrupted,
			}
			if err := s.endTaskLocked(d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil { // the next start closes them
		s.log().Warn("the end of a task was not logged", "error", err)
	}
}

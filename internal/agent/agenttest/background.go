package agenttest

import (
	"context"
	"errors"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// checkBackground leaves work running behind a turn, stops a turn beside it, ends it,
// and closes a conversation while more of it runs.
func checkBackground(tb testing.TB, b agent.Backend, o Options) {
	if o.Background == nil {
		return
	}
	r := open(tb, b, o, func(h *Host) {
		h.Tool = func(ctx context.Context, _ agent.ToolCall) agent.Result {
			<-ctx.Done()
			return agent.Failure(event.KindAborted, "It was stopped.")
		}
	})
	defer r.close()
	tasker, ok := r.conn.(agent.Tasker)
	if !ok {
		tb.Errorf("an agent that leaves work running has a Conn that is not a Tasker")
		return
	}
	first := r.startTask(o.Background("sleep 600"), 1)
	r.mustAnswer(o, "while something runs in the background")
	r.abort(o.Talk, r.talkingAgain())
	if len(r.host.tasks()) != 1 {
		tb.Errorf("a stop of the turn ended what runs in the background")
	}
	if err := r.inTime("AbortTask", func() error {
		return tasker.AbortTask(tb.Context(), first)
	}); err != nil {
		tb.Errorf("AbortTask: %v", err)
	}
	r.waitFor("the end of the task", func(h *Host) bool { return len(h.tasks()) == 0 })
	if how := r.host.outcome(first); how != event.Aborted {
		tb.Errorf("a task that was ended has the outcome %q", how)
	}
	if err := r.inTime("AbortTask of one that has ended", func() error {
		return tasker.AbortTask(tb.Context(), first)
	}); err != nil {
		tb.Errorf("AbortTask of one that has ended: %v", err)
	}
	r.startTask(o.Background("sleep 601"), 1) // the end of the conversation ends it
}

// startTask runs a turn that leaves a task, and returns its id once n of them run.
func (r *rig) startTask(content string, n int) (id string) {
	r.tb.Helper()
	r.prompt(content)
	r.waitFor("a task", func(h *Host) bool { return len(h.tasks()) == n })
	all := r.host.tasks()
	return all[len(all)-1]
}

// waitFor waits until seen is true, whatever turn runs.
func (r *rig) waitFor(what string, seen func(*Host) bool) {
	r.tb.Helper()
	err := r.inTime(what, func() error {
		ctx, cancel := context.WithTimeout(r.tb.Context(), r.limit)
		defer cancel()
		return r.host.Wait(ctx, seen)
	})
	if errors.Is(err, context.DeadlineExceeded) {
		r.tb.Fatalf("%s did not come within %v", what, r.limit)
	}
}

// tasks returns the ids of those that run.
func (h *Host) tasks() (ids []string) {
	for _, d := range h.Events() {
		switch d := d.(type) {
		case event.TaskStarted:
			ids = append(ids, d.TaskID)
		case event.TaskCompleted:
			for i, id := range ids {
				if id == d.TaskID {
					ids = append(ids[:i:i], ids[i+1:]...)
					break
				}
			}
		}
	}
	return ids
}

// outcome is how a task ended.
func (h *Host) outcome(id string) event.Outcome {
	for _, d := range h.Events() {
		if c, ok := d.(event.TaskCompleted); ok && c.TaskID == id {
			return c.Outcome
		}
	}
	return ""
}

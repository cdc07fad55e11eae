package consent

import (
	"slices"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// untilIdle waits for the end of calls, and of the tasks that they left running.
type untilIdle struct {
	calls, tasks []string
	turn         bool // none ran: for the end of the turn
	then         func()
}

// runningLocked are the calls of the agent that run, and what such calls left running. The caller
// holds the session's lock.
func (o *Opened) runningLocked() (calls, tasks []string) {
	for _, t := range o.log.Open().Tools {
		if t.Start.By == event.ByAgent {
			calls = append(calls, t.Start.ToolCallID)
		}
	}
	for _, t := range o.log.Open().Tasks {
		tasks = append(tasks, t.Start.TaskID)
	}
	return calls, tasks
}

// untilIdleLocked calls then once all of the calls have ended; without calls, all that run now, or
// else the turn. The caller holds the session's lock.
func (o *Opened) untilIdleLocked(calls []string, then func()) {
	w := &untilIdle{calls: calls, then: then}
	if len(calls) == 0 || calls[0] == "" {
		w.calls, w.tasks = o.runningLocked()
	}
	w.turn = len(w.calls)+len(w.tasks) == 0
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = append(o.waiting, w)
}

// Applied has what was opened end with what it was opened for. It is called for every event that
// was appended, with the session's lock.
func (o *Opened) Applied(d event.Data) {
	if o.cage == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		return
	}
	switch d.(type) {
	case event.TaskStarted, event.ToolExecutionComplete, event.TaskCompleted, event.TurnEnd:
	default:
		return
	}
	o.waiting = slices.DeleteFunc(o.waiting, func(w *untilIdle) bool {
		over := w.ends(d, o.log.Open().Tool)
		if over && !o.stopped {
			o.settling.Go(w.then)
		}
		return over
	})
}

// ends reports whether nothing is left to wait for after an event. The end of a turn ends a call
// that nothing was reported of.
func (w *untilIdle) ends(d event.Data, runs func(string) *eventlog.Tool) bool {
	without := func(list []string, id string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x == id })
	}
	switch d := d.(type) {
	case event.TaskStarted:
		if slices.Contains(w.calls, d.ToolCallID) {
			w.tasks = append(w.tasks, d.TaskID)
		}
	case event.ToolExecutionComplete:
		w.calls = without(w.calls, d.ToolCallID)
	case event.TaskCompleted:
		w.tasks = without(w.tasks, d.TaskID)
	case event.TurnEnd:
		w.turn = false
		w.calls = slices.DeleteFunc(slices.Clone(w.calls), func(id string) bool {
			return runs(id) == nil
		})
	}
	return !w.turn && len(w.calls)+len(w.tasks) == 0
}

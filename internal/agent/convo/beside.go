package convo

import (
	"time"

	"webchat/internal/event"
)

// Beside runs f, contained, in a goroutine that Close waits for before it ends the backend's part;
// false if the conversation is closed.
func (c *Conversation) Beside(f func()) bool {
	exit, err := c.Enter()
	if err != nil {
		return false
	}
	go c.Contained(func() {
		defer exit()
		f()
	})()
	return true
}

// During runs f, a call of the session that Close waits for.
func (c *Conversation) During(f func() error) error {
	exit, err := c.Enter()
	if err != nil {
		return err
	}
	defer exit()
	return f()
}

// After has the loop do f in a while.
func (c *Conversation) After(d time.Duration, f func()) {
	time.AfterFunc(d, func() { c.Post(f) })
}

// Again runs something that is asked for often one at a time, and once more if it was asked for
// meanwhile. Its zero value is ready; it belongs to the loop.
type Again struct{ running, wanted bool }

// Run has work done beside the loop, unless it is under way.
func (a *Again) Run(c *Conversation, work func()) {
	if a.wanted = a.running; a.running {
		return
	}
	a.running = c.Beside(func() {
		defer c.Post(func() {
			if a.running = false; a.wanted {
				a.Run(c, work)
			}
		})
		work()
	})
}

// More has the work that is under way done once more.
func (a *Again) More() { a.wanted = true }

// Task is work that an agent left running, beside the turns. It belongs to the loop.
type Task struct {
	ID      string // unique in the session
	Stopped bool   // it is to end
	Exit    *int   // of a command that came to its end
	Begun   bool   // it was reported
	Ended   bool   // its end was reported
}

// Begin reports the start of a task, with the call that left it.
func (k *Task) Begin(c *Conversation, kind event.TaskKind, title, call string) {
	k.Begun = true
	c.Report(event.TaskStarted{TaskID: k.ID, Kind: kind, Title: title, ToolCallID: call})
}

// Printed reports what a task that runs printed.
func (k *Task) Printed(c *Conversation, text string) {
	if k.Begun && !k.Ended && text != "" {
		c.Report(event.TaskOutput{TaskID: k.ID, Text: text})
	}
}

// End reports the end of a task, once. One that was to end may say that it failed, or that it
// came to its end.
func (k *Task) End(c *Conversation, how event.Outcome) {
	if k.Ended {
		return
	}
	k.Ended = true
	if k.Stopped {
		how = event.Aborted
	}
	if how != event.Completed {
		k.Exit = nil
	}
	c.Report(event.TaskCompleted{TaskID: k.ID, Outcome: how, ExitCode: k.Exit})
}

package copilot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"webchat/internal/agent/convo"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// background is a task, a command or a helper agent that the agent left running, or a call of the
// CLI's shell that may leave one.
type background struct {
	convo.Task
	native string // the CLI's id; empty: the call left nothing running so far
	theirs string // of a command: the CLI's id of the call
	text   []byte // of a command: the last it printed
	scope  *turn  // of a helper: what it does beside the turns
	listed bool   // the CLI's list has had it
}

const (
	listPause   = 100 * time.Millisecond // between two looks at the tasks
	endPatience = 2 * time.Second        // for the end of all tasks, when the conversation ends
	// stopPatience is for the end of one task that the user stops: the CLI (1.0.102) says that it
	// did not end one while it is busy.
	stopPatience = 20 * time.Second
	// exitPatience is how long the end of a command waits for its exit code, which the CLI reports
	// only with its notification.
	exitPatience = 500 * time.Millisecond

	maxShells    = 50       // that are remembered behind their calls
	maxShellText = 64 << 10 // bytes of what a command printed
)

// tasks are what an agent left running. They belong to the loop, but for abort and cancelAll.
type tasks struct {
	c       *convo.Conversation
	ask     asker
	explain func(error) error
	helpers *helpers

	all    map[string]*background // by the CLI's ids
	began  map[string]bool        // our ids of helpers' tasks
	shells []*background          // calls of the CLI's shell, also behind their end
	looks  convo.Again
}

// nativeTask is one entry of session.tasks.list. Commands that the agent waits for are in it, too,
// with another execution mode.
type nativeTask struct {
	Type, ID, Status, Command, ExecutionMode string
}

// look looks at what runs in the background. The CLI reports dozens of changes: one look covers all
// that come while it is made.
func (s *tasks) look() {
	s.looks.Run(s.c, func() {
		var list struct{ Tasks []nativeTask }
		if s.ask(s.c.Quit(), "session.tasks.list", nil, &list) == nil {
			s.c.Post(func() { s.saw(list.Tasks) })
		}
		select {
		case <-time.After(listPause):
		case <-s.c.Quit().Done():
		}
	})
}

// saw reports which tasks began and ended. The CLI takes its time to list those that are to
// end as cancelled, and reports nothing when it does or when it drops them from the list.
func (s *tasks) saw(list []nativeTask) {
	listed := map[string]bool{}
	for _, n := range list {
		b := s.all[n.ID]
		if listed[n.ID] = true; b != nil {
			b.listed = true
		}
		switch {
		case b == nil && n.Type == "shell" && n.ExecutionMode == "background" && n.Status == "running":
			s.beginShell(n)
		case b == nil || b.Ended || n.Status == "running":
		case n.Status == "cancelled":
			s.end(b, event.Aborted)
		case n.Status == "failed":
			s.end(b, event.Failed)
		case b.scope != nil:
			s.end(b, event.Completed)
		default: // the exit code is on its way
			s.c.After(exitPatience, func() { s.end(b, event.Completed) })
		}
	}
	for _, b := range s.all {
		switch {
		case b.Ended || listed[b.native] && !b.Stopped:
		case listed[b.native]:
			s.looks.More()
		case b.Stopped:
			s.end(b, event.Aborted)
		case b.listed: // unless its end is still to be reported
			s.c.After(exitPatience, func() { s.end(b, event.Interrupted) })
		}
	}
}

// shellID is how the CLI's tools name a command they leave running: one started in the background,
// or one that was still running after 30 seconds (1.0.102).
var shellID = regexp.MustCompile(
	`<command (?:started in (?:detached )?background )?with shellId: (\S+?)(?:>| is still running)`)

// callBegan remembers a call of the CLI's shell.
func (s *tasks) callBegan(x *execution, theirs string) {
	if !isShell(x.Tool) {
		return
	}
	if s.shells = append(s.shells, &background{
		Task:   convo.Task{ID: x.ID},
		theirs: theirs,
	}); len(s.shells) > maxShells {
		s.shells = slices.Delete(s.shells, 0, 1)
	}
}

// callEnded notes what a call of the shell left running.
func (s *tasks) callEnded(x *execution, text string) {
	m := shellID.FindStringSubmatch(text)
	if b := s.shell(func(b *background) bool { return b.ID == x.ID }); b != nil && m != nil {
		b.native = m[1]
		s.look()
	}
}

// shell returns the last call for which is returns true: a provider may count from 0 in each
// answer.
func (s *tasks) shell(is func(*background) bool) *background {
	for _, b := range slices.Backward(s.shells) {
		if is(b) {
			return b
		}
	}
	return nil
}

type shellOutput struct{ ToolCallID, Text string }

// printed hands on what a command prints behind the end of its call.
func (s *tasks) printed(d shellOutput) {
	b := s.shell(func(b *background) bool { return b.theirs == d.ToolCallID })
	if b == nil || d.Text == "" {
		return
	}
	b.text = append(b.text, d.Text...)
	if over := len(b.text) - maxShellText; over > 0 {
		b.text = []byte(strings.ToValidUTF8(string(b.text[over:]), ""))
	}
	b.Printed(s.c, d.Text)
}

// beginShell reports a command that its call left running, once the call has ended.
func (s *tasks) beginShell(n nativeTask) {
	b := s.shell(func(b *background) bool { return b.native == n.ID && !b.Begun })
	if b == nil {
		return
	}
	s.all[n.ID], b.listed = b, true
	b.Begin(s.c, event.ShellTask, n.Command, b.ID)
	b.Printed(s.c, string(b.text))
}

// end reports the end of a task once.
func (s *tasks) end(b *background, how event.Outcome) {
	if b.Ended {
		return
	}
	if b.scope != nil {
		b.scope.Cancel(nil)
		s.helpers.dismiss(b.scope)
	}
	b.End(s.c, how)
}

// endAll reports the end of all tasks: nothing of them is left, or will be.
func (s *tasks) endAll() {
	for _, b := range s.all {
		s.end(b, event.Interrupted)
	}
	clear(s.all)
	s.shells = nil
}

// notification is what the CLI reports to the agent of its tasks.
type notification struct {
	Kind struct {
		Type, ShellID, AgentID, Description, DisplayName string
		ExitCode                                         *int
	}
}

// notified takes what is not for the user's eyes, and returns as a sentence why the agent goes on.
func (s *tasks) notified(n notification) (cause string) {
	k := n.Kind
	if b := s.all[k.ShellID]; b != nil && k.ShellID != "" {
		b.Exit = k.ExitCode
		s.end(b, event.Completed)
	}
	name := wording.Cut(cmp.Or(k.DisplayName, k.Description), 80)
	switch {
	case k.ShellID != "" && k.ExitCode != nil:
		return fmt.Sprintf("The background command “%s” ended with exit code %d.", name, *k.ExitCode)
	case k.ShellID != "":
		return fmt.Sprintf("The background command “%s” ended.", name)
	case k.AgentID != "":
		return fmt.Sprintf("The helper “%s” reported back.", name)
	}
	return wentOn
}

// abort ends one task. The CLI reports the end of a task that it ended (1.0.102), and the list of
// tasks has it as well.
func (s *tasks) abort(ctx context.Context, id string) error {
	all := s.unended()
	i := slices.IndexFunc(all, func(b *background) bool { return b.ID == id })
	if i < 0 {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, stopPatience)
	defer stop()
	s.c.Post(func() { all[i].Stopped = true }) // its end may be reported before the answer
	err := s.cancel(ctx, all[i])
	s.c.Post(func() {
		all[i].Stopped = err == nil
		s.look()
	})
	return err
}

// cancel asks until the CLI says that it ends the task, or has it no more.
func (s *tasks) cancel(ctx context.Context, b *background) error {
	for {
		var answer struct{ Cancelled bool }
		if err := s.ask(ctx, "session.tasks.cancel", map[string]any{"id": b.native},
			&answer); err != nil {
			return s.explain(err)
		}
		if answer.Cancelled || !slices.Contains(s.unended(), b) {
			return nil
		}
		s.c.Post(s.look) // the CLI may have dropped it
		select {
		case <-time.After(listPause):
		case <-ctx.Done():
			return errors.New("GitHub Copilot CLI did not end it; try again, or end the session")
		}
	}
}

// unended returns the tasks that have no end.
func (s *tasks) unended() (all []*background) {
	s.c.Do(func() {
		for _, b := range s.all {
			if !b.Ended {
				all = append(all, b)
			}
		}
	})
	return all
}

// cancelAll ends all tasks before the conversation releases them.
func (s *tasks) cancelAll() {
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	for _, b := range s.unended() {
		if err := s.cancel(ctx, b); err != nil && ctx.Err() == nil {
			s.c.Logger.Warn("copilot: a background task was not ended", "error", err)
		}
	}
	s.c.Do(s.endAll)
}

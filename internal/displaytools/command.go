package displaytools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/proc"
)

const (
	// commandGrace is the time between SIGTERM and SIGKILL. An abort is less
	// patient: the user gets what there is within a second.
	commandGrace = 3 * time.Second
	abortGrace   = 400 * time.Millisecond
	closeGrace   = 1500 * time.Millisecond

	progressInterval = 250 * time.Millisecond
)

// commandTool is run_and_display.
type commandTool struct{ set *Set }

// commandCall is a planned call.
type commandCall struct {
	set     *Set
	command string
	dir     place // the folder; nothing asked for is the workspace
}

// job is a command with the processes it started.
type job struct {
	child    *proc.Child
	command  string
	refusals Refusals // nil: it is not confined
}

// Spec implements [agent.Tool].
func (commandTool) Spec() agent.ToolSpec { return specOf(RunCommand) }

// Plan implements [agent.Tool].
func (t commandTool) Plan(ctx context.Context, raw json.RawMessage) (agent.Action, error) {
	var args struct {
		Command string `json:"command"`
		Cwd     string `json:"cwd"`
		Final   bool   `json:"final"` // for the agent's backend, which ends the turn
	}
	err := decode(RunCommand, raw, &args)
	if err == nil {
		err = errors.Join(needed("command", args.Command), plain("cwd", args.Cwd))
	}
	if err != nil {
		return agent.Action{}, err
	}
	c := &commandCall{set: t.set, command: args.Command}
	if c.dir, err = t.set.work.folder(ctx, args.Cwd); err != nil {
		return agent.Action{}, err
	}
	dir := filepath.Join(t.set.work.Path, c.dir.rel)
	d := digest(RunCommand, t.set.work.Path, dir, c.command)
	_, withheld := t.set.env.of(agent.CallFrom(ctx))
	return agent.Action{
		Digest: d,
		Run:    c.run,
		Ask: &agent.Permission{
			ToolCallID: agent.CallFrom(ctx).ToolCallID,
			ToolName:   RunCommand,
			Kind:       agent.KindShell,
			Action:     "run a command",
			Resource:   c.command,
			Cwd:        dir,
			Withheld:   withheld,
			Digest:     d,
		},
	}, nil
}

func (c *commandCall) run(ctx context.Context, report agent.Progress) (agent.Result, error) {
	s := c.set
	if dir, err := s.work.folder(ctx, c.dir.asked); err != nil {
		return agent.FailedBy(err, event.KindInternal), nil
	} else if dir.rel != c.dir.rel || !os.SameFile(dir.found, c.dir.found) {
		return agent.Failure(event.KindNotFound,
			"The folder %s was replaced after it was asked for, so nothing was run. Ask again to run the "+
				"command in the new one.", called(c.dir.asked)), nil
	}
	if !s.enter() {
		return agent.Failure(event.KindInterrupted, "The session is closed, so the command was not run."),
			nil
	}
	defer s.running.Done()
	meta := s.meta(outputs.Terminal, agent.CallFrom(ctx))
	meta.Command, meta.Cwd = c.command, filepath.Join(s.work.Path, c.dir.rel)
	w, err := s.out.Create(meta, outputs.Limits{})
	if err != nil {
		return agent.Failure(event.KindInternal, "The command was not run: %v", err), nil
	}
	r := &ran{call: c, w: w, started: time.Now()}
	defer r.complete()
	env, withheld := s.env.of(agent.CallFrom(ctx))
	r.withheld, r.again = withheld, agent.CallFrom(ctx).Repeated()
	r.outside = s.confine != nil && agent.CallFrom(ctx).Outside
	r.job, err = s.start(ctx, c.command, meta.Cwd, env, w)
	if err != nil {
		return agent.Failure(event.KindInternal, "The command was not run: %v", err), nil
	}
	stop := watch(ctx, w, report, true)
	r.wait(ctx)
	stop()
	r.complete()
	return r.result(), nil
}

// enter registers a call that Close waits for. It returns false if the Set is closed.
func (s *Set) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Add(1)
	}
	return !s.closed
}

// start runs command; its child is the Set's to end until forget.
func (s *Set) start(ctx context.Context, command, dir string, env []string,
	w *outputs.Writer) (*job, error) {
	s.forgetEnded()
	cmd := proc.Command{
		Args:   s.invocation(command),
		Dir:    dir,
		Env:    append(env[:len(env):len(env)], "PWD="+dir),
		Output: w,
		Grace:  commandGrace,
	}
	if _, err := proc.LookUp(cmd); errors.Is(err, proc.ErrNotFound) {
		cmd.Args[0] = "sh" // the user's shell is not installed here
	}
	var refusals Refusals
	if call := agent.CallFrom(ctx); s.confine != nil && !call.Typed && !call.Outside {
		var err error
		if cmd, refusals, err = s.confine(ctx, cmd); err != nil {
			return nil, err
		}
	}
	child, err := proc.Start(cmd)
	if err != nil {
		return nil, err
	}
	j := &job{child: child, command: command, refusals: refusals}
	s.mu.Lock()
	closed := s.closed
	s.children[j] = true
	s.mu.Unlock()
	if closed { // Close may have looked before
		_, _ = s.end(j, closeGrace)
	}
	return j, nil
}

// end stops a job within about the given time.
func (s *Set) end(j *job, patience time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	n, err := j.child.Stop(ctx)
	s.mu.Lock()
	delete(s.children, j)
	s.mu.Unlock()
	return n, err
}

// forgetEnded forgets jobs that have ended by themselves.
func (s *Set) forgetEnded() {
	for _, j := range s.jobs() {
		if len(j.child.Left()) == 0 {
			_, _ = s.end(j, commandGrace)
		}
	}
}

func (s *Set) jobs() []*job {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*job, 0, len(s.children))
	for j := range s.children {
		all = append(all, j)
	}
	return all
}

// endChildren ends all jobs at the same time.
func (s *Set) endChildren() error {
	all := s.jobs()
	errs := make(chan error)
	for _, j := range all {
		go func() {
			_, err := s.end(j, closeGrace)
			if err != nil {
				err = fmt.Errorf("end %q: %w", j.command, err)
			}
			errs <- err
		}()
	}
	var err error
	for range all {
		err = errors.Join(err, <-errs)
	}
	return err
}

// watch reports how far an output is, at most four times a second, until stop is
// called; no report is made after that. The first one is made at once if asked.
func watch(ctx context.Context, w *outputs.Writer, report agent.Progress, now bool) (stop func()) {
	if report == nil {
		return func() {}
	}
	started := time.Now()
	var last int64
	send := func() {
		last = w.Bytes()
		report(agent.ProgressReport{ToolCallID: agent.CallFrom(ctx).ToolCallID, OutputID: string(w.ID()),
			Bytes: last, Lines: w.Lines(), ElapsedMs: time.Since(started).Milliseconds()})
	}
	if now {
		send()
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressInterval)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-quit:
				return
			case <-tick.C:
				if n%4 == 0 || w.Bytes() != last { // a silent command is alive once a second
					send()
				}
			}
		}
	}()
	return func() { close(quit); <-done }
}

package displaytools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/proc"
	"webchat/internal/wording"
)

// ran is a command that was started, and how it ended.
type ran struct {
	call    *commandCall
	w       *outputs.Writer
	job     *job
	started time.Time

	withheld []string // names of the variables it did not get
	outside  bool     // it is not confined, although others are
	again    bool     // the user ran what an agent had asked for

	took     time.Duration
	exit     proc.Exit
	waitErr  error
	timedOut bool
	aborted  bool
	closed   bool // the Set was, under the command
	ended    int  // processes we ended
	endErr   error
	left     []proc.Process
}

// wait waits for the command's end, or ends it.
func (r *ran) wait(ctx context.Context) {
	s := r.call.set
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.exit, r.waitErr = r.job.child.Wait()
	}()
	limit := time.NewTimer(s.limit)
	defer limit.Stop()
	select {
	case <-finished:
	case <-limit.C:
		r.timedOut = true
		r.ended, r.endErr = s.end(r.job, commandGrace)
	case <-ctx.Done():
		r.timedOut = errors.Is(context.Cause(ctx), context.DeadlineExceeded)
		r.aborted = !r.timedOut
		r.ended, r.endErr = s.end(r.job, abortGrace)
	}
	<-finished
	r.took = time.Since(r.started)
	if r.timedOut || r.aborted {
		return
	}
	s.mu.Lock()
	r.closed = s.closed
	s.mu.Unlock()
	if !r.closed {
		r.left = r.job.child.Left()
	}
	if len(r.left) == 0 { // or the Set is closed: then all of it ends
		r.ended, r.endErr = s.end(r.job, closeGrace)
	}
}

// complete ends the output; the second time it does nothing.
func (r *ran) complete() {
	r.w.Complete(func(m *outputs.Meta) {
		m.DurationMs = r.took.Milliseconds()
		m.TimedOut = r.timedOut
		if code := r.code(); code >= 0 {
			m.ExitCode = &code
		}
	})
}

// code is the exit code, -1 when the command did not end by itself.
func (r *ran) code() int {
	if r.job == nil || r.timedOut || r.aborted || r.closed && r.ended > 0 || r.waitErr != nil {
		return -1
	}
	return r.exit.Code
}

func (r *ran) result() agent.Result {
	count := r.w.Lines()
	res := agent.Result{Type: agent.Failed, Kind: event.KindAborted}
	switch {
	case r.timedOut:
		res.Kind, res.Limit = event.KindTimeout, event.LimitCommandTime
		res.TextForModel = fmt.Sprintf("Command timed out after %s (%s)", short(r.took), lines(count))
		res.Error = fmt.Sprintf("timed out after %s, %s", short(r.took), r.endings())
	case r.aborted, r.closed && r.ended > 0:
		res.TextForModel = fmt.Sprintf("Command stopped after %s (%s)", short(r.took), lines(count))
		res.Error = fmt.Sprintf("stopped after %d:%02d, %s", int(r.took.Minutes()),
			int(r.took.Seconds())%60, r.endings())
	case r.waitErr != nil:
		res.Kind = event.KindInternal
		res.TextForModel = "Command failed: how it ended is not known"
		res.Error = fmt.Sprintf("How the command ended is not known: %v", r.waitErr)
	default:
		res.Type, res.Kind = agent.Success, ""
		res.TextForModel = fmt.Sprintf("Command completed (exit %d, %s)", r.exit.Code, lines(count))
		res.Refused = r.refused()
		res.TextForModel += r.call.refusedText(res.Refused)
		res.SessionLog = r.log()
	}
	res.Telemetry = telemetry(r.w.Output(), outputs.Terminal, count, res.TextForModel)
	if code := r.code(); code >= 0 {
		res.Telemetry.ExitCode = &code
	}
	return res
}

func (r *ran) endings() string {
	switch {
	case r.endErr != nil:
		return r.endErr.Error()
	case r.ended == 1:
		return "its process ended"
	}
	return fmt.Sprintf("all %d processes ended", r.ended)
}

// log says what the user should know beside the output.
func (r *ran) log() string {
	var b strings.Builder
	if r.exit.Signal != "" {
		fmt.Fprintf(&b, "Ended by %s\n", r.exit.Signal)
	}
	if r.endErr != nil {
		fmt.Fprintf(&b, "%v\n", r.endErr)
	}
	if len(r.left) > 0 {
		b.WriteString("Left running, to be ended with this session:\n")
		for _, p := range r.left {
			fmt.Fprintf(&b, "  %d  %s\n", p.PID, wording.Cut(wording.Name(p.Command), 200))
		}
	}
	if r.outside {
		b.WriteString("Ran outside the sandbox\n")
	}
	if len(r.withheld) > 0 {
		because := ""
		if r.again {
			because = ", because the agent had asked for this command"
		}
		fmt.Fprintf(&b, "Withheld%s: %s\n", because, strings.Join(r.withheld, ", "))
	}
	if g := r.w.Output().Meta().Gap; g != nil {
		fmt.Fprintf(&b, "Left out: %s (%s) after line %d\n", wording.Size(g.Bytes), lines(g.Lines),
			g.AfterLine)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// short formats a duration: 10 min, 14 s, 80 ms.
func short(d time.Duration) string {
	switch {
	case d >= time.Minute && d.Round(time.Second)%time.Minute == 0:
		return fmt.Sprintf("%d min", d.Round(time.Second)/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%d:%02d min", int(d.Minutes()), int(d.Seconds())%60)
	case d >= time.Second:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

var stable = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

func checkInfo(tb testing.TB, b agent.Backend, o Options) {
	if !stable.MatchString(b.Name()) {
		tb.Errorf("the name %q is not short, lower-case and stable", b.Name())
	}
	info := b.Info(tb.Context())
	if !info.Available {
		tb.Errorf("not available: %s", info.Reason)
	}
	reaches := []agent.Intercept{agent.InterceptRewrite, agent.InterceptAll, agent.InterceptAsked,
		agent.InterceptNone}
	if !slices.Contains(reaches, info.Intercept) {
		tb.Errorf("%q is not a reach of hooks", info.Intercept)
	}
	models, err := b.Models(tb.Context())
	if err != nil {
		tb.Errorf("Models: %v", err)
	}
	for _, m := range models {
		if m.ID == "" || m.Name == "" {
			tb.Errorf("a model without id or name: %+v", m)
		}
	}
}

func checkOffered(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	names := o.Offered(tb)
	for _, s := range DisplayTools() {
		if !slices.Contains(names, s.Name) {
			tb.Errorf("the tool %s is not offered, only %q", s.Name, names)
		}
	}
	if slices.Contains(names, "view") {
		tb.Errorf("the tool view is offered")
	}
}

func checkAnswer(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	r.mustAnswer(o, "at its first prompt")
	r.mustAnswer(o, "at its second prompt")
	if c := r.host.Calls(); len(c) > 0 {
		tb.Errorf("a plain answer called tools: %+v", c)
	}
}

// only returns the one call a turn was to make.
func (r *rig) only(tool string) (args map[string]any) {
	r.tb.Helper()
	calls := r.host.Calls()
	if len(calls) != 1 || calls[0].Name != tool {
		r.tb.Fatalf("the calls are %+v, want one of %s", calls, tool)
	}
	if err := json.Unmarshal(calls[0].Arguments, &args); err != nil {
		r.tb.Errorf("arguments %s: %v", calls[0].Arguments, err)
	}
	return args
}

func checkShow(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	if answers := r.prompt(o.Show("go.mod")); len(answers) == 0 {
		tb.Errorf("the agent shows a file and says nothing")
	}
	if p, _ := r.only("render_file_contents")["path"].(string); filepath.Base(p) != "go.mod" {
		tb.Errorf("it showed %q, not go.mod", p)
	}
}

// runs makes the agent run a command that leaves a mark. The host only says it
// did, so a mark is the agent's own doing.
func (r *rig) runs(o Options) {
	r.tb.Helper()
	mark := filepath.Join(r.tb.TempDir(), "mark")
	command := "touch " + filepath.ToSlash(mark)
	if answers := r.prompt(o.Run(command)); len(answers) == 0 {
		r.tb.Errorf("the agent says nothing of the command")
	}
	if c, _ := r.only("run_and_display")["command"].(string); c != command {
		r.tb.Errorf("it ran %q, not %q", c, command)
	}
	if _, err := os.Stat(mark); err == nil {
		r.tb.Errorf("the agent ran the command by itself")
	}
}

func checkRunAllowed(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, func(h *Host) {
		h.Tool = func(context.Context, agent.ToolCall) agent.Result {
			return agent.Result{Type: agent.Success, TextForModel: "Command completed (exit 0, 0 lines)"}
		}
	})
	defer r.close()
	r.runs(o)
}

func checkRunDenied(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, func(h *Host) {
		h.Tool = func(context.Context, agent.ToolCall) agent.Result {
			return agent.Result{
				Type:         agent.Denied,
				TextForModel: "Denied by the user: not now",
				Kind:         event.KindDenied,
			}
		}
	})
	defer r.close()
	r.runs(o)
}

// writes makes the agent act by its own means and returns whether it did.
func (r *rig) writes(o Options, path string) bool {
	r.tb.Helper()
	r.prompt(o.Write(path))
	if n := len(r.host.Asked()); n == 0 {
		r.tb.Errorf("the agent acted by its own means and did not ask")
	}
	_, err := os.Stat(path)
	return err == nil
}

// writing chooses the file to write, in a workspace that stays the same, and
// the host that is asked for it.
func writing(tb testing.TB, o *Options, v agent.Verdict) (path string, with func(*Host)) {
	if o.Write == nil {
		tb.Skip("this backend's agents do everything through the session's tools")
	}
	o.Workspace = o.workspace(tb)
	path = filepath.Join(o.Workspace, "written.txt")
	return path, func(h *Host) {
		h.Permit = func(p agent.Permission) agent.Verdict {
			if _, err := os.Stat(path); err == nil {
				h.note("the agent acted before it was allowed to")
			}
			if p.Action == "" || p.Resource == "" || p.Kind == "" {
				h.note("a permission without kind, action or resource: %+v", p)
			}
			return v
		}
	}
}

func checkWriteAllowed(tb testing.TB, b agent.Backend, o Options) {
	path, with := writing(tb, &o, agent.Verdict{
		Decision: event.Allow,
		Scope:    event.Once,
		By:       event.DecidedByUser,
	})
	r := open(tb, b, o, with)
	defer r.close()
	if !r.writes(o, path) {
		tb.Errorf("allowed, the agent did not act")
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		tb.Error(err)
	}
}

func checkWriteDenied(tb testing.TB, b agent.Backend, o Options) {
	path, with := writing(tb, &o, agent.Verdict{
		Decision: event.Deny,
		Reason:   "not now",
		By:       event.DecidedByUser,
	})
	r := open(tb, b, o, with)
	defer r.close()
	if r.writes(o, path) {
		tb.Errorf("denied, the agent acted all the same")
	}
}

func checkAsk(tb testing.TB, b agent.Backend, o Options) {
	if o.Ask == "" {
		tb.Skip("this backend's agents ask the user nothing")
	}
	const word = "ultramarine"
	r := open(tb, b, o, func(h *Host) {
		h.Reply = func(agent.Question) agent.Answer {
			return agent.Answer{Text: word, WasFreeform: true, Answered: true}
		}
	})
	defer r.close()
	answer := strings.Join(r.prompt(o.Ask), "\n")
	if n := len(r.host.Questions()); n != 1 {
		tb.Errorf("it asked %d questions, not 1", n)
	}
	if !strings.Contains(answer, word) {
		tb.Errorf("the answer %q did not reach the agent, which says %q", word, answer)
	}
}

func checkAbortTalk(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	r.abort(o.Talk, talking)
	r.mustAnswer(o, "after an abort")
}

// lingers is how long a stopped tool takes to end, as a command whose processes end does.
const lingers = 50 * time.Millisecond

func checkAbortTool(tb testing.TB, b agent.Backend, o Options) {
	running, release := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(running) })
	r := open(tb, b, o, func(h *Host) {
		h.Tool = func(ctx context.Context, _ agent.ToolCall) agent.Result {
			begin()
			h.wake() // the abort waits for running, which no method of h changes
			select {
			case <-ctx.Done():
				time.Sleep(lingers)
			case <-release:
			}
			return agent.Failure(event.KindAborted, "the turn was stopped")
		}
	})
	defer r.close()
	defer close(release)
	r.abort(o.Run("go version"), func(*Host) bool {
		select {
		case <-running:
			return true
		default:
			return false
		}
	})
	r.mustAnswer(o, "after a tool was aborted")
}

// checkAbortWrite stops the turn at the moment the agent is allowed to act by
// itself: then it must not.
func checkAbortWrite(tb testing.TB, b agent.Backend, o Options) {
	path, _ := writing(tb, &o, agent.Verdict{})
	ctx, cancel := context.WithCancel(tb.Context())
	defer cancel()
	r := open(tb, b, o, func(h *Host) {
		h.Permit = func(agent.Permission) agent.Verdict {
			cancel()
			return agent.Verdict{
				Decision: event.Deny,
				Reason:   "the turn was stopped",
				By:       event.DecidedByAbort,
			}
		}
	})
	defer r.close()
	ended := r.start(ctx, o.Write(path))
	if err := r.inTime("Prompt, aborted,", func() error {
		return <-ended
	}); !errors.Is(err, context.Canceled) {
		tb.Errorf("an aborted Prompt returned %v, not its context's error", err)
	}
	if _, err := os.Stat(path); err == nil {
		tb.Errorf("denied by the abort, the agent acted all the same")
	}
	r.mustAnswer(o, "after an act was aborted")
}

func checkAbortBefore(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	ctx, cancel := context.WithCancel(tb.Context())
	cancel()
	ended := r.start(ctx, o.Answer)
	if err := r.inTime("Prompt, aborted,", func() error {
		return <-ended
	}); !errors.Is(err, context.Canceled) {
		tb.Errorf("a Prompt aborted before its start returned %v", err)
	}
	r.mustAnswer(o, "after a prompt that was aborted before its start")
}

// checkAbortBusy stops a turn whose words the session has taken none of since they began: it waits
// for its disk, as [agent.Host.Report] may until the turn is stopped.
func checkAbortBusy(tb testing.TB, b agent.Backend, o Options) {
	ctx, cancel := context.WithCancel(tb.Context())
	defer cancel()
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	r := open(tb, b, o, func(h *Host) {
		h.Fault = func(what string) {
			if strings.HasPrefix(what, "Report of assistant.message") && ctx.Err() == nil {
				begin()
				<-ctx.Done()
			}
		}
	})
	defer r.close()
	ended := r.start(ctx, o.Talk)
	_ = r.inTime("the first word", func() error { <-begun; return nil })
	cancel()
	if err := r.inTime("Prompt, aborted,", func() error {
		return <-ended
	}); !errors.Is(err, context.Canceled) {
		tb.Errorf("a Prompt aborted while its session was busy returned %v", err)
	}
	r.mustAnswer(o, "after its session was busy")
}

func checkSteer(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	p := agent.Prompt{MessageID: "steer-1", Content: o.Answer}
	steer := func() error { return r.conn.Steer(tb.Context(), p) }
	if err := r.inTime("Steer", steer); !errors.Is(err, agent.ErrUnsupported) {
		tb.Errorf("Steer without a turn returned %v, not ErrUnsupported", err)
	}
	ctx, cancel := context.WithCancel(tb.Context())
	defer cancel()
	ended := r.start(ctx, o.Talk)
	r.await(talking, ended)
	if err := r.inTime("Steer", steer); err != nil && !errors.Is(err, agent.ErrUnsupported) {
		tb.Errorf("Steer in a turn returned %v, neither nil nor ErrUnsupported", err)
	}
	cancel()
	_ = r.inTime("Prompt, aborted,", func() error { return <-ended })
	r.mustAnswer(o, "after it was steered")
}

func checkCloseTalking(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	ended := r.start(tb.Context(), o.Talk)
	r.await(talking, ended)
	err := r.inTime("Close, from several at once,", func() error {
		var all sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			all.Go(func() { errs[i] = r.conn.Close() })
		}
		all.Wait()
		return errors.Join(errs...)
	})
	r.closed = true
	r.host.Closed()
	if err != nil {
		tb.Errorf("Close, from several at once: %v", err)
	}
	if err := r.inTime("Prompt, closed,", func() error { return <-ended }); err == nil {
		tb.Errorf("a Prompt cut off by Close returned nil")
	}
}

func checkCloseTwice(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	for range 2 {
		if err := r.inTime("Close", r.conn.Close); err != nil {
			tb.Errorf("Close: %v", err)
		}
	}
	r.closed = true
	r.host.Closed()
	p := agent.Prompt{MessageID: "late", Content: o.Answer}
	if err := r.inTime("Prompt after Close", func() error {
		return r.conn.Prompt(tb.Context(), p)
	}); err == nil {
		tb.Errorf("Prompt after Close returned nil")
	}
	for name, f := range map[string]func() error{
		"Steer":    func() error { return r.conn.Steer(tb.Context(), p) },
		"SetModel": func() error { return r.conn.SetModel(tb.Context(), "m") },
		"SetTitle": func() error { return r.conn.SetTitle(tb.Context(), "t") },
	} {
		_ = r.inTime(name+" after Close", f) // any answer will do, a hang or a panic not
	}
}

func checkResume(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	r.mustAnswer(o, "at its first prompt")
	opts := r.opts
	if err := r.inTime("Close", r.conn.Close); err != nil {
		tb.Errorf("Close: %v", err)
	}
	opts.Resume = true
	conn, err := b.Open(tb.Context(), opts, r.host)
	switch can := b.Info(tb.Context()).CanResume; {
	case err == nil && !can:
		r.conn = conn
		tb.Errorf("Open resumes, which Info denies")
	case err == nil:
		r.conn = conn
		r.mustAnswer(o, "after it was resumed")
	case can:
		r.closed = true
		tb.Errorf("Open does not resume, which Info promises: %v", err)
	default:
		r.closed = true
		if !errors.Is(err, agent.ErrUnsupported) {
			tb.Errorf("a backend that cannot resume returned %v, not ErrUnsupported", err)
		}
	}
}

package consent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode"

	"webchat/internal/proc"
	"webchat/internal/strictjson"
)

// grace is the time between SIGTERM and SIGKILL: a stop has a second in all.
const grace = 300 * time.Millisecond

var errTimeout = errors.New("the hook took too long")

// execute runs a command until nothing of it is left, and returns its status, -1 if it has none.
func (s *Hooks) execute(ctx context.Context, h hook, c HookCall) (code int, v HookVerdict) {
	in, err := json.Marshal(c)
	if err != nil {
		return -1, no("The hook was not asked: %v", err)
	}
	if ctx.Err() != nil {
		return -1, h.stopped(ctx)
	}
	args := []string{"sh", "-c", h.Command}
	if runtime.GOOS == "windows" {
		args = []string{"cmd", "/c", h.Command}
	}
	child, err := proc.Start(proc.Command{
		Args:  args,
		Dir:   cmp.Or(h.Dir, s.Workspace),
		Env:   s.Env,
		Pipes: true,
		Grace: grace,
	})
	if err != nil {
		return -1, no("The hook did not run: %v", err)
	}
	run := &hookRun{child: child, exited: make(chan struct{}), over: make(chan struct{})}
	run.follow(in)
	select {
	case <-run.exited:
	case <-run.over:
	case <-ctx.Done():
		v = h.stopped(ctx)
	}
	_, left := child.Stop(context.Background()) // with the pipes of all that is left
	run.wg.Wait()
	if v.Reason == "" {
		v = run.verdict(left)
	}
	return run.exit.Code, v
}

// hookRun is a command that runs as a hook. What it came to is read once wg is done.
type hookRun struct {
	child          *proc.Child
	wg             sync.WaitGroup
	exited         chan struct{} // closed at its end
	over           chan struct{} // closed when it has printed too much
	exit           proc.Exit
	lost           error // why its end is not known
	stdout, stderr []byte
}

// follow gives the command what it is asked and reads what it prints.
func (r *hookRun) follow(in []byte) {
	r.wg.Go(func() {
		// a command that does not read it decides all the same
		_, _ = r.child.Stdin().Write(append(in, '\n'))
		_ = r.child.Stdin().Close()
	})
	r.wg.Go(func() {
		r.stdout, _ = io.ReadAll(io.LimitReader(r.child.Stdout(), maxOutput+1))
		if len(r.stdout) > maxOutput {
			close(r.over)
		}
		_, _ = io.Copy(io.Discard, r.child.Stdout())
	})
	r.wg.Go(func() {
		r.stderr, _ = io.ReadAll(io.LimitReader(r.child.Stderr(), 2*MaxReason)) // so that a cut shows
		_, _ = io.Copy(io.Discard, r.child.Stderr())
	})
	r.wg.Go(func() { defer close(r.exited); r.exit, r.lost = r.child.Wait() })
}

// verdict is what a command that was not stopped came to; left is why some of it goes on.
func (r *hookRun) verdict(left error) HookVerdict {
	switch {
	case len(r.stdout) > maxOutput:
		return no("The hook printed more than %d bytes.", maxOutput)
	case r.lost != nil:
		return no("How the hook ended is not known: %v", r.lost)
	case left != nil:
		return no("The hook could not be ended: %v", left)
	case r.exit.Signal != "":
		return no("The hook was ended by %s.", r.exit.Signal)
	}
	return readVerdict(r.exit.Code, r.stdout, r.stderr)
}

// stopped is the verdict when ctx ended a hook.
func (h hook) stopped(ctx context.Context) HookVerdict {
	if errors.Is(context.Cause(ctx), errTimeout) {
		return no("The hook did not answer within %v.", h.Timeout)
	}
	return no("The hook was stopped before it answered.")
}

// readVerdict is what a command answered by its status and what it printed.
func readVerdict(code int, stdout, stderr []byte) HookVerdict {
	reason := presentable(string(stderr))
	switch {
	case code == 2:
		return no("%s", reason)
	case code != 0 && reason == "":
		return no("The hook failed with status %d.", code)
	case code != 0:
		return no("The hook failed with status %d: %s", code, reason)
	case len(bytes.TrimSpace(stdout)) == 0:
		return HookVerdict{Allow: true}
	}
	v, err := parse(stdout)
	if err != nil {
		return no("The hook's answer is not understood: %s.", strictjson.Say("its contents", err))
	}
	return v
}

// parse reads an answer: one object with these keys and no other, each once.
func parse(b []byte) (HookVerdict, error) {
	var answer struct {
		Allow     *bool           `json:"allow"`
		Reason    string          `json:"reason"`
		Arguments json.RawMessage `json:"arguments"`
		Prompt    string          `json:"prompt"`
	}
	err := strictjson.Decode(b, &answer)
	if string(answer.Arguments) == "null" {
		answer.Arguments = nil
	}
	switch {
	case err != nil:
		return HookVerdict{}, err
	case answer.Allow == nil:
		return HookVerdict{}, errors.New(`it has no "allow"`)
	case len(answer.Arguments) > 0 && answer.Arguments[0] != '{':
		return HookVerdict{}, errors.New(`"arguments" is not an object`)
	}
	return HookVerdict{
		Allow:     *answer.Allow,
		Reason:    answer.Reason,
		Arguments: answer.Arguments,
		Prompt:    answer.Prompt,
	}, nil
}

// no is a verdict that refuses, with a reason a person and a model can read.
func no(format string, args ...any) HookVerdict {
	return HookVerdict{Reason: cmp.Or(presentable(fmt.Sprintf(format, args...)),
		"The hook refused it without a reason.")}
}

// presentable returns text without characters that hide, reorder or command, not longer than
// MaxReason bytes.
func presentable(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD")))
	if len(text) > MaxReason {
		text = strings.ToValidUTF8(text[:MaxReason-len("…")], "") + "…"
	}
	return text
}

package consent

import (
	"context"
	"encoding/json"
	"io"
	"runtime"
	"sync"
	"time"

	"webchat/internal/proc"
)

// grace is the time between SIGTERM and SIGKILL: a stop has a second in all.
const grace = 300 * time.Millisecond

// execute runs a command until nothing of it is left, and returns its status, -1
// if it has none.
func (s *Hooks) execute(ctx context.Context, h hook, c HookCall) (code int, v HookVerdict) {
	in, err := json.Marshal(c)
	if err != nil {
		return -1, no("The hook was not asked: %v", err)
	}
	if ctx.Err() != nil {
		return -1, h.stopped(ctx)
	}
	dir := h.Dir
	if dir == "" {
		dir = s.Workspace
	}
	child, err := proc.Start(proc.Command{Args: shell(h.Command), Dir: dir, Env: s.Env, Pipes: true, Grace: grace})
	if err != nil {
		return -1, no("The hook did not run: %v", err)
	}
	var (
		wg     sync.WaitGroup
		exit   proc.Exit
		lost   error
		exited = make(chan struct{})
		over   = make(chan struct{})
		out    = kept{most: MaxOutput, over: over}
		told   = kept{most: 2 * MaxReason} // so that a cut shows
	)
	wg.Go(func() {
		_, _ = child.Stdin().Write(append(in, '\n')) // who does not read it decides all the same
		_ = child.Stdin().Close()
	})
	wg.Go(func() { _, _ = io.Copy(&out, child.Stdout()) })
	wg.Go(func() { _, _ = io.Copy(&told, child.Stderr()) })
	wg.Go(func() { defer close(exited); exit, lost = child.Wait() })
	select {
	case <-exited:
	case <-over:
	case <-ctx.Done():
		v = h.stopped(ctx)
	}
	_, left := child.Stop(context.Background()) // with the pipes of all that is left
	wg.Wait()
	switch {
	case v.Reason != "":
	case out.cut:
		v = no("The hook printed more than %d bytes.", MaxOutput)
	case lost != nil:
		v = no("How the hook ended is not known: %v", lost)
	case left != nil:
		v = no("The hook could not be ended: %v", left)
	case exit.Signal != "":
		v = no("The hook was ended by %s.", exit.Signal)
	default:
		v = verdict(exit.Code, out.b, told.b)
	}
	return exit.Code, v
}

// shell is the program and arguments that run a command.
func shell(command string) []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/c", command}
	}
	return []string{"sh", "-c", command}
}

// kept is the beginning of what was written to it.
type kept struct {
	most int
	b    []byte
	cut  bool
	over chan struct{} // closed when there is more than most; nil: nothing waits
}

// Write implements [io.Writer]; it takes everything.
func (k *kept) Write(p []byte) (int, error) {
	if n := k.most - len(k.b); len(p) <= n {
		k.b = append(k.b, p...)
		return len(p), nil
	} else if n > 0 {
		k.b = append(k.b, p[:n]...)
	}
	if !k.cut && k.over != nil {
		close(k.over)
	}
	k.cut = true
	return len(p), nil
}

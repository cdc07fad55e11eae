package displaytools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/outputs"
)

// Input is something that a user's program writes, to be shown while it comes. It is
// closed when it was shown to its end, and when the showing is stopped.
type Input struct {
	io.ReadCloser
	// Shown gets the id of the output when the showing begins.
	Shown func(outputID string)
}

// Inputs are those that were announced for a session and are not shown yet. It may be
// used by any number of goroutines.
type Inputs struct {
	mu      sync.Mutex
	waiting map[announced][]*Input // guarded by mu
}

type announced struct{ session, name string }

// Announce has the next call of [ShowInput] with that name, in that session, show in.
// withdraw takes it back if there was none.
func (i *Inputs) Announce(session, name string, in Input) (withdraw func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.waiting == nil {
		i.waiting = map[announced][]*Input{}
	}
	at := announced{session, name}
	i.waiting[at] = append(i.waiting[at], &in)
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.keep(at, slices.DeleteFunc(i.waiting[at], func(w *Input) bool { return w == &in }))
	}
}

// keep sets what waits at a place. The caller holds mu.
func (i *Inputs) keep(at announced, list []*Input) {
	if i.waiting[at] = list; len(list) == 0 {
		delete(i.waiting, at)
	}
}

func (i *Inputs) take(session, name string) (*Input, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	at := announced{session, name}
	list := i.waiting[at]
	if len(list) == 0 {
		return nil, false
	}
	i.keep(at, list[1:])
	return list[0], true
}

// inputTool is show_input.
type inputTool struct{ set *Set }

// Spec implements [agent.Tool].
func (inputTool) Spec() agent.ToolSpec { return specOf(ShowInput) }

// Plan implements [agent.Tool].
func (t inputTool) Plan(ctx context.Context, raw json.RawMessage) (agent.Action, error) {
	var args struct {
		Name string `json:"name"`
	}
	err := decodeOwn(ctx, ShowInput, raw, &args)
	if err == nil {
		err = needed("name", args.Name)
	}
	if err != nil {
		return agent.Action{}, err
	}
	return agent.Action{
		Digest: digest(ShowInput, args.Name),
		Run: func(ctx context.Context, report agent.Progress) (agent.Result, error) {
			return t.set.showInput(ctx, args.Name, report), nil
		},
	}, nil
}

func (s *Set) showInput(ctx context.Context, name string, report agent.Progress) agent.Result {
	in, ok := s.inputs.take(s.session, name)
	if !ok {
		return agent.Failure(event.KindNotFound,
			"What was piped is not kept. Pipe it into \"webchat show\" again.")
	}
	return s.pour(ctx, name, *in, report)
}

// pour shows what is read of an input, while it comes.
func (s *Set) pour(ctx context.Context, name string, in Input, report agent.Progress) agent.Result {
	defer in.Close()
	if !s.enter() {
		return agent.Failure(event.KindInterrupted, "The session is closed, so nothing was shown.")
	}
	defer s.running.Done()
	meta := s.meta(outputs.Terminal, agent.CallFrom(ctx))
	meta.Command, meta.Cwd = name, s.work.Path
	w, err := s.out.Create(meta, outputs.Limits{})
	if err != nil {
		return agent.Failure(event.KindInternal, "It was not shown: %v", err)
	}
	started := time.Now()
	defer w.Complete(func(m *outputs.Meta) { m.DurationMs = time.Since(started).Milliseconds() })
	in.Shown(string(w.ID()))
	for _, over := range []context.Context{ctx, s.life} {
		defer context.AfterFunc(over, func() { _ = in.Close() })() // which ends the reading
	}
	stop := watch(ctx, w, report, true)
	_, err = io.Copy(w, in)
	stop()
	w.Complete(func(m *outputs.Meta) { m.DurationMs = time.Since(started).Milliseconds() })
	if cause := errors.Join(ctx.Err(), s.life.Err()); cause != nil {
		res := agent.Failure(event.KindAborted, "Stopped after %s.", lines(w.Lines()))
		res.Telemetry = telemetry(w.Output(), outputs.Terminal, w.Lines(), "")
		return res
	}
	res := agent.Result{Type: agent.Success, Telemetry: telemetry(w.Output(), outputs.Terminal,
		w.Lines(), "")}
	res.TextForModel = confirm("Displayed %s to user ("+lines(w.Lines())+")", name)
	if err != nil {
		res.SessionLog = fmt.Sprintf("It was cut off: %v", err)
	}
	return res
}

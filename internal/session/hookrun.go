package session

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Hooks are the user's commands around events; [consent.Hooks] is one. The methods may
// be called concurrently.
type Hooks interface {
	// Run asks the hooks for the moment c and reports each run (hook.start,
	// hook.end). Without a matching hook it allows. An error means deny. The same
	// RequestID is decided once.
	Run(ctx context.Context, c consent.HookCall, report func(event.Data) error) (consent.HookVerdict, error)
	// Demands reports whether a hook for e has to be asked every time.
	Demands(e consent.Moment) bool
}

// hookRunner asks the hooks of one session.
type hookRunner struct {
	Hooks     Hooks // nil allows
	SessionID string
	Log       *slog.Logger
}

// Run runs the user's hooks, which log their runs by report. Whatever goes wrong is a
// deny; the error is ctx's.
func (r hookRunner) Run(ctx context.Context, c consent.HookCall, report func(event.Data) error) (consent.HookVerdict, error) {
	if r.Hooks == nil {
		return consent.HookVerdict{Allow: true}, nil
	}
	if c.SessionID = r.SessionID; c.RequestID == "" {
		c.RequestID = string(event.NewID())
	}
	v, err := contain.Call(r.Log, "the hook "+string(c.Event), func() (consent.HookVerdict, error) {
		return r.Hooks.Run(ctx, c, func(d event.Data) error {
			switch d.(type) {
			case event.HookStart, event.HookEnd:
				return report(d)
			}
			return fmt.Errorf("%w: %s is not a hook's to report", eventlog.ErrInvalid, event.TypeOf(d))
		})
	})
	switch {
	case ctx.Err() != nil:
		return consent.HookVerdict{}, context.Cause(ctx)
	case err != nil:
		r.Log.Warn("a hook failed", "event", c.Event, "error", err)
		return consent.HookVerdict{Reason: "A hook failed: " + err.Error()}, nil
	case !v.Allow && v.Reason == "":
		v.Reason = "A hook refused it without a reason."
	case v.Allow && v.Arguments != nil:
		if v.Arguments, err = CleanArguments(v.Arguments); err != nil {
			return consent.HookVerdict{Reason: fmt.Sprintf("A hook rewrote the arguments wrongly: %v.", err)}, nil
		}
	}
	return v, nil
}

// checkReach returns why hooks that insist cannot reach all tool calls of the backend,
// or nil.
func checkReach(ctx context.Context, h Hooks, b agent.Backend) error {
	if h == nil || !h.Demands(consent.BeforeTool) {
		return nil
	}
	info := b.Info(ctx)
	switch {
	case !info.Available && info.Intercept == "": // its opening says why
	case info.Intercept == agent.InterceptAll, info.Intercept == agent.InterceptRewrite:
	default:
		return fmt.Errorf("%w: a before_tool hook is set, and hooks do not reach every tool call of %s (%s); choose another backend, or mark the hook best_effort",
			agent.ErrUnsupported, b.Name(), info.Intercept)
	}
	return nil
}

// agentMoments are the moments a backend may ask hooks about; the others are the
// session's own to see.
var agentMoments = []consent.Moment{consent.PromptSubmitted, consent.BeforeTool, consent.AfterTool, consent.Error}

// hookMoment is the moment an agent asks about; [eventlog.ErrInvalid] for one that is not its.
func hookMoment(c agent.HookCall) (consent.Moment, error) {
	e := consent.Moment(c.Event)
	if !slices.Contains(agentMoments, e) {
		return "", fmt.Errorf("%w: hooks are not asked about %q by an agent", eventlog.ErrInvalid, c.Event)
	}
	return e, nil
}

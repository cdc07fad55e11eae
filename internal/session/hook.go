package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// endHookLimit is how long the hooks of session_end may take when the program ends.
const endHookLimit = 3 * time.Second

// Hooks are the user's commands around events; [consent.Hooks] is one. The methods may be called
// concurrently.
type Hooks interface {
	// Run asks the hooks for the moment c and reports each run (hook.start, hook.end). Without a
	// matching hook it allows. An error means deny. The same RequestID is decided once.
	Run(ctx context.Context, c consent.HookCall, report func(event.Data) error) (consent.HookVerdict,
		error)
	// Demands reports whether a hook for e has to be asked every time.
	Demands(e consent.Moment) bool
}

// checkReach returns why hooks that insist cannot reach all tool calls of the backend, or nil.
func checkReach(c Config, info agent.Info) error {
	reached := info.Intercept == agent.InterceptAll || info.Intercept == agent.InterceptRewrite ||
		!info.Available && info.Intercept == "" // its opening says why
	if c.Hooks == nil || reached || !c.Hooks.Demands(consent.BeforeTool) {
		return nil
	}
	return fmt.Errorf(
		"%w: a before_tool hook is set, and hooks do not reach every tool call of %s (%s); choose "+
			"another backend, or mark the hook best_effort",
		agent.ErrUnsupported, c.Backend.Name(), info.Intercept)
}

// hooking runs the user's hooks.
type hooking struct {
	*core
	// guarded by mu: arguments hooks changed in this turn, by call
	rewritten  map[string]json.RawMessage
	closedIdle bool // guarded by mu: the conversation was closed for being idle
}

// runHooks runs the user's hooks, which log their runs by report. Whatever goes wrong is a deny;
// the error is ctx's.
func (s *hooking) runHooks(ctx context.Context, c consent.HookCall,
	report func(event.Data) error) (consent.HookVerdict, error) {
	if s.cfg.Hooks == nil {
		return consent.HookVerdict{Allow: true}, nil
	}
	c.SessionID = string(s.id)
	v, err := contain.Call(s.log(), "the hook "+string(c.Event), func() (consent.HookVerdict, error) {
		return s.cfg.Hooks.Run(ctx, c, func(d event.Data) error {
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
		s.log().Warn("a hook failed", "event", c.Event, "error", err)
		return consent.HookVerdict{Reason: "A hook failed: " + err.Error()}, nil
	case !v.Allow && v.Reason == "":
		v.Reason = "A hook refused it without a reason."
	case v.Allow && v.Arguments != nil:
		if v.Arguments, err = CleanArguments(v.Arguments); err != nil {
			return consent.HookVerdict{Reason: fmt.Sprintf("A hook rewrote the arguments wrongly: %v.",
				err)}, nil
		}
	}
	return v, nil
}

// hook asks the user's hooks.
func (s *hooking) hook(ctx context.Context, c consent.HookCall) (consent.HookVerdict, error) {
	return s.runHooks(ctx, c, func(d event.Data) error {
		wait := ctx
		if _, ends := d.(event.HookEnd); ends { // no end of a turn closes it
			wait = s.ctx
		}
		return s.events.Persist(wait, func() error { return s.events.Append(d) })
	})
}

// hookForCall asks the user's hooks about a call. The user's own does not wait for the log.
func (s *hooking) hookForCall(c *call, moment consent.Moment, args,
	result json.RawMessage) (consent.HookVerdict, error) {
	about := consent.HookCall{
		Within:     c.turn.turnID(),
		RequestID:  c.ID,
		ToolCallID: c.ID,
		Event:      moment,
		Tool:       c.Name,
		Arguments:  args,
		Result:     result,
	}
	if c.by != event.ByUser {
		return s.hook(c.ctx, about)
	}
	unlogged := c.unlogged
	return s.runHooks(c.ctx, about, func(d event.Data) error {
		if unlogged {
			return nil
		}
		err := s.events.Add(d)
		if !errors.Is(err, eventlog.ErrLog) {
			return err
		}
		if _, unlogged = d.(event.HookStart); !unlogged {
			s.addLater(d)
		}
		return nil
	})
}

// agentMoments are the moments a backend may ask hooks about; the others are the session's own.
var agentMoments = []consent.Moment{consent.PromptSubmitted, consent.BeforeTool, consent.AfterTool,
	consent.Error}

// RunHook implements [agent.Host].
func (h *host) RunHook(ctx context.Context, c agent.HookCall) (agent.HookVerdict, error) {
	inTurn, leave, err := h.inTurn(ctx, c.RequestID)
	switch {
	case err == nil:
		defer leave()
		ctx = inTurn
	case !errors.Is(err, ErrNoTurn):
		return agent.HookVerdict{}, fmt.Errorf("run hooks: %w", err)
	}
	about := consent.HookCall{
		RequestID: c.RequestID,
		Event:     consent.Moment(c.Event),
		Tool:      c.Tool,
		Arguments: c.Arguments,
		Result:    c.Result,
		Prompt:    c.Prompt,
		Fixed:     h.intercept != agent.InterceptRewrite,
	}
	if !slices.Contains(agentMoments, about.Event) {
		return agent.HookVerdict{}, fmt.Errorf("%w: hooks are not asked about %q by an agent",
			eventlog.ErrInvalid, c.Event)
	}
	if about.Event == consent.BeforeTool {
		if about.Arguments, err = CleanArguments(c.Arguments); err != nil {
			return agent.HookVerdict{Reason: fmt.Sprintf("Tool '%s' was not run: %v.", c.Tool, err)}, nil
		}
	}
	s := h.s
	s.mu.Lock()
	about.Within = s.turn.turnID()
	if s.events.Open().Tool(c.RequestID) != nil { // most agents name the moment by their call
		about.ToolCallID = c.RequestID
	}
	s.mu.Unlock()
	if about.Event == consent.AfterTool {
		s.heldFiles.look(ctx, about.ToolCallID, false)
	}
	v, err := s.hook(ctx, about)
	if err == nil && about.Event == consent.AfterTool {
		v.Held = s.heldFiles.forModel()
	}
	if err == nil && v.Arguments != nil {
		s.mu.Lock()
		s.rewritten[c.RequestID] = v.Arguments
		s.mu.Unlock()
	}
	return v, err
}

// hookBeforeAsking asks the before_tool hooks about an act of an agent that reports its tools only
// when it asks for permission.
func (h *host) hookBeforeAsking(ctx context.Context,
	p agent.Permission) (consent.HookVerdict, error) {
	if h.intercept == agent.InterceptAll || h.intercept == agent.InterceptRewrite {
		return consent.HookVerdict{Allow: true}, nil // it asked about the call itself
	}
	return h.s.hook(ctx, consent.HookCall{
		Event:     consent.BeforeTool,
		Tool:      p.ToolName,
		Arguments: consent.Describe(p),
		Fixed:     true,
	})
}

// hookSessionStart asks before the agent starts, unless its conversation was only closed for being
// idle.
func (s *hooking) hookSessionStart(ctx context.Context) error {
	s.mu.Lock()
	idle := s.closedIdle
	s.closedIdle = false
	s.mu.Unlock()
	if idle {
		return nil
	}
	v, err := s.hook(ctx, consent.HookCall{Event: consent.SessionStart})
	if err == nil && !v.Allow {
		return fmt.Errorf("%w to start the agent: %s", errHook, v.Reason)
	}
	return err
}

// hookSessionEnd runs the hooks of the end of the session's agent. Nothing of the session runs any
// more.
func (s *hooking) hookSessionEnd() {
	ctx, cancel := context.WithTimeout(context.Background(), endHookLimit)
	defer cancel()
	if _, err := s.hook(ctx, consent.HookCall{Event: consent.SessionEnd}); err != nil {
		s.log().Warn("the hooks of the session's end were cut", "error", err)
	}
}

// hookErrors runs the hooks of what went wrong in a turn, after the user can see it. The agent is
// idle; the turn can still be stopped.
func (s *hooking) hookErrors(t *turn, failure error) {
	s.mu.Lock()
	errs := slices.Clone(t.errs)
	fresh := failure != nil && t.whole.Err() == nil && !t.reported[failure.Error()]
	s.mu.Unlock()
	if fresh {
		e := sessionErrorOf(failure).In(t.id)
		err := s.events.Persist(t.whole, func() error {
			if err := s.events.Append(e); err != nil {
				return err
			}
			t.reported[failure.Error()] = true
			return nil
		})
		if err != nil {
			s.log().Info("the end of the turn logs its failure", "error", err)
		}
		errs = append(errs, e)
	}
	for _, e := range errs {
		b, err := json.Marshal(map[string]string{"message": e.Message, "errorType": e.ErrorType,
			"kind": string(e.Kind)})
		if err != nil || t.whole.Err() != nil {
			return
		}
		if _, err := s.hook(t.whole, consent.HookCall{Event: consent.Error, Result: b}); err != nil {
			s.log().Info("the hooks of an error were stopped", "error", err)
		}
	}
}

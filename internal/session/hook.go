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
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// endHookLimit is how long the hooks of session_end may take when the program ends.
const endHookLimit = 3 * time.Second

func (s *Session) hooks() hookRunner {
	return hookRunner{Hooks: s.cfg.Hooks, SessionID: string(s.id), Log: s.log()}
}

// hook asks the user's hooks. Whatever goes wrong is a deny; the error is ctx's.
func (s *Session) hook(ctx context.Context, c consent.HookCall) (consent.HookVerdict, error) {
	return s.hooks().Run(ctx, c, func(d event.Data) error {
		wait := ctx
		if _, ends := d.(event.HookEnd); ends { // no end of a turn closes it
			wait = s.ctx
		}
		return s.events.Persist(wait, func() error { return s.events.Append(d) })
	})
}

// hookForCall asks the user's hooks about a call. The user's own does not wait for the
// log.
func (s *Session) hookForCall(c *call, about consent.HookCall) (consent.HookVerdict, error) {
	if c.by != event.ByUser {
		return s.hook(c.ctx, about)
	}
	kept := !c.unlogged
	return s.hooks().Run(c.ctx, about, func(d event.Data) error {
		if !kept {
			return nil
		}
		err := s.events.Add(d)
		if !errors.Is(err, eventlog.ErrLog) {
			return err
		}
		if _, starts := d.(event.HookStart); starts {
			kept = false
			return nil
		}
		s.wg.Go(func() {
			if err := s.events.Persist(s.ctx, func() error { return s.events.Append(d) }); err != nil {
				s.log().Error("the end of a hook was not logged", "error", err)
			}
		})
		return nil
	})
}

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
	e, err := hookMoment(c)
	if err != nil {
		return agent.HookVerdict{}, err
	}
	if e == consent.BeforeTool {
		clean, err := CleanArguments(c.Arguments)
		if err != nil {
			return agent.HookVerdict{Reason: fmt.Sprintf("Tool '%s' was not run: %v.", c.Tool, err)}, nil
		}
		c.Arguments = clean
	}
	h.s.mu.Lock()
	within, call := h.s.turn.turnID(), ""
	if h.s.events.Open.Tool(c.RequestID) != nil { // most agents name the moment by their call
		call = c.RequestID
	}
	h.s.mu.Unlock()
	v, err := h.s.hook(ctx, consent.HookCall{Within: within, RequestID: c.RequestID, ToolCallID: call, Event: e, Tool: c.Tool, Arguments: c.Arguments, Result: c.Result,
		Prompt: c.Prompt, Fixed: h.intercept != agent.InterceptRewrite})
	if err == nil && v.Arguments != nil {
		h.s.mu.Lock()
		h.s.rewritten[c.RequestID] = v.Arguments
		h.s.mu.Unlock()
	}
	return agent.HookVerdict{Allow: v.Allow, Reason: v.Reason, Arguments: v.Arguments, Prompt: v.Prompt}, err
}

// hookBeforeAsking asks the before_tool hooks about an act of an agent that tells of
// its tools only when it asks for permission.
func (h *host) hookBeforeAsking(ctx context.Context, p agent.Permission) (consent.HookVerdict, error) {
	if h.intercept == agent.InterceptAll || h.intercept == agent.InterceptRewrite {
		return consent.HookVerdict{Allow: true}, nil // it asked about the call itself
	}
	return h.s.hook(ctx, consent.HookCall{Event: consent.BeforeTool, Tool: p.ToolName, Arguments: consent.Describe(p), Fixed: true})
}

// hookSessionStart asks before the agent starts, unless its conversation only rested.
func (s *Session) hookSessionStart(ctx context.Context) error {
	s.mu.Lock()
	rested := s.closedIdle
	s.closedIdle = false
	s.mu.Unlock()
	if rested {
		return nil
	}
	v, err := s.hook(ctx, consent.HookCall{Event: consent.SessionStart})
	if err == nil && !v.Allow {
		return fmt.Errorf("%w to start the agent: %s", errHook, v.Reason)
	}
	return err
}

// hookSessionEnd tells hooks that the session's agent has ended. Nothing of the
// session runs any more.
func (s *Session) hookSessionEnd() {
	ctx, cancel := context.WithTimeout(context.Background(), endHookLimit)
	defer cancel()
	if _, err := s.hook(ctx, consent.HookCall{Event: consent.SessionEnd}); err != nil {
		s.log().Warn("the hooks of the session's end were cut", "error", err)
	}
}

// hookErrors tells hooks what went wrong in a turn, after the user was told. The
// agent is idle; the turn can still be stopped.
func (s *Session) hookErrors(t *turn, failure error) {
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
			s.log().Info("the end of the turn tells of its failure", "error", err)
		}
		errs = append(errs, e)
	}
	for _, e := range errs {
		s.hookError(t.whole, e)
	}
}

func (s *Session) hookError(ctx context.Context, e event.SessionError) {
	b, err := json.Marshal(map[string]string{"message": e.Message, "errorType": e.ErrorType, "kind": string(e.Kind)})
	if err != nil || ctx.Err() != nil {
		return
	}
	if _, err := s.hook(ctx, consent.HookCall{Event: consent.Error, Result: b}); err != nil {
		s.log().Info("the hooks of an error were stopped", "error", err)
	}
}

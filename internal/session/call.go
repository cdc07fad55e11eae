package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/strictjson"
	"webchat/internal/wording"
)

// call is one run of a tool of the session.
type call struct {
	agent.ToolCall
	by       event.Actor
	turn     *turn // nil: the user called it
	ctx      context.Context
	cancel   context.CancelCauseFunc
	at       time.Time
	differs  bool        // it is not what the agent announced under this id
	unlogged bool        // the log takes no part in it: it could not be written when the call began, or it is a preview
	look     bool        // it is a preview: the user is not asked
	secret   atomic.Bool // of a preview: the file may hold secrets
}

// CallTool implements [agent.Host].
func (h *host) CallTool(ctx context.Context, tc agent.ToolCall) (agent.Result, error) {
	s := h.s
	var c *call
	err := s.events.Persist(h.turnOver(), func() error {
		t, err := h.turnLocked(tc.ParentToolCallID)
		if err == nil {
			c, err = s.startLocked(tc, event.ByAgent, t)
		}
		return err
	})
	if err != nil {
		return agent.Result{}, fmt.Errorf("call tool %s: %w", tc.Name, err)
	}
	defer context.AfterFunc(ctx, func() { c.cancel(context.Cause(ctx)) })()
	res := s.perform(c)
	err = s.events.Persist(c.turn.ctx, func() error { return s.completeLocked(c, res) })
	s.mu.Lock()
	s.endCallLocked(c)
	c.turn.doneLocked()
	s.mu.Unlock()
	switch {
	case err != nil:
		return res, fmt.Errorf("call tool %s: %w", tc.Name, err)
	case ctx.Err() != nil:
		return res, ctx.Err()
	}
	return res, nil
}

// startLocked logs the start of a call, unless that is in the log already, and
// counts it as endCallLocked and, where there is a turn, doneLocked take back.
func (s *Session) startLocked(tc agent.ToolCall, by event.Actor, t *turn) (_ *call, err error) {
	if err := s.checkUsable(); err != nil && (by == event.ByUser || s.state >= stateClosing) {
		return nil, err
	}
	if t != nil {
		t.joined.Add(1)
		defer func() {
			if err != nil {
				t.doneLocked()
			}
		}()
	}
	if tc.ID == "" {
		tc.ID = string(event.NewID())
	}
	if s.calls[tc.ID] != nil || s.events.Open.Done[eventlog.ToolKey(tc.ID)] {
		return nil, fmt.Errorf("%w: the call %q was made already", eventlog.ErrInvalid, tc.ID)
	}
	tc.Arguments = bytes.Clone(tc.Arguments) // what is asked about stays what runs
	other := false
	switch reported := s.events.Open.Tool(tc.ID); {
	case reported == nil:
		err := s.beginLocked(event.ToolExecutionStart{ToolCallID: tc.ID, ToolName: tc.Name, Arguments: LoggableArguments(tc.Arguments),
			By: by, ParentToolCallID: tc.ParentToolCallID})
		if err != nil {
			return nil, err
		}
	case reported.Start.By != by:
		return nil, fmt.Errorf("%w: the call %q was made by another caller", eventlog.ErrInvalid, tc.ID)
	default:
		other = s.differsLocked(reported.Start, tc)
	}
	c := &call{ToolCall: tc, by: by, turn: t, differs: other}
	s.beginCallLocked(c)
	return c, nil
}

// beginCallLocked begins a call: it can be stopped, and the session waits for its end.
func (s *Session) beginCallLocked(c *call) {
	parent := s.ctx
	if c.turn != nil {
		parent = c.turn.ctx
	}
	c.at = s.cfg.Now()
	c.ctx, c.cancel = context.WithCancelCause(parent)
	c.ctx = agent.WithCall(c.ctx, agent.CallInfo{SessionID: string(s.id), ToolCallID: c.ID, By: c.by, Started: c.at})
	s.calls[c.ID] = c
	s.wg.Add(1)
}

// endCallLocked ends what beginCallLocked began.
func (s *Session) endCallLocked(c *call) {
	if s.calls[c.ID] == c {
		delete(s.calls, c.ID)
	}
	c.cancel(nil)
	s.wg.Done()
}

// differsLocked reports whether a call is another one than its agent announced:
// the user saw the announcement. What a hook changed, and arguments that were not
// announced, are no difference.
func (s *Session) differsLocked(announced event.ToolExecutionStart, tc agent.ToolCall) bool {
	if announced.ToolName != tc.Name {
		return true
	}
	same := func(raw json.RawMessage) []byte { return event.Canonical(strictjson.Whole(raw)) }
	args, said := same(LoggableArguments(tc.Arguments)), same(announced.Arguments)
	return string(said) != "{}" && !bytes.Equal(said, args) && !bytes.Equal(same(s.rewritten[tc.ID]), args)
}

// completeLocked logs the end of a call, once.
func (s *Session) completeLocked(c *call, res agent.Result) error {
	if s.events.Open.Tool(c.ID) == nil {
		return nil // the end of its turn closed it
	}
	return s.events.Append(s.completionLocked(c, res))
}

// completionLocked is the end of a call as the log has it.
func (s *Session) completionLocked(c *call, res agent.Result) event.ToolExecutionComplete {
	d := completionOf(c.ID, c.at, s.cfg.Now(), res)
	begun := s.events.Open.Tool(c.ID)
	if begun == nil {
		return d
	}
	d.ParentToolCallID = begun.Start.ParentToolCallID
	if d.OutputID == "" && begun.Output() != "" { // it was left before it could say so
		d.OutputID, d.ToolTelemetry = begun.Output(), eventlog.TelemetryOf(begun.Output())
	}
	return d
}

// perform does everything between the start and the end of a call. It returns
// within stopGrace after the call's context ended.
func (s *Session) perform(c *call) agent.Result {
	res, _, err := contain.CallWithGrace(c.ctx, s.runner(), "the tool "+c.Name, func() (agent.Result, error) { return s.act(c), nil }, nil)
	if err != nil {
		res = agent.Failure(event.KindInternal, "The tool '%s' failed.", c.Name)
	}
	if res.Type == "" {
		res.Type = agent.Success
	}
	switch {
	case res.Type == agent.Success:
	case err != nil && c.ctx.Err() != nil:
		return stoppedResult(c.ctx)
	case res.Kind == "" && c.ctx.Err() != nil, res.Kind == event.KindAborted:
		res.Kind, res.By = event.KindAborted, stoppedBy(c.ctx)
	}
	return res
}

// act checks, asks and runs.
func (s *Session) act(c *call) agent.Result {
	if c.differs {
		s.log().Warn("an agent called a tool with other arguments than it had announced", "toolCallId", c.ID)
		return deniedResult(fmt.Sprintf("Tool '%s' was not run: the call is not the one that was announced under its id.", c.Name), "")
	}
	args, err := CleanArguments(c.Arguments)
	if err != nil {
		return agent.Failure(event.KindBadArguments, "Tool '%s' was not run: %v.", c.Name, err)
	}
	tool, err := s.tool(c.Name)
	if err != nil {
		return agent.Failure(event.KindUnknownTool, "%s", wording.Capital(err.Error()))
	}
	v, err := s.hookForCall(c, consent.HookCall{Within: c.turn.turnID(), RequestID: c.ID, ToolCallID: c.ID, Event: consent.BeforeTool, Tool: c.Name, Arguments: args})
	switch {
	case err != nil:
		return stoppedResult(c.ctx)
	case !v.Allow:
		return deniedResult(v.Reason, event.DecidedByHook)
	case v.Arguments != nil:
		args = v.Arguments
	}
	action, err := tool.Plan(c.ctx, args)
	if err != nil {
		if c.ctx.Err() != nil {
			return stoppedResult(c.ctx)
		}
		return agent.FailedBy(err, event.KindBadArguments)
	}
	reads := func(p *agent.Permission) bool { return p != nil && p.Kind == agent.KindRead }
	if c.look && !reads(action.Ask) && !reads(action.About) {
		return agent.Failure(event.KindBadArguments, "Tool '%s' was not run: %v, and it does more than read a file.", c.Name, errLook)
	}
	if verdict, asked := s.requestPermission(c, action); asked && verdict.Decision != event.Allow {
		return deniedResult(verdict.Reason, verdict.By)
	}
	if c.ctx.Err() != nil {
		return stoppedResult(c.ctx)
	}
	res, err := action.Run(c.ctx, s.progress(c))
	if err != nil {
		if c.ctx.Err() != nil {
			return stoppedResult(c.ctx)
		}
		return agent.FailedBy(err, event.KindInternal)
	}
	return s.runAfterHooks(c, args, res)
}

// requestPermission asks the user to allow an action, if it needs permission.
func (s *Session) requestPermission(c *call, a agent.Action) (v agent.Verdict, asked bool) {
	ask := s.requests.PermissionFor(c.ctx, a, c.by)
	if ask == nil {
		return agent.Verdict{}, false
	}
	if c.look {
		c.secret.Store(true)
		return consent.Denial(event.DecidedByAbort, "This file may hold secrets, so it is shown only when it is opened."), true
	}
	if c.unlogged {
		return consent.Denial(event.DecidedByAbort, "This needs your permission, which cannot be asked for while the log cannot be written."), true
	}
	p := *ask
	p.ToolCallID, p.ToolName = c.ID, c.Name
	if p.Digest == "" {
		p.Digest = a.Digest
	}
	v, err := s.requests.Ask(c.ctx, p, c.by, nil)
	if err != nil {
		s.log().Error("an act was not allowed because the user could not be asked", "error", err)
		return agent.Verdict{Decision: event.Deny, Reason: "The question could not be put: " + err.Error()}, true
	}
	return v, true
}

// runAfterHooks asks the hooks about a result; a veto hides it from the model.
func (s *Session) runAfterHooks(c *call, args json.RawMessage, res agent.Result) agent.Result {
	if s.cfg.Hooks == nil || c.ctx.Err() != nil {
		return res
	}
	raw, err := json.Marshal(res)
	if err != nil {
		raw = nil
	}
	v, err := s.hookForCall(c, consent.HookCall{Within: c.turn.turnID(), RequestID: c.ID, ToolCallID: c.ID, Event: consent.AfterTool, Tool: c.Name, Arguments: args, Result: raw})
	if err != nil || v.Allow {
		return res
	}
	veto := deniedResult(v.Reason, event.DecidedByHook)
	veto.Telemetry, veto.SessionLog = res.Telemetry, res.SessionLog
	return veto
}

// progress relays how far a call is, as long as it runs.
func (s *Session) progress(c *call) agent.Progress {
	return func(d event.ToolExecutionProgress) {
		d.ToolCallID = c.ID
		ctx, cancel := context.WithTimeout(c.ctx, logGrace)
		defer cancel()
		err := s.events.Change(ctx, func() error {
			if s.calls[c.ID] != c || s.events.Open.Tool(c.ID) == nil {
				return nil
			}
			return s.events.Append(d)
		})
		if err != nil && ctx.Err() == nil { // else the log is slow, and the next progress says more
			s.log().Warn("progress was not sent", "error", err)
		}
	}
}

// tool returns the tool of that name; the error is for the model.
func (s *Session) tool(name string) (agent.Tool, error) {
	tools, err := s.tools()
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(tools, func(t agent.Tool) bool { return t.Spec().Name == name }); i >= 0 {
		return tools[i], nil
	}
	return nil, fmt.Errorf("Tool '%s' does not exist", name) //lint:ignore ST1005 the sentence the model reads
}

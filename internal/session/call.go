package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
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
	by     event.Actor
	turn   *turn // nil: the user called it
	ctx    context.Context
	cancel context.CancelCauseFunc
	at     time.Time
	// how long it waited for a snapshot, which does not count as its tool's time, in nanoseconds
	held    atomic.Int64
	differs bool // it is not what the agent announced under this id
	// the log takes no part in it: it could not be written when the call began, or it is a preview
	unlogged bool
	look     bool        // it is a preview: the user is not asked
	part     bool        // of a text that somebody looks at
	tool     agent.Tool  // that of a page; nil: the session's by the name
	display  atomic.Bool // of one of the display tools
	secret   atomic.Bool // of a preview: the file may hold secrets
}

// CallTool implements [agent.Host].
func (h *host) CallTool(ctx context.Context, tc agent.ToolCall) (agent.Result, error) {
	s := h.s
	tc.Name = s.called(tc.Name)
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
	defer c.turn.joined.Done()
	defer context.AfterFunc(ctx, func() { c.cancel(context.Cause(ctx)) })()
	res := s.perform(c)
	err = s.events.Persist(c.turn.ctx, func() error { return s.completeLocked(c, res) })
	s.endCall(c)
	switch {
	case err != nil:
		return res, fmt.Errorf("call tool %s: %w", tc.Name, err)
	case ctx.Err() != nil:
		return res, ctx.Err()
	}
	return res, nil
}

// toolCalls runs calls of tools, the agent's and the user's.
type toolCalls struct {
	*core
	*hooking
	*toolbox
	*keeper
	calls map[string]*call // guarded by mu: those that run
}

// startLocked logs the start of a call, unless that is in the log already, and begins it. The end
// of the turn, if there is one, waits for it.
func (s *toolCalls) startLocked(tc agent.ToolCall, by event.Actor, t *turn) (_ *call, err error) {
	if err := s.checkUsable(); err != nil && (by == event.ByUser || s.state >= stateClosing) {
		return nil, err
	}
	if t != nil {
		t.joined.Add(1)
		defer func() {
			if err != nil {
				t.joined.Done()
			}
		}()
	}
	if tc.ID == "" {
		tc.ID = string(event.NewID())
	}
	if s.calls[tc.ID] != nil || s.events.Open().Done[eventlog.ToolKey(tc.ID)] {
		return nil, fmt.Errorf("%w: the call %q was made already", eventlog.ErrInvalid, tc.ID)
	}
	c := &call{ToolCall: tc, by: by, turn: t}
	c.Arguments = bytes.Clone(tc.Arguments) // what is asked about stays what runs
	switch reported := s.events.Open().Tool(tc.ID); {
	case reported == nil:
		if err := s.beginLocked(c.start()); err != nil {
			return nil, err
		}
	case reported.Start.By != by:
		return nil, fmt.Errorf("%w: the call %q was made by another caller", eventlog.ErrInvalid, tc.ID)
	default:
		c.differs = s.differsLocked(reported.Start, c.ToolCall)
	}
	s.beginCallLocked(c)
	return c, nil
}

// start is the event that begins a call.
func (c *call) start() event.ToolExecutionStart {
	return event.ToolExecutionStart{
		ToolCallID:       c.ID,
		ToolName:         c.Name,
		Arguments:        LoggableArguments(c.Arguments),
		By:               c.by,
		ParentToolCallID: c.ParentToolCallID,
	}
}

// beginCallLocked begins a call: it can be stopped, and the session waits for its end.
func (s *toolCalls) beginCallLocked(c *call) {
	parent := s.ctx
	if c.turn != nil {
		parent = c.turn.ctx
	}
	c.at = s.cfg.Now()
	c.ctx, c.cancel = context.WithCancelCause(parent)
	c.ctx = agent.WithCall(c.ctx, agent.CallInfo{
		SessionID:  string(s.id),
		ToolCallID: c.ID,
		By:         c.by,
		Part:       c.part,
		Started:    c.at,
		Ask:        s.requests.Question,
	})
	s.calls[c.ID] = c
	s.wg.Add(1)
}

// endCall ends what beginCallLocked began.
func (s *toolCalls) endCall(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[c.ID] == c {
		delete(s.calls, c.ID)
	}
	c.cancel(nil)
	s.wg.Done()
}

// differsLocked reports whether a call is another one than its agent announced: the user saw the
// announcement. What a hook changed, and arguments that were not announced, do not count as a
// difference.
func (s *toolCalls) differsLocked(announced event.ToolExecutionStart, tc agent.ToolCall) bool {
	if announced.ToolName != tc.Name {
		return true
	}
	same := func(raw json.RawMessage) []byte { return event.Canonical(strictjson.Whole(raw)) }
	args, shown := same(LoggableArguments(tc.Arguments)), same(announced.Arguments)
	return string(shown) != "{}" && !bytes.Equal(shown, args) &&
		!bytes.Equal(same(s.rewritten[tc.ID]), args)
}

// completeLocked logs the end of a call, once.
func (s *toolCalls) completeLocked(c *call, res agent.Result) error {
	if s.events.Open().Tool(c.ID) == nil {
		return nil // the end of its turn closed it
	}
	d := s.completionLocked(c, res)
	if err := s.endLocked(c.turn, d, res.Refused); err != nil {
		return err
	}
	if c.by == event.ByAgent && d.ParentToolCallID == "" {
		s.bill.completed(c.display.Load() && res.Type != agent.Success)
	}
	return nil
}

// completionLocked is the end of a call as the log has it.
func (s *toolCalls) completionLocked(c *call, res agent.Result) event.ToolExecutionComplete {
	d := c.completion(s.cfg.Now(), res)
	begun := s.events.Open().Tool(c.ID)
	if begun == nil {
		return d
	}
	d.ParentToolCallID = begun.Start.ParentToolCallID
	if d.OutputID == "" && begun.Output() != "" { // it was left before it could return its output
		d.OutputID, d.ToolTelemetry = begun.Output(), eventlog.TelemetryOf(begun.Output())
	}
	return d
}

// perform does everything between the start and the end of a call. It returns within stopGrace
// after the call's context ended.
func (s *toolCalls) perform(c *call) agent.Result {
	res, _, err := contain.CallWithGrace(c.ctx, s.runner(), "the tool "+c.Name,
		func() (agent.Result, error) { return s.act(c), nil }, nil)
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
func (s *toolCalls) act(c *call) agent.Result {
	tool, args, refused := s.check(c)
	if refused != nil {
		return *refused
	}
	action, err := tool.Plan(c.ctx, args)
	if err != nil {
		return failedResult(c.ctx, err, event.KindBadArguments)
	}
	if c.look && !isRead(action.Ask) && !isRead(action.About) {
		return agent.Failure(event.KindBadArguments,
			"Tool '%s' was not run: it is only a preview, and it does more than read a file.", c.Name)
	}
	acts := cmp.Or(action.Ask, action.About)
	changes := acts != nil && !isRead(acts)
	if changes {
		s.keepBefore(c.turn, true) // while the user reads the question
	}
	running, ask := s.confine(c, action, acts)
	if ask != nil {
		if verdict := s.askFor(c, *ask, action.Digest); verdict.Decision != event.Allow {
			return deniedResult(verdict.Reason, verdict.By)
		}
	}
	if changes {
		began := s.cfg.Now()
		s.beforeAct(c.ctx, c.turn)
		c.held.Store(int64(s.cfg.Now().Sub(began)))
	}
	if c.ctx.Err() != nil {
		return stoppedResult(c.ctx)
	}
	res, err := action.Run(running, s.progress(c))
	if err != nil {
		res = failedResult(c.ctx, err, event.KindInternal)
	}
	if changes && c.by == event.ByAgent {
		s.heldFiles.look(c.ctx, c.ID, false)
		if held := s.heldFiles.forModel(); held != "" {
			res.TextForModel = strings.TrimSuffix(res.TextForModel, ".") + ". " + held
		}
	}
	if err != nil {
		return res
	}
	return s.runAfterHooks(c, args, res)
}

// isRead reports whether an act is known and only reads.
func isRead(p *agent.Permission) bool { return p != nil && p.Kind == agent.KindRead }

// check returns the tool of a call and its arguments, as the hooks leave them, or why it is not
// run.
func (s *toolCalls) check(c *call) (agent.Tool, json.RawMessage, *agent.Result) {
	refuse := func(r agent.Result) (agent.Tool, json.RawMessage, *agent.Result) {
		return nil, nil, &r
	}
	if c.differs {
		s.log().Warn("an agent called a tool with other arguments than it had announced", "toolCallId",
			c.ID)
		return refuse(deniedResult(
			fmt.Sprintf("Tool '%s' was not run: the call is not the one that was announced under its id.",
				c.Name), ""))
	}
	if c.by == event.ByAgent {
		if err := s.budget.pause(c.ctx, c.turn); err != nil {
			return refuse(stoppedResult(c.ctx))
		}
	}
	args, err := CleanArguments(c.Arguments)
	if err != nil {
		return refuse(agent.Failure(event.KindBadArguments, "Tool '%s' was not run: %v.", c.Name, err))
	}
	tool, err := c.tool, error(nil)
	if tool == nil {
		tool, err = s.tool(c.Name)
	}
	if err != nil {
		return refuse(agent.Failure(event.KindUnknownTool, "%s", wording.Capital(err.Error())))
	}
	c.display.Store(tool.Spec().Final)
	v, err := s.hookForCall(c, consent.BeforeTool, args, nil)
	switch {
	case err != nil:
		return refuse(stoppedResult(c.ctx))
	case !v.Allow:
		return refuse(deniedResult(v.Reason, event.DecidedByHook))
	case v.Arguments != nil:
		args = v.Arguments
	}
	return tool, args, nil
}

// confine decides where an action runs, and returns the context it runs on and what the user is
// asked first; nil: nothing. acts is what it does, as far as that is known.
func (s *toolCalls) confine(c *call, action agent.Action,
	acts *agent.Permission) (running context.Context, ask *agent.Permission) {
	runsOutside := acts != nil && c.by == event.ByAgent && s.cfg.isOutside(c.ctx, *acts)
	if action.Ask != nil { // of the tools that are lent, only what runs a command is confined
		action.Ask.Confined = s.opened.Confines() && action.Ask.Kind == agent.KindShell && !runsOutside
	}
	ask, running = s.requests.PermissionFor(c.ctx, action, c.by), c.ctx
	switch call := agent.CallFrom(c.ctx); {
	case acts == nil:
	case c.by == event.ByUser && call.Outside:
		ask = outside(*acts)
	case runsOutside:
		call.Outside = true
		running = agent.WithCall(c.ctx, call)
		if ask != nil {
			named := *ask
			named.Action = actsOutside
			ask = &named
		}
	}
	return running, ask
}

// askFor asks the user to allow an action.
func (s *toolCalls) askFor(c *call, p agent.Permission, digest string) agent.Verdict {
	if c.look {
		c.secret.Store(true)
		return consent.Denial(event.DecidedByAbort,
			"This file may hold secrets, so it is shown only when it is opened.")
	}
	if c.unlogged {
		return consent.Denial(event.DecidedByAbort,
			"This needs your permission, which cannot be asked for while the log cannot be written.")
	}
	p.ToolCallID, p.ToolName = c.ID, cmp.Or(p.ToolName, c.Name)
	if p.Digest == "" {
		p.Digest = digest
	}
	v, err := s.requests.Ask(c.ctx, p, c.by, nil)
	if err != nil {
		s.log().Error("an act was not allowed because the user could not be asked", "error", err)
		return agent.Verdict{Decision: event.Deny, Reason: "The question could not be put: " +
			err.Error()}
	}
	return v
}

// runAfterHooks asks the hooks about a result; a veto hides it from the model.
func (s *toolCalls) runAfterHooks(c *call, args json.RawMessage, res agent.Result) agent.Result {
	if s.cfg.Hooks == nil || c.ctx.Err() != nil {
		return res
	}
	raw, err := json.Marshal(res)
	if err != nil {
		raw = nil
	}
	v, err := s.hookForCall(c, consent.AfterTool, args, raw)
	if err != nil || v.Allow {
		return res
	}
	veto := deniedResult(v.Reason, event.DecidedByHook)
	veto.Telemetry, veto.SessionLog = res.Telemetry, res.SessionLog
	return veto
}

// progress relays how far a call is, as long as it runs.
func (s *toolCalls) progress(c *call) agent.Progress {
	return func(d event.ToolExecutionProgress) {
		d.ToolCallID = c.ID
		ctx, cancel := context.WithTimeout(c.ctx, logGrace)
		defer cancel()
		err := s.events.Change(ctx, func() error {
			if s.calls[c.ID] != c || s.events.Open().Tool(c.ID) == nil {
				return nil
			}
			return s.events.Append(d)
		})
		if err != nil && ctx.Err() == nil { // else the log is slow, and the next progress says more
			s.log().Warn("progress was not sent", "error", err)
		}
	}
}

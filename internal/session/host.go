package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/wording"
)

// maxErrors is how many errors of one turn hooks run for.
const maxErrors = 10

// host is what one conversation may ask of its session.
type host struct {
	s         *Session
	intercept agent.Intercept // how far hooks reach into the agent's calls
	gone      bool            // guarded by s.mu: the conversation is over
}

var _ agent.Host = (*host)(nil)

// end makes everything the conversation still asks for an error.
func (h *host) end() {
	h.s.mu.Lock()
	h.gone = true
	h.s.mu.Unlock()
}

func (h *host) overLocked() error {
	if h.gone {
		return fmt.Errorf("the conversation of session %s: %w", h.s.id, eventlog.ErrClosed)
	}
	return nil
}

// turnLocked returns the running turn, or why the conversation has none. What a helper in the
// background does, in the call parent, runs beside the turns.
func (h *host) turnLocked(parent string) (*turn, error) {
	task := h.s.events.Open().Helper(parent)
	switch t := h.s.turn; {
	case h.gone:
		return nil, h.overLocked()
	case task != nil && h.s.scopes[task.Start.TaskID] != nil:
		return h.s.scopes[task.Start.TaskID], nil
	case t == nil || !t.started || t.ended:
		return nil, fmt.Errorf("session %s: %w", h.s.id, ErrNoTurn)
	default:
		return t, nil
	}
}

// inTurn returns ctx ending with the running turn, too, or with the task of the helper that made
// the call. The end of the turn waits until leave is called.
func (h *host) inTurn(ctx context.Context, toolCallID string) (context.Context, func(), error) {
	s := h.s
	s.mu.Lock()
	defer s.mu.Unlock()
	parent := ""
	if x := s.events.Open().Tool(toolCallID); x != nil {
		parent = x.Start.ParentToolCallID
	}
	t, err := h.turnLocked(parent)
	if err != nil {
		return nil, nil, err
	}
	if !t.joinLocked() {
		return nil, nil, ErrNoTurn
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
		t.joined.Done()
	}, nil
}

// AskPermission implements [agent.Host].
func (h *host) AskPermission(ctx context.Context, p agent.Permission) (agent.Verdict, error) {
	p.Confined = h.s.cfg.Confined
	_, over := h.s.budget.over(h.s.running())
	if !over && h.s.requests.Needless(ctx, p) {
		return agent.Verdict{Decision: event.Allow, Scope: event.Once, By: event.DecidedByMode}, nil
	}
	ctx, leave, err := h.inTurn(ctx, p.ToolCallID)
	if err != nil {
		return agent.Verdict{}, fmt.Errorf("ask for permission: %w", err)
	}
	defer leave()
	if err := h.s.budget.pause(ctx, h.s.running()); err != nil {
		return consent.Denial(event.DecidedByAbort, wording.Sentence(err.Error())), nil
	}
	if over && h.s.requests.Needless(ctx, p) {
		return agent.Verdict{Decision: event.Allow, Scope: event.Once, By: event.DecidedByMode}, nil
	}
	if h.s.cfg.isOutside(ctx, p) {
		return h.refuseInside(ctx, p)
	}
	if p.Kind != agent.KindRead {
		h.s.keepBefore(h.s.running(), true) // while the user reads the question
	}
	h.s.beside.before(ctx, p)
	v, err := h.s.requests.Ask(ctx, p, event.ByAgent, h.hookBeforeAsking)
	if err == nil && v.Decision == event.Allow && p.Kind != agent.KindRead {
		h.s.beforeAct(ctx, h.s.running())
		h.s.beside.mayWrite(p)
	}
	return v, err
}

// AskHost is [consent.Requests.AskHost]. What the user denies is not offered again as refused.
func (s *Session) AskHost(ctx context.Context, host, address string) consent.InsideAnswer {
	ctx, leave, err := s.join(ctx)
	if err != nil {
		return consent.InsideAnswer{}
	}
	defer leave()
	answer := s.requests.AskHost(ctx, host, address)
	if !answer.Allowed && answer.By == event.DecidedByUser {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.turn.knows(event.SandboxRefused{Kind: event.RefusedHost, What: host})
	}
	return answer
}

// AskUser implements [agent.Host].
func (h *host) AskUser(ctx context.Context, q agent.Question) (agent.Answer, error) {
	ctx, leave, err := h.inTurn(ctx, q.ToolCallID)
	if err != nil {
		return agent.Answer{}, fmt.Errorf("ask the user: %w", err)
	}
	defer leave()
	if err := h.s.budget.pause(ctx, h.s.running()); err != nil {
		return agent.Answer{}, fmt.Errorf("ask the user: %w", err)
	}
	return h.s.requests.Question(ctx, q)
}

// Report implements [agent.Host].
func (h *host) Report(ctx context.Context, data event.Data) error {
	if data == nil {
		return fmt.Errorf("%w: a report without data", eventlog.ErrInvalid)
	}
	var refused []event.SandboxRefused
	if d, ok := data.(event.ToolExecutionStart); ok {
		d.ToolName = h.s.called(d.ToolName)
		data = d
	}
	if d, ok := data.(event.ToolExecutionComplete); ok {
		h.s.heldFiles.look(ctx, d.ToolCallID, false)
		d.ResultTokens = resultTokens(d) // here, where no lock is held
		data, refused = d, h.s.refusedOwn(d)
	}
	wait := h.turnOver()
	switch data.(type) {
	case event.TaskStarted, event.TaskCompleted:
		wait = h.s.ctx // a task is beside the turns
	}
	err := h.s.events.Persist(wait, func() error { return h.reportLocked(data, refused) })
	if d, ok := data.(event.ToolExecutionComplete); ok && err == nil {
		h.s.beside.after(wait, d)
	}
	return err
}

// turnOver returns a context that ends with the turn; outside of one it has ended.
func (h *host) turnOver() context.Context {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if h.s.turn != nil {
		return h.s.turn.ctx
	}
	ctx, cancel := context.WithCancelCause(h.s.ctx)
	cancel(ErrNoTurn)
	return ctx
}

// reportLocked appends what the agent reports.
func (h *host) reportLocked(data event.Data, refused []event.SandboxRefused) error {
	s := h.s
	if err := h.overLocked(); err != nil {
		return err
	}
	t, err := h.turnLocked(s.events.Open().ParentOf(data))
	if err != nil && !betweenTurns(data) {
		return fmt.Errorf("report %s: %w", event.TypeOf(data), err)
	}
	before := s.events.Summary().Open.Mode
	relay, err := s.screening().Report(data)
	if err != nil {
		s.log().Warn("a report was refused", "type", event.TypeOf(data), "error", err)
		return fmt.Errorf("%w: %w", eventlog.ErrInvalid, err)
	}
	if relay == nil {
		return nil
	}
	switch d := relay.(type) {
	case event.TaskCompleted:
		err = s.endTaskLocked(d)
	case event.ToolExecutionComplete:
		err = s.endLocked(t, d, refused)
	default:
		err = s.events.Append(relay)
	}
	if err != nil {
		return fmt.Errorf("report %s: %w", event.TypeOf(data), err)
	}
	if d, ok := relay.(event.SessionModeChanged); ok {
		h.stopUnaskedLocked(d, before)
	}
	s.followLocked(t, relay)
	h.billLocked(t, relay)
	if t != nil {
		t.count(relay)
	}
	return nil
}

// followLocked keeps what later calls and the turn have to know of a report.
func (s *Session) followLocked(t *turn, relay event.Data) {
	switch d := relay.(type) {
	case event.TaskStarted: // the calls made for it run in a scope of its own
		s.scopes[d.TaskID] = s.newTurn(&prompt{})
		s.scopes[d.TaskID].started = true
	case event.ToolExecutionStart:
		if t != nil {
			t.acts = true
		}
	case event.ToolExecutionComplete:
		if t != nil {
			t.before.spoil()
		}
	}
}

// billLocked counts what calls of the model take.
func (h *host) billLocked(t *turn, relay event.Data) {
	s := h.s
	switch d := relay.(type) {
	case event.AssistantTurnStart:
		if s.bill.counting == agent.CountsSteps {
			u := s.bill.cut(s.events.Summary().Open)
			t.usage = t.usage.Plus(u)
			s.budget.spendLocked(u)
		}
		s.bill.begin(s.events.Summary().Open)
	case event.AssistantUsage:
		u := s.bill.reported(d, s.events.Summary().Open)
		if t == nil {
			s.unbilled = s.unbilled.Plus(u)
		} else {
			t.usage = t.usage.Plus(u)
		}
		s.budget.spendLocked(u)
		s.budget.spentLocked(t, h.intercept)
	case event.SessionCompactionComplete:
		s.bill.compacted()
	case event.SessionUsageInfo:
		s.bill.filled(d)
	case event.SessionError:
		// what a provider refuses takes nothing; what comes of the next try is reported
		if d.Kind == event.KindRetrying {
			s.bill.calling = false
		}
	case event.ToolExecutionComplete:
		if d.ParentToolCallID == "" {
			s.bill.completed(false)
		}
	}
}

// count keeps what the end of the turn has to know.
func (t *turn) count(d event.Data) {
	switch d := d.(type) {
	case event.SessionUsageInfo:
		t.fill = &event.Fill{TokenLimit: d.TokenLimit, CurrentTokens: d.CurrentTokens}
	case event.SessionError:
		t.reported[d.Message] = true
		if len(t.errs) < maxErrors {
			t.errs = append(t.errs, d)
		}
	}
}

// Keep implements [agent.Keeper]. That the call has an output is in its progress, which an agent's
// own never says.
func (h *host) Keep(ctx context.Context, w agent.Whole) (short string, err error) {
	k, ok := h.s.cfg.Outputs.(OutputKeeper)
	if !ok {
		return "", agent.ErrUnsupported
	}
	runs := func() error {
		begun := h.s.events.Open().Tool(w.ToolCallID)
		if h.gone || begun == nil || begun.Start.By != event.ByAgent || h.s.calls[w.ToolCallID] != nil {
			return fmt.Errorf("%w: no call %q of the agent's own runs", eventlog.ErrInvalid, w.ToolCallID)
		}
		return nil
	}
	if err := h.s.events.Change(ctx, runs); err != nil {
		return "", err
	}
	t, short, err := k.Keep(h.s.id, w)
	if err != nil || t.OutputID == "" {
		return "", err
	}
	d := event.ToolExecutionProgress{ToolCallID: w.ToolCallID, OutputID: t.OutputID,
		Bytes: t.Bytes, Lines: t.Lines, TokensShown: t.TokensShown, TokensSent: t.TokensSent,
		LeftOut: t.LeftOut}
	return short, h.s.events.Change(ctx, func() error {
		if err := runs(); err != nil {
			return err
		}
		return h.s.events.Append(d)
	})
}

// ownWork is a turn without a prompt: the agent begins it by itself, or the user has the agent do
// something with the conversation.
type ownWork struct {
	ctx     context.Context // of the agent's wait: a turn that has not started when it ends never does
	by      event.Actor
	cause   string
	work    func(context.Context, *liveConn) error
	done    chan struct{} // closed when the turn has ended, or never will begin
	started bool          // guarded by the session's mu
	err     error         // set before done is closed
}

func newOwnWork(ctx context.Context, by event.Actor, cause string,
	work func(context.Context, *liveConn) error) *prompt {
	cause = eventlog.Brief(strings.ToValidUTF8(cause, "\uFFFD"))
	return &prompt{own: &ownWork{
		ctx:   ctx,
		by:    by,
		cause: cause,
		work:  work,
		done:  make(chan struct{}),
	}}
}

// RunTurn implements [agent.Host].
func (h *host) RunTurn(ctx context.Context, cause string, work func(context.Context) error) error {
	s := h.s
	p := newOwnWork(ctx, event.ByAgent, cause, func(ctx context.Context, _ *liveConn) error {
		return work(ctx)
	})
	err := s.change(ctx, func() error {
		switch err := h.overLocked(); {
		case err != nil:
			return err
		case s.rewinding:
			return fmt.Errorf("the agent goes back to an earlier prompt: %w", ErrWorking)
		case s.turn == nil:
			s.enqueueLocked(p)
		default:
			s.queue = slices.Insert(s.queue, 0, p) // the agent already works on it
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("run a turn of the agent's own: %w", err)
	}
	select {
	case <-p.own.done:
	case <-ctx.Done():
		s.mu.Lock()
		begun := p.own.started
		s.mu.Unlock()
		if !begun {
			return context.Cause(ctx)
		}
		<-p.own.done
	}
	return p.own.err
}

// runOwnWork has the agent do its own work in a turn.
func (s *turns) runOwnWork(t *turn, own *ownWork) (err error) {
	conn := s.current()
	if own.by == event.ByUser {
		if err := s.forget(t.ctx, t); err != nil {
			return err
		}
		if conn, err = s.connect(t.ctx); err != nil {
			return err
		}
	}
	s.mu.Lock()
	own.started = own.ctx.Err() == nil && conn != nil
	begun := own.started
	s.mu.Unlock()
	if !begun {
		own.err = fmt.Errorf("the agent does not want to go on: %w", ErrNoTurn)
		return nil
	}
	return s.await(t, conn, func() error {
		own.err = own.work(t.ctx, conn)
		return own.err
	})
}

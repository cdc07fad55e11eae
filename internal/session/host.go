package session

import (
	"context"
	"errors"
	"fmt"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// maxErrors is how many errors of one turn hooks are told.
const maxErrors = 10

// host is what one conversation may ask of its session.
type host struct {
	s         *Session
	intercept agent.Intercept // how far hooks reach into the agent's calls
	gone      bool            // guarded by s.mu: the conversation is over
}

// end makes everything the conversation still asks for an error.
func (h *host) end() {
	h.s.mu.Lock()
	h.gone = true
	h.s.mu.Unlock()
}

// turnLocked returns the running turn, or why the conversation has none.
// What a helper in the background does, in the call parent, runs beside the turns.
func (h *host) turnLocked(parent string) (*turn, error) {
	task := h.s.events.Open.Helper(parent)
	switch t := h.s.turn; {
	case h.gone:
		return nil, fmt.Errorf("the conversation of session %s: %w", h.s.id, eventlog.ErrClosed)
	case task != nil && h.s.scopes[task.Start.TaskID] != nil:
		return h.s.scopes[task.Start.TaskID], nil
	case t == nil || !t.started || t.ended:
		return nil, fmt.Errorf("session %s: %w", h.s.id, ErrNoTurn)
	default:
		return t, nil
	}
}

// Report implements [agent.Host].
func (h *host) Report(ctx context.Context, data event.Data) error {
	if data == nil {
		return fmt.Errorf("%w: a report without data", eventlog.ErrInvalid)
	}
	if d, ok := data.(event.ToolExecutionComplete); ok {
		d.ResultTokens = resultTokens(d) // here, where no lock is held
		data = d
	}
	take := func() error { return h.reportLocked(data) }
	if err := h.s.events.Change(context.Background(), take); !errors.Is(err, eventlog.ErrLog) {
		return err
	}
	switch data.(type) {
	case event.TaskStarted, event.TaskCompleted:
		return h.s.events.Persist(h.s.ctx, take) // a task is beside the turns
	}
	return h.s.events.Persist(h.turnOver(), take)
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
func (h *host) reportLocked(data event.Data) error {
	s := h.s
	if h.gone {
		return fmt.Errorf("the conversation of session %s: %w", s.id, eventlog.ErrClosed)
	}
	t, err := h.turnLocked(s.events.Open.ParentOf(data))
	if err != nil && !BetweenTurns(data) {
		return fmt.Errorf("report %s: %w", event.TypeOf(data), err)
	}
	before := s.events.Summary().Open.Mode
	relay, err := s.stateLocked().Report(data)
	if err != nil {
		s.log().Warn("a report was refused", "type", event.TypeOf(data), "error", err)
		return fmt.Errorf("%w: %w", eventlog.ErrInvalid, err)
	}
	if relay == nil {
		return nil
	}
	if done, ends := relay.(event.TaskCompleted); ends {
		err = s.endTaskLocked(done)
	} else {
		err = s.events.Append(relay)
	}
	if err != nil {
		return fmt.Errorf("report %s: %w", event.TypeOf(data), err)
	}
	s.openScopeLocked(relay)
	if mode, ok := relay.(event.SessionModeChanged); ok {
		h.stopUnaskedLocked(mode, before)
	}
	if t != nil {
		t.count(relay)
	} else if u, ok := relay.(event.AssistantUsage); ok {
		s.unbilled = s.unbilled.Plus(usageOf(u))
	}
	return nil
}

// Keep implements [agent.Keeper]. That the call has an output its progress tells, which
// an agent's own never does.
func (h *host) Keep(ctx context.Context, w agent.Whole) (readers string, err error) {
	k, ok := h.s.cfg.Outputs.(OutputKeeper)
	if !ok {
		return "", agent.ErrUnsupported
	}
	runs := func() error {
		if begun := h.s.events.Open.Tool(w.ToolCallID); h.gone || begun == nil || begun.Start.By != event.ByAgent || h.s.calls[w.ToolCallID] != nil {
			return fmt.Errorf("%w: no call %q of the agent's own runs", eventlog.ErrInvalid, w.ToolCallID)
		}
		return nil
	}
	if err := h.s.events.Change(ctx, runs); err != nil {
		return "", err
	}
	size := int64(len(w.Data))
	outputID, readers, err := k.Keep(h.s.id, w)
	if err != nil {
		return "", err
	}
	return readers, h.s.events.Change(ctx, func() error {
		if err := runs(); err != nil {
			return err
		}
		return h.s.events.Append(event.ToolExecutionProgress{ToolCallID: w.ToolCallID, OutputID: outputID, Bytes: size})
	})
}

// count keeps what the end of the turn has to know.
func (t *turn) count(d event.Data) {
	switch d := d.(type) {
	case event.AssistantUsage:
		t.usage = t.usage.Plus(usageOf(d))
	case event.SessionUsageInfo:
		t.fill = &event.Fill{TokenLimit: d.TokenLimit, CurrentTokens: d.CurrentTokens}
	case event.SessionError:
		t.reported[d.Message] = true
		if len(t.errs) < maxErrors {
			t.errs = append(t.errs, d)
		}
	}
}

// stateLocked is what a report of the agent is screened by.
func (s *Session) stateLocked() Screening {
	sum := s.events.Summary()
	st := Screening{Work: &s.events.Open, Title: sum.Title, Model: sum.Model, Effort: sum.Open.Effort, Mode: sum.Open.Mode, Todos: sum.Open.Todos, Named: s.titleChosen, Now: s.events.Now(), Log: s.log(),
		Ours: func(toolCallID string) bool { return s.calls[toolCallID] != nil }}
	if s.turn != nil {
		st.Turn, st.Stopper = s.turn.id, stoppedBy(s.turn.ctx)
	}
	return st
}

package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// request is an open question: a permission's or an agent's to the user. It is
// guarded by the session's mu until done is closed.
type request struct {
	id      string
	ask     event.Data // permission.requested or user_input.requested
	perm    agent.Permission
	grants  []event.Grant   // what covers perm
	target  string          // where perm led when it was judged
	ctx     context.Context // of the act: when it has ended nobody can allow it
	byUser  bool            // the user's own act: it outlives turns
	settled bool
	done    chan struct{}
	verdict agent.Verdict
	answer  agent.Answer
}

// decided is a question that was settled.
type decided struct {
	id string
	by event.Decider
}

// AskPermission implements [agent.Host].
func (h *host) AskPermission(ctx context.Context, p agent.Permission) (agent.Verdict, error) {
	ctx, leave, err := h.inTurn(ctx)
	if err != nil {
		return agent.Verdict{}, fmt.Errorf("ask for permission: %w", err)
	}
	defer leave()
	return h.s.ask(ctx, p, event.ByAgent, h.beforeAsking)
}

// inTurn returns ctx ending with the running turn, too. The end of the turn waits
// until leave is called.
func (h *host) inTurn(ctx context.Context) (context.Context, func(), error) {
	s := h.s
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := h.turnLocked()
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
		s.mu.Lock()
		defer s.mu.Unlock()
		t.leaveLocked()
	}, nil
}

// ask decides about an act; before, if any, are hooks that come first. When it
// returns, the decision is durable, or it is an error, or a deny that the log could
// not take.
func (s *Session) ask(ctx context.Context, p agent.Permission, by event.Actor, before hookAsker) (agent.Verdict, error) {
	r, rule := s.judge(ctx, p, by)
	verdict, decided, err := s.decideFirst(ctx, r, rule, before)
	if err != nil {
		return denial(event.DecidedByAbort, stopReason(ctx)), nil
	}
	moved := s.moved(r)
	s.mu.Lock()
	if !decided {
		verdict, decided = s.grantedLocked(r)
	}
	if decided { // the user is not asked, but the log knows
		defer s.mu.Unlock()
		if verdict.Decision == event.Allow && moved {
			verdict = denial(event.DecidedByAbort, movedReason)
		}
		ask := r.ask.(event.PermissionRequested)
		ask.Grants = []event.Grant{} // there is nothing to choose
		if err := s.appendLocked(ask, completed(r.id, verdict)); err != nil {
			return agent.Verdict{}, err
		}
		s.rememberLocked(r.id, verdict.By)
		return verdict, nil
	}
	err = s.putLocked(r)
	s.mu.Unlock()
	if err != nil {
		return agent.Verdict{}, err
	}
	limit := time.NewTimer(s.m.cfg.PermissionTimeout)
	defer limit.Stop()
	select {
	case <-r.done:
	case <-limit.C:
		s.giveUp(r, event.DecidedByTimeout, fmt.Sprintf("Nobody answered within %v, which means no.", s.m.cfg.PermissionTimeout))
	case <-ctx.Done():
		s.giveUp(r, event.DecidedByAbort, stopReason(ctx))
	}
	return r.verdict, nil
}

// AskUser implements [agent.Host].
func (h *host) AskUser(ctx context.Context, q agent.Question) (agent.Answer, error) {
	ctx, leave, err := h.inTurn(ctx)
	if err != nil {
		return agent.Answer{}, fmt.Errorf("ask the user: %w", err)
	}
	defer leave()
	s := h.s
	r := &request{id: string(event.NewID()), ctx: ctx, done: make(chan struct{})}
	r.ask = event.UserInputRequested{RequestID: r.id, ToolCallID: q.ToolCallID, Question: q.Question, Choices: q.Choices,
		AllowFreeform: q.AllowFreeform || len(q.Choices) == 0}
	s.mu.Lock()
	err = s.putLocked(r)
	s.mu.Unlock()
	if err != nil {
		return agent.Answer{}, err
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		s.giveUp(r, event.DecidedByAbort, stopReason(ctx))
	}
	return r.answer, nil
}

// putLocked opens a request.
func (s *Session) putLocked(r *request) error {
	if err := s.appendLocked(r.ask); err != nil {
		return err
	}
	s.requests[r.id] = r
	return nil
}

// Answer answers an agent's question; errors as for Decide.
func (s *Session) Answer(ctx context.Context, requestID string, a Answer) error {
	return s.answer(ctx, requestID, func(r *request) (event.Data, error) {
		q, ok := r.ask.(event.UserInputRequested)
		if !ok {
			return nil, fmt.Errorf("%w: request %s is a permission, not a question", ErrInvalid, requestID)
		}
		chosen := slices.Contains(q.Choices, a.Text)
		switch {
		case strings.TrimSpace(a.Text) == "":
			return nil, fmt.Errorf("%w: the answer is empty", ErrInvalid)
		case !chosen && !q.AllowFreeform:
			return nil, fmt.Errorf("%w: the answer is none of the choices", ErrInvalid)
		}
		r.answer = agent.Answer{Text: a.Text, WasFreeform: !chosen, Answered: true}
		return event.UserInputCompleted{RequestID: r.id, Answer: a.Text, WasFreeform: !chosen, By: event.DecidedByUser}, nil
	})
}

// answer settles an open request as the user wants it.
func (s *Session) answer(ctx context.Context, requestID string, with func(*request) (event.Data, error)) error {
	s.mu.Lock()
	r := s.requests[requestID]
	if r == nil {
		s.mu.Unlock()
		return s.whyNot(ctx, requestID)
	}
	defer s.mu.Unlock()
	if r.ctx.Err() != nil { // it is about to be settled
		return fmt.Errorf("request %s: %w", requestID, ErrGone)
	}
	d, err := with(r)
	if err != nil {
		return err
	}
	if err := s.appendLocked(d); err != nil {
		r.verdict, r.answer = agent.Verdict{}, agent.Answer{}
		return err
	}
	s.settleLocked(r, cmp.Or(r.verdict.By, event.DecidedByUser))
	return nil
}

// whyNot says why a request is not open.
func (s *Session) whyNot(ctx context.Context, requestID string) error {
	s.mu.Lock()
	by, known := event.Decider(""), false
	for _, d := range s.decided {
		if d.id == requestID {
			by, known = d.by, true
		}
	}
	s.mu.Unlock()
	if !known { // of long ago or of an earlier process: the log knows
		err := s.scan(ctx, 0, func(e event.Entry) bool {
			switch d := e.Event.Data.(type) {
			case event.PermissionRequested, event.UserInputRequested:
				known = known || requestID == questionID(e.Event.Data)
			case event.PermissionCompleted:
				if d.RequestID == requestID {
					by = d.By
				}
			case event.UserInputCompleted:
				if d.RequestID == requestID {
					by = d.By
				}
			}
			return by == ""
		})
		if err != nil {
			return err
		}
	}
	switch {
	case !known:
		return fmt.Errorf("request %s: %w", requestID, ErrNotFound)
	case by == "" || by == event.DecidedByTimeout || by == event.DecidedByAbort:
		return fmt.Errorf("request %s: %w", requestID, ErrGone)
	}
	return fmt.Errorf("request %s: %w", requestID, ErrAnswered)
}

// giveUp settles a request nobody answered in time; too late it does nothing. If
// the log cannot take it, it means no all the same, and is logged when the turn ends.
func (s *Session) giveUp(r *request, by event.Decider, reason string) {
	d := refusal(r.ask, by, reason)
	once := func() error {
		if r.settled {
			return nil
		}
		err := s.appendLocked(d)
		if errors.Is(err, ErrLog) && r.byUser && s.ctx.Err() == nil {
			return err // no end of a turn will log it
		}
		if errors.Is(err, ErrLog) {
			s.unlogged = append(s.unlogged, d)
		}
		r.verdict = denial(by, reason)
		s.settleLocked(r, by)
		return nil
	}
	if err := s.persist(once); err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !r.settled {
		r.verdict = denial(by, reason)
		s.settleLocked(r, by)
	}
}

// abandonRequestsLocked settles what the end of a turn closed in the log.
func (s *Session) abandonRequestsLocked() {
	for _, r := range s.requests {
		if !r.byUser {
			r.verdict = denial(event.DecidedByAbort, reasons[event.Aborted])
			s.settleLocked(r, event.DecidedByAbort)
		}
	}
}

func (s *Session) settleLocked(r *request, by event.Decider) {
	r.settled = true
	delete(s.requests, r.id)
	s.rememberLocked(r.id, by)
	close(r.done)
}

func (s *Session) rememberLocked(requestID string, by event.Decider) {
	if s.decided = append(s.decided, decided{requestID, by}); len(s.decided) > 64 {
		s.decided = s.decided[1:]
	}
}

func completed(requestID string, v agent.Verdict) event.PermissionCompleted {
	return event.PermissionCompleted{RequestID: requestID, Decision: v.Decision, Scope: v.Scope, Grant: v.Grant, Reason: v.Reason, By: v.By}
}

func denial(by event.Decider, reason string) agent.Verdict {
	return agent.Verdict{Decision: event.Deny, Reason: reason, By: by}
}

func stopReason(ctx context.Context) string {
	return "Nobody answered. " + stopped(ctx)
}

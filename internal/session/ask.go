package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/fold"
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
	ctx, leave, err := h.inTurn(ctx, p.ToolCallID)
	if err != nil {
		return agent.Verdict{}, fmt.Errorf("ask for permission: %w", err)
	}
	defer leave()
	return h.s.ask(ctx, p, event.ByAgent, h.beforeAsking)
}

// inTurn returns ctx ending with the running turn, too, or with the task of the
// helper that made the call. The end of the turn waits until leave is called.
func (h *host) inTurn(ctx context.Context, toolCallID string) (context.Context, func(), error) {
	s := h.s
	s.mu.Lock()
	defer s.mu.Unlock()
	parent := ""
	if x := s.events.Open.Tool(toolCallID); x != nil {
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
		s.mu.Lock()
		defer s.mu.Unlock()
		t.leaveLocked()
	}, nil
}

// ask decides about an act; before, if any, are hooks that come first. When it
// returns, the decision is durable, or it is an error, or a deny because the turn
// ended before the log took it: then the end of the turn logs it.
func (s *Session) ask(ctx context.Context, p agent.Permission, by event.Actor, before hookAsker) (agent.Verdict, error) {
	r, rule := s.judge(ctx, p, by)
	verdict, decided, err := s.decideFirst(ctx, r, rule, before)
	if err != nil {
		return denial(event.DecidedByAbort, stopReason(ctx)), nil
	}
	asks := false
	err = s.put(r, func() error {
		moved := s.moved(r)
		return s.events.Change(context.Background(), func() error {
			ask := r.ask.(event.PermissionRequested)
			ask.ExpiresAt = event.Time(s.events.Now().Add(s.cfg.PermissionTimeout))
			r.ask = ask
			granted := false
			if !decided {
				verdict, granted = s.grantedLocked(r)
			}
			if asks = !decided && !granted; asks {
				return s.putLocked(r)
			}
			// The user is not asked, but the log knows.
			if verdict.Decision == event.Allow && moved {
				verdict = denial(event.DecidedByAbort, movedReason)
			}
			ask.Grants = []event.Grant{} // there is nothing to choose
			if err := s.events.Append(ask, completed(r.id, verdict)); err != nil {
				return err
			}
			s.rememberLocked(r.id, verdict.By)
			return nil
		})
	})
	switch {
	case err != nil:
		return agent.Verdict{}, err
	case !asks:
		return verdict, nil
	}
	limit := time.NewTimer(s.cfg.PermissionTimeout)
	defer limit.Stop()
	select {
	case <-r.done:
	case <-limit.C:
		s.giveUp(r, event.DecidedByTimeout, fmt.Sprintf("No answer within %v, so it was denied.", s.cfg.PermissionTimeout))
	case <-ctx.Done():
		s.giveUp(r, event.DecidedByAbort, stopReason(ctx))
	}
	return r.verdict, nil
}

// AskUser implements [agent.Host].
func (h *host) AskUser(ctx context.Context, q agent.Question) (agent.Answer, error) {
	ctx, leave, err := h.inTurn(ctx, q.ToolCallID)
	if err != nil {
		return agent.Answer{}, fmt.Errorf("ask the user: %w", err)
	}
	defer leave()
	s := h.s
	r := &request{id: string(event.NewID()), ctx: ctx, done: make(chan struct{})}
	r.ask = event.UserInputRequested{RequestID: r.id, ToolCallID: q.ToolCallID, Question: q.Question, Choices: q.Choices,
		AllowFreeform: q.AllowFreeform || len(q.Choices) == 0}
	ask := func() error { return s.events.Change(context.Background(), func() error { return s.putLocked(r) }) }
	if err := s.put(r, ask); err != nil {
		return agent.Answer{}, err
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		s.giveUp(r, event.DecidedByAbort, stopReason(ctx))
	}
	return r.answer, nil
}

// put calls f, which logs a request, until the log takes it: a turn waits for that,
// a display of the user's does not.
func (s *Session) put(r *request, f func() error) error {
	if r.byUser {
		return f()
	}
	return eventlog.Retry(r.ctx, f)
}

// putLocked opens a request.
func (s *Session) putLocked(r *request) error {
	if err := s.events.Append(r.ask); err != nil {
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
			return nil, fmt.Errorf("%w: request %s is a permission, not a question", eventlog.ErrInvalid, requestID)
		}
		chosen := slices.Contains(q.Choices, a.Text)
		switch {
		case strings.TrimSpace(a.Text) == "":
			return nil, fmt.Errorf("%w: the answer is empty", eventlog.ErrInvalid)
		case !chosen && !q.AllowFreeform:
			return nil, fmt.Errorf("%w: the answer is none of the choices", eventlog.ErrInvalid)
		}
		r.answer = agent.Answer{Text: a.Text, WasFreeform: !chosen, Answered: true}
		return event.UserInputCompleted{RequestID: r.id, Answer: a.Text, WasFreeform: !chosen, By: event.DecidedByUser}, nil
	})
}

// answer settles an open request as the user wants it.
func (s *Session) answer(ctx context.Context, requestID string, with func(*request) (event.Data, error)) error {
	open := true
	err := s.events.Change(ctx, func() error {
		r := s.requests[requestID]
		if open = r != nil; !open {
			return nil
		}
		if r.ctx.Err() != nil { // it is about to be settled
			return fmt.Errorf("request %s: %w", requestID, ErrGone)
		}
		d, err := with(r)
		if err != nil {
			return err
		}
		if err := s.events.Append(d); err != nil {
			r.verdict, r.answer = agent.Verdict{}, agent.Answer{}
			return err
		}
		s.settleLocked(r, cmp.Or(r.verdict.By, event.DecidedByUser))
		return nil
	})
	if !open {
		return s.whyNot(ctx, requestID)
	}
	return err
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
		err := s.events.Scan(ctx, 0, func(e event.Entry) bool {
			switch d := e.Event.Data.(type) {
			case event.PermissionRequested, event.UserInputRequested:
				known = known || requestID == fold.QuestionID(e.Event.Data)
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
		return fmt.Errorf("request %s: %w", requestID, eventlog.ErrNotFound)
	case by == "" || by == event.DecidedByTimeout || by == event.DecidedByAbort:
		return fmt.Errorf("request %s: %w", requestID, ErrGone)
	}
	return fmt.Errorf("request %s: %w", requestID, ErrAnswered)
}

// giveUp settles a request nobody answered in time; too late it does nothing. If
// the turn ends before the log takes that, it means no all the same, and the end of
// the turn logs it.
func (s *Session) giveUp(r *request, by event.Decider, reason string) {
	ctx := r.ctx
	if r.byUser { // no end of a turn logs it
		ctx = s.ctx
	}
	err := s.events.Persist(ctx, func() error {
		if r.settled {
			return nil
		}
		if err := s.events.Append(fold.Refusal(r.ask, by, reason)); err != nil {
			return err
		}
		r.verdict = denial(by, reason)
		s.settleLocked(r, by)
		return nil
	})
	if err == nil {
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
		if !r.byUser && s.events.Open.Request(r.id) == nil { // the log has its end
			r.verdict = denial(event.DecidedByAbort, fold.Reasons[event.Aborted])
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
	return event.PermissionCompleted{RequestID: requestID, Decision: v.Decision, Scope: v.Scope, Grant: v.Grant, Rule: v.Rule, Reason: v.Reason, By: v.By}
}

func denial(by event.Decider, reason string) agent.Verdict {
	return agent.Verdict{Decision: event.Deny, Reason: reason, By: by}
}

func stopReason(ctx context.Context) string {
	return "There was no answer. " + stopped(ctx)
}

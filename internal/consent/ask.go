package consent

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
)

// request is an open question: a permission's or an agent's to the user. It is
// guarded by Config.Lock until done is closed.
type request struct {
	id      string
	ask     event.Data // permission.requested or user_input.requested
	perm    agent.Permission
	parts   []part          // of perm, at least one
	grants  []event.Grant   // each covers all of perm that no rule allows
	ctx     context.Context // of the act: it cannot be allowed after this has ended
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

// Ask decides about an act; before, if any, are hooks that come first. When it
// returns, the decision is durable, or it is an error, or a deny because the turn
// ended before the log took it: then the end of the turn logs it.
func (q *Requests) Ask(ctx context.Context, p agent.Permission, by event.Actor, before HookAsker) (agent.Verdict, error) {
	r := q.newRequest(ctx, p, by)
	verdict, decided, err := q.decideWithoutUser(ctx, r, before)
	if err != nil {
		return Denial(event.DecidedByAbort, q.stopReason(ctx)), nil
	}
	asks := false
	err = q.logRequest(r, func() error {
		moved := q.targetMoved(r)
		return q.cfg.Log.Change(context.Background(), func() error {
			ask := r.ask.(event.PermissionRequested)
			ask.ExpiresAt = event.Time(q.cfg.Log.Now().Add(q.cfg.Timeout))
			r.ask = ask
			granted := false
			if !decided {
				verdict, granted = q.grantedLocked(r)
			}
			if asks = !decided && !granted; asks {
				return q.openLocked(r)
			}
			// The user is not asked, but the log knows.
			if verdict.Decision == event.Allow && moved {
				verdict = Denial(event.DecidedByAbort, movedReason)
			}
			ask.Grants = []event.Grant{} // there is nothing to choose
			if err := q.cfg.Log.Append(ask, completed(r.id, verdict)); err != nil {
				return err
			}
			q.recordLocked(r.id, verdict.By)
			return nil
		})
	})
	switch {
	case err != nil:
		return agent.Verdict{}, err
	case !asks:
		return verdict, nil
	}
	limit := time.NewTimer(q.cfg.Timeout)
	defer limit.Stop()
	select {
	case <-r.done:
	case <-limit.C:
		q.closeUnanswered(r, event.DecidedByTimeout, fmt.Sprintf("No answer within %v, so it was denied.", q.cfg.Timeout))
	case <-ctx.Done():
		q.closeUnanswered(r, event.DecidedByAbort, q.stopReason(ctx))
	}
	return r.verdict, nil
}

// Question puts an agent's question to the user. The end of ctx means no answer.
func (q *Requests) Question(ctx context.Context, a agent.Question) (agent.Answer, error) {
	r := &request{id: string(event.NewID()), ctx: ctx, done: make(chan struct{})}
	r.ask = event.UserInputRequested{RequestID: r.id, ToolCallID: a.ToolCallID, Question: a.Question, Detail: a.Detail, Choices: a.Choices,
		AllowFreeform: a.AllowFreeform || len(a.Choices) == 0}
	ask := func() error {
		return q.cfg.Log.Change(context.Background(), func() error { return q.openLocked(r) })
	}
	if err := q.logRequest(r, ask); err != nil {
		return agent.Answer{}, err
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		q.closeUnanswered(r, event.DecidedByAbort, q.stopReason(ctx))
	}
	return r.answer, nil
}

// logRequest calls f, which logs a request, until the log takes it: a turn waits for that,
// a display of the user's does not.
func (q *Requests) logRequest(r *request, f func() error) error {
	if r.byUser {
		return f()
	}
	return eventlog.Retry(r.ctx, f)
}

// openLocked opens a request.
func (q *Requests) openLocked(r *request) error {
	if err := q.cfg.Log.Append(r.ask); err != nil {
		return err
	}
	q.open[r.id] = r
	return nil
}

// Answer answers an agent's question; errors as for Decide.
func (q *Requests) Answer(ctx context.Context, requestID string, a Answer) error {
	return q.answer(ctx, requestID, func(r *request) (event.Data, error) {
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
func (q *Requests) answer(ctx context.Context, requestID string, with func(*request) (event.Data, error)) error {
	open := true
	err := q.cfg.Log.Change(ctx, func() error {
		r := q.open[requestID]
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
		if err := q.cfg.Log.Append(d); err != nil {
			r.verdict, r.answer = agent.Verdict{}, agent.Answer{}
			return err
		}
		q.settleLocked(r, cmp.Or(r.verdict.By, event.DecidedByUser))
		return nil
	})
	if !open {
		return q.closedError(ctx, requestID)
	}
	return err
}

// closedError says why a request is not open.
func (q *Requests) closedError(ctx context.Context, requestID string) error {
	q.cfg.Lock.Lock()
	by, known := event.Decider(""), false
	for _, d := range q.decided {
		if d.id == requestID {
			by, known = d.by, true
		}
	}
	q.cfg.Lock.Unlock()
	if !known { // of long ago or of an earlier process: the log knows
		err := q.cfg.Log.Scan(ctx, 0, func(e event.Entry) bool {
			switch d := e.Event.Data.(type) {
			case event.PermissionRequested, event.UserInputRequested:
				known = known || requestID == eventlog.QuestionID(e.Event.Data)
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

// closeUnanswered settles a request that was not answered in time; it does nothing to a settled one. If
// the turn ends before the log takes that, it means no all the same, and the end of
// the turn logs it.
func (q *Requests) closeUnanswered(r *request, by event.Decider, reason string) {
	ctx := r.ctx
	if r.byUser { // no end of a turn logs it
		ctx = q.cfg.Context
	}
	err := q.cfg.Log.Persist(ctx, func() error {
		if r.settled {
			return nil
		}
		if err := q.cfg.Log.Append(eventlog.Refusal(r.ask, by, reason)); err != nil {
			return err
		}
		r.verdict = Denial(by, reason)
		q.settleLocked(r, by)
		return nil
	})
	if err == nil {
		return
	}
	q.cfg.Lock.Lock()
	defer q.cfg.Lock.Unlock()
	if !r.settled {
		r.verdict = Denial(by, reason)
		q.settleLocked(r, by)
	}
}

// Abandon settles what the end of a turn closed in the log. The caller holds the
// session's lock.
func (q *Requests) Abandon() {
	for _, r := range q.open {
		if !r.byUser && q.cfg.Log.Open.Request(r.id) == nil { // the log has its end
			r.verdict = Denial(event.DecidedByAbort, eventlog.Reasons[event.Aborted])
			q.settleLocked(r, event.DecidedByAbort)
		}
	}
}

// Refusals are the ends of the questions of the turn: they cannot be answered
// once it is stopped. The caller holds the session's lock.
func (q *Requests) Refusals() (out []event.Data) {
	for _, e := range q.cfg.Log.Open.Requests { // in their order
		if r := q.open[eventlog.QuestionID(e.Event.Data)]; r != nil && !r.byUser && q.cfg.Log.Open.HelperOf(e.Event.Data) == nil {
			out = append(out, eventlog.Refusal(r.ask, event.DecidedByAbort, eventlog.Reasons[event.Aborted]))
		}
	}
	return out
}

func (q *Requests) settleLocked(r *request, by event.Decider) {
	r.settled = true
	delete(q.open, r.id)
	q.recordLocked(r.id, by)
	close(r.done)
}

func (q *Requests) recordLocked(requestID string, by event.Decider) {
	if q.decided = append(q.decided, decided{requestID, by}); len(q.decided) > 64 {
		q.decided = q.decided[1:]
	}
}

func completed(requestID string, v agent.Verdict) event.PermissionCompleted {
	return event.PermissionCompleted{RequestID: requestID, Decision: v.Decision, Scope: v.Scope, Grant: v.Grant, Rule: v.Rule, Reason: v.Reason, By: v.By}
}

func Denial(by event.Decider, reason string) agent.Verdict {
	return agent.Verdict{Decision: event.Deny, Reason: reason, By: by}
}

func (q *Requests) stopReason(ctx context.Context) string {
	return "There was no answer. " + q.cfg.Stopped(ctx)
}

package consent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/calls"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/wording"
)

// request is a question to the user: a permission's, or an agent's own.
type request struct {
	id     string
	ask    event.Data // permission.requested or user_input.requested
	perm   agent.Permission
	parts  []part          // of perm, at least one
	grants []event.Grant   // each covers all of perm that no rule allows
	ctx    context.Context // of the act: it cannot be allowed after this has ended
	byUser bool            // the user's own act: it outlives turns
	held   bool            // about what was made already: it outlives turns and processes

	done    chan struct{} // closed when outcome is set
	outcome outcome
}

// free reports whether neither rules nor grants say anything about the act: the user's own.
func (r *request) free() bool { return r.byUser && !r.perm.Page }

// outcome is how a request ends.
type outcome struct {
	verdict agent.Verdict
	answer  agent.Answer
}

// errUnanswered is the cause of a context that ended because the user took too long.
var errUnanswered = errors.New("the user did not answer in time")

// Ask decides about an act; before, if any, asks hooks that come first. When it returns, the
// decision is durable, or it is an error, or a deny because the turn ended before the log took it:
// then the end of the turn logs it.
func (q *Requests) Ask(ctx context.Context, p agent.Permission, by event.Actor,
	before func(context.Context, agent.Permission) (HookVerdict, error)) (verdict agent.Verdict,
	err error) {
	given := q.given()
	r := q.newRequest(ctx, p, by)
	all := q.show(r)
	defer func() { q.openShown(ctx, all, p, verdict, err == nil && verdict.Decision == event.Allow) }()
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
			return q.cfg.Log.Append(ask, completed(r.id, verdict))
		})
	})
	if err != nil || !asks {
		return verdict, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, q.cfg.Timeout, errUnanswered)
	defer cancel()
	return q.await(limited, r, given).verdict, nil
}

// Question puts an agent's question to the user. The end of ctx means no answer.
func (q *Requests) Question(ctx context.Context, a agent.Question) (agent.Answer, error) {
	r := &request{id: string(event.NewID()), ctx: ctx, done: make(chan struct{})}
	r.ask = event.UserInputRequested{RequestID: r.id, ToolCallID: a.ToolCallID,
		Question: a.Question, Detail: a.Detail, Choices: a.Choices,
		AllowFreeform: a.AllowFreeform || len(a.Choices) == 0}
	ask := func() error {
		return q.cfg.Log.Change(context.Background(), func() error { return q.openLocked(r) })
	}
	if err := q.logRequest(r, ask); err != nil {
		return agent.Answer{}, err
	}
	return q.await(ctx, r, nil).answer, nil
}

// logRequest calls f, which logs a request, until the log takes it: a turn waits for that, a
// display of the user's does not.
func (q *Requests) logRequest(r *request, f func() error) error {
	if r.byUser {
		return f()
	}
	return eventlog.Retry(r.ctx, f)
}

// openLocked opens a request, and logs what comes before it. It is called within Log.Change.
func (q *Requests) openLocked(r *request, before ...event.Data) error {
	q.mu.Lock()
	q.open[r.id] = r // before it is seen
	q.mu.Unlock()
	err := q.cfg.Log.Append(append(before, r.ask)...)
	if err != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.open, r.id)
	}
	return err
}

// get returns an open request; nil if there is none of that id.
func (q *Requests) get(requestID string) *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.open[requestID]
}

// settle ends a request, once.
func (q *Requests) settle(r *request, o outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open[r.id] == r {
		delete(q.open, r.id)
		r.outcome = o
		close(r.done)
	}
}

// await waits for the end of a request, which a grant for the workspace may be; given is closed
// with the next one. If ctx ends first, the answer is no. If the turn ends before the log takes
// that, the answer counts as no, and the end of the turn logs it.
func (q *Requests) await(ctx context.Context, r *request, given <-chan struct{}) outcome {
	for ctx.Err() == nil {
		select {
		case <-r.done:
			return r.outcome
		case <-given:
			if given = q.given(); r.mayBeGranted() {
				_ = q.answerIfCovered(r) // it stays open
			}
		case <-time.After(time.Second):
			q.given() // notices what another program was given
		case <-ctx.Done():
		}
	}
	by, reason := event.DecidedByAbort, q.stopReason(ctx)
	if errors.Is(context.Cause(ctx), errUnanswered) {
		by = event.DecidedByTimeout
		reason = "No answer within " + wording.Span(q.cfg.Timeout) + ", so it was denied."
	}
	wait := r.ctx
	if r.byUser { // no end of a turn logs it
		wait = q.cfg.Context
	}
	no := outcome{verdict: Denial(by, reason)}
	_ = q.cfg.Log.Persist(wait, func() error {
		if q.get(r.id) == nil { // it was answered meanwhile
			return nil
		}
		if err := q.cfg.Log.Append(eventlog.Refusal(r.ask, by, reason)); err != nil {
			return err
		}
		q.settle(r, no) // before another answer can be appended
		return nil
	})
	q.settle(r, no)
	return r.outcome
}

// Answer answers an agent's question; errors as for Decide.
func (q *Requests) Answer(ctx context.Context, requestID, text string) error {
	r := q.get(requestID)
	if r == nil {
		return q.closedError(ctx, requestID)
	}
	ask, ok := r.ask.(event.UserInputRequested)
	freeform := !slices.Contains(ask.Choices, text)
	switch {
	case !ok:
		return fmt.Errorf("%w: request %s is a permission, not a question", eventlog.ErrInvalid, r.id)
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%w: the answer is empty", eventlog.ErrInvalid)
	case freeform && !ask.AllowFreeform:
		return fmt.Errorf("%w: the answer is none of the choices", eventlog.ErrInvalid)
	}
	d := event.UserInputCompleted{
		RequestID:   r.id,
		Answer:      text,
		WasFreeform: freeform,
		By:          event.DecidedByUser,
	}
	return q.answer(ctx, r, d, outcome{answer: agent.Answer{
		Text:        text,
		WasFreeform: freeform,
		Answered:    true,
	}}, nil)
}

// Decide answers a permission request. The first answer wins and is durable when Decide returns
// nil. [ErrAnswered], [ErrGone] and [eventlog.ErrNotFound] are why a request can no longer be
// answered, [eventlog.ErrInvalid] what is wrong with the decision; after [eventlog.ErrLog] and
// [ErrKeep] the request is still open. Where an act can be allowed only once, a wider scope means
// once, and the log says so.
func (q *Requests) Decide(ctx context.Context, requestID string, d Decision) error {
	v, err := verdictOf(d)
	if err != nil {
		return err
	}
	r := q.get(requestID)
	if r == nil {
		return q.closedError(ctx, requestID)
	}
	given, err := grantOf(r, d)
	if err != nil {
		return err
	}
	moved := d.Decision == event.Allow && q.targetMoved(r)
	switch {
	case moved:
		v = Denial(event.DecidedByAbort, movedReason)
	case given != nil:
		v.Scope, v.Grant = given.Scope, given
	case r.perm.Kind == agent.KindHost && d.Decision == event.Allow:
		v.Scope = cmp.Or(d.Scope, event.Once)
	}
	var keeps *event.Grant
	if v.Scope == event.ForWorkspace {
		keeps = given
	}
	c := completed(r.id, v)
	if !moved {
		c.Reason = strings.TrimSpace(d.Reason)
	}
	if r.held {
		return q.decideHeld(ctx, r, c, outcome{verdict: v})
	}
	err = q.answer(ctx, r, c, outcome{verdict: v}, keeps)
	if err == nil && v.Grant != nil {
		q.answerCovered()
	}
	if err == nil && moved {
		return fmt.Errorf(
			"request %s: %w: the path leads elsewhere now than when it was asked about; nothing was done",
			requestID, ErrGone)
	}
	return err
}

// verdictOf returns what a decision comes to without its grant, or what is wrong with it.
func verdictOf(d Decision) (agent.Verdict, error) {
	v := agent.Verdict{
		Decision: d.Decision,
		Reason:   strings.TrimSpace(d.Reason),
		By:       event.DecidedByUser,
	}
	scopes := []event.Scope{"", event.Once, event.ForSession, event.ForWorkspace}
	switch {
	case d.Decision == event.Deny && d.Scope == "" && d.Grant == "":
		if v.Reason == "" {
			v.Reason = "The user said no."
		} else {
			v.Reason = "The user said no: " + v.Reason
		}
	case d.Decision == event.Allow && slices.Contains(scopes, d.Scope):
		v.Scope = event.Once
	default:
		return v, fmt.Errorf("%w: decide %q or %q; an allow may have a grant, and a scope: %q, %q or %q",
			eventlog.ErrInvalid,
			event.Allow, event.Deny, event.Once, event.ForSession, event.ForWorkspace)
	}
	return v, nil
}

// answer settles an open request as the user wants it, which d says to the log. A grant that it
// keeps for the workspace is kept before, and is taken back if the log does not take the answer;
// between the two nothing else is appended, so the grant answers no question before that, and an
// answer that came first keeps none.
func (q *Requests) answer(ctx context.Context, r *request, d event.Data, o outcome,
	keeps *event.Grant) error {
	open := true
	err := q.cfg.Log.Change(ctx, func() error {
		if open = q.get(r.id) != nil; !open {
			return nil
		}
		if r.ctx.Err() != nil { // it is about to be settled
			return fmt.Errorf("request %s: %w", r.id, ErrGone)
		}
		added := false
		if keeps != nil {
			if err := q.cfg.Log.Aside(func() (err error) {
				added, err = q.keep(*keeps)
				return err
			}); err != nil {
				return err
			}
		}
		if err := q.cfg.Log.Append(d); err != nil {
			if added {
				_, undo := q.cfg.Kept.TakeBack(keeps.ID)
				err = errors.Join(err, undo)
			}
			return err
		}
		q.settle(r, o)
		return nil
	})
	if !open {
		return q.closedError(ctx, r.id)
	}
	return err
}

// closedError says why a request is not open, as the log has it.
func (q *Requests) closedError(ctx context.Context, requestID string) error {
	var r calls.Request
	known := false
	err := q.cfg.Log.Index(ctx, func(x *calls.Index) { r, known = x.Request(requestID) })
	switch {
	case err != nil:
		return err
	case !known:
		return fmt.Errorf("request %s: %w", requestID, eventlog.ErrNotFound)
	case r.By == "" || r.By == event.DecidedByTimeout || r.By == event.DecidedByAbort:
		return fmt.Errorf("request %s: %w", requestID, ErrGone)
	}
	return fmt.Errorf("request %s: %w", requestID, ErrAnswered)
}

// ofTurn returns the open requests that end with the turn.
func (q *Requests) ofTurn() map[string]*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	of := map[string]*request{}
	for id, r := range q.open {
		if !r.byUser && !r.held {
			of[id] = r
		}
	}
	return of
}

// Abandon settles what the end of a turn closed in the log. The caller holds the session's lock.
func (q *Requests) Abandon() {
	for id, r := range q.ofTurn() {
		if q.cfg.Log.Open().Request(id) == nil { // the log has its end
			q.settle(r, outcome{verdict: Denial(event.DecidedByAbort, eventlog.Reasons[event.Aborted])})
		}
	}
}

// Refusals are the ends of the questions of the turn: they cannot be answered once it is stopped.
// The caller holds the session's lock.
func (q *Requests) Refusals() (out []event.Data) {
	of, open := q.ofTurn(), q.cfg.Log.Open()
	for _, e := range open.Requests { // in their order
		if r := of[eventlog.QuestionID(e.Event.Data)]; r != nil && open.HelperOf(e.Event.Data) == nil {
			out = append(out, eventlog.Refusal(r.ask, event.DecidedByAbort, eventlog.Reasons[event.Aborted]))
		}
	}
	return out
}

func completed(requestID string, v agent.Verdict) event.PermissionCompleted {
	return event.PermissionCompleted{RequestID: requestID, Decision: v.Decision, Scope: v.Scope,
		Grant: v.Grant, Rule: v.Rule, Reason: v.Reason, By: v.By}
}

// Denial is a no, with a reason a model can read.
func Denial(by event.Decider, reason string) agent.Verdict {
	return agent.Verdict{Decision: event.Deny, Reason: reason, By: by}
}

func (q *Requests) stopReason(ctx context.Context) string {
	return "There was no answer. " + q.cfg.Stopped(ctx)
}

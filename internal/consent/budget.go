package consent

import (
	"context"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Budget is the question about the budget of a session.
type Budget struct{ Requests *Requests }

// Ask asks whether a turn goes on past the budget of its session, which p says in words. No
// rule, hook or mode answers it. It logs that the budget is reached with the question.
func (b Budget) Ask(ctx context.Context, p agent.Permission,
	reached event.BudgetReached) (agent.Verdict, error) {
	q := b.Requests
	r := &request{
		id:    string(event.NewID()),
		ctx:   ctx,
		perm:  p,
		parts: []part{{Permission: p}},
		done:  make(chan struct{}),
	}
	err := q.logRequest(r, func() error {
		return q.cfg.Log.Change(context.Background(), func() error {
			r.ask = event.PermissionRequested{
				RequestID: r.id,
				ToolName:  p.ToolName,
				Kind:      string(p.Kind),
				Action:    p.Action,
				Resource:  p.Resource,
				Why:       p.Why,
				Digest:    digestOf(p),
				Grants:    []event.Grant{},
				ExpiresAt: event.Time(q.cfg.Log.Now().Add(q.cfg.Timeout)),
			}
			return q.openLocked(r, reached)
		})
	})
	if err != nil {
		return agent.Verdict{}, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, q.cfg.Timeout, errUnanswered)
	defer cancel()
	return q.await(limited, r, nil).verdict, nil
}

// GoOn answers the open question about the budget, if there is one, since the user gave the session
// a larger one.
func (b Budget) GoOn(ctx context.Context) error {
	q := b.Requests
	q.mu.Lock()
	var asked *request
	for _, r := range q.open {
		if r.perm.Kind == agent.KindBudget {
			asked = r
		}
	}
	q.mu.Unlock()
	if asked == nil {
		return nil
	}
	v := agent.Verdict{Decision: event.Allow, Scope: event.Once, By: event.DecidedByUser}
	return q.answer(ctx, asked, completed(asked.id, v), outcome{verdict: v}, nil)
}

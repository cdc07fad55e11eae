package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/wording"
)

// overBudget ends a turn that may not go on past a budget.
type overBudget struct {
	event.BudgetReached
	unasked string // the agent, if it asks nothing while it works; empty: the user was asked
}

func (e overBudget) Error() string {
	if e.unasked != "" {
		return fmt.Sprintf("%s was stopped at %s, after %s: it asks nothing while it works",
			wording.Capital(e.unasked), whose(e.Of), past(e.BudgetReached))
	}
	return "stopped at " + whose(e.Of) + ", after " + past(e.BudgetReached)
}

// whose names a budget.
func whose(of event.BudgetOf) string {
	if of == event.BudgetOfDay {
		return "the budget of today"
	}
	return "the budget of this session"
}

// past says how much of a budget is used.
func past(r event.BudgetReached) string {
	if r.Limit.Money > 0 {
		return "$" + strconv.FormatFloat(r.Used.Money, 'f', 2, 64) + " of $" +
			strconv.FormatFloat(r.Limit.Money, 'f', 2, 64)
	}
	return wording.Count(r.Used.Tokens) + " of " + wording.Count(r.Limit.Tokens) + " tokens"
}

// budget has turns wait for the user once their session took more than it may.
type budget struct {
	s      *core
	asking chan struct{} // holds one: one question at a time
}

// Budget is what the session may take: its own, or that of all sessions.
func (s *Session) Budget() event.Budget {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.budget.limitLocked()
}

func (b *budget) limitLocked() event.Budget {
	if own := b.s.events.Summary().Open.Budget; own != nil {
		return *own
	}
	return b.s.cfg.Budget
}

// stateLocked is the limit, and what was used of it, with turns that run.
func (b *budget) stateLocked(t *turn) (limit, used event.Budget) {
	s := b.s
	limit = b.limitLocked()
	sum := s.events.Summary()
	u := sum.Usage.Plus(s.unbilled)
	if s.turn != nil {
		u = u.Plus(s.turn.usage)
	}
	if t != nil && t != s.turn {
		u = u.Plus(t.usage) // of a helper
	}
	if limit.Money > 0 && s.cfg.Cost != nil {
		used.Money, _ = s.cfg.Cost(sum.Model, u)
	}
	if limit.Tokens > 0 {
		used.Tokens = u.InputTokens + u.OutputTokens
	}
	return limit, used
}

// spendLocked counts what calls of the model took.
func (b *budget) spendLocked(u event.Usage) {
	s := b.s
	if s.cfg.Day == nil {
		return
	}
	var dollars float64
	if s.cfg.Cost != nil {
		dollars, _ = s.cfg.Cost(s.events.Summary().Model, u)
	}
	s.cfg.Day.add(event.Budget{Tokens: u.InputTokens + u.OutputTokens, Money: dollars})
}

// overLocked reports whether a turn has to wait, and which budget is passed.
func (b *budget) overLocked(t *turn) (r event.BudgetReached, over bool) {
	if t == nil || t.goesOn {
		return r, false
	}
	if r.Limit, r.Used = b.stateLocked(t); r.Limit.Passed(r.Used) {
		return r, true
	}
	if b.s.cfg.Day == nil {
		return r, false
	}
	r.Of = event.BudgetOfDay
	r.Limit, r.Used = b.s.cfg.Day.state()
	return r, r.Limit.Passed(r.Used)
}

func (b *budget) over(t *turn) (r event.BudgetReached, over bool) {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	return b.overLocked(t)
}

// pause waits for the user if the session, or the day, is past its budget. After an error the turn
// is over.
func (b *budget) pause(ctx context.Context, t *turn) error {
	if _, over := b.over(t); !over {
		return nil
	}
	select {
	case b.asking <- struct{}{}:
		defer func() { <-b.asking }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	reached, over := b.over(t) // another call may have been answered
	if !over {
		return nil
	}
	v, err := consent.Budget{Requests: b.s.requests}.Ask(ctx, agent.Permission{
		ToolName: "budget",
		Kind:     agent.KindBudget,
		Action:   "go on past " + whose(reached.Of),
		Resource: past(reached),
		Why:      "It is passed.",
	}, reached)
	if err != nil {
		return err
	}
	if v.Decision == event.Allow {
		b.s.mu.Lock()
		defer b.s.mu.Unlock()
		if now, _ := b.overLocked(t); now.Of == reached.Of && now.Limit == reached.Limit {
			t.goesOn = true
		} // else the new one holds
		return nil
	}
	if ctx.Err() != nil && v.By == event.DecidedByAbort {
		return context.Cause(ctx) // the turn is stopped already
	}
	why := overBudget{BudgetReached: reached}
	t.stop(why)
	return why
}

// spentLocked stops the turn of an agent that asks nothing while it works, once it is past a
// budget.
func (b *budget) spentLocked(t *turn, asks agent.Intercept) {
	if asks != agent.InterceptNone || t == nil || t.ended {
		return
	}
	reached, over := b.overLocked(t)
	if !over {
		return
	}
	if err := b.s.events.Append(reached); err != nil {
		b.s.log().Warn("that a budget was reached was not logged", "error", err)
	}
	t.stop(overBudget{reached, b.s.events.Summary().Backend})
}

// SetBudget gives the session another budget; zero: none. A turn that waits goes on if that is
// enough. [eventlog.ErrInvalid] for one that is not in tokens or in money alone, or in money where
// the model's prices are not known.
func (s *Session) SetBudget(ctx context.Context, to event.Budget) error {
	if to.Tokens < 0 || to.Money < 0 || to.Money > maxCost || to.Tokens > 0 && to.Money > 0 {
		return fmt.Errorf("%w: a budget is a number of tokens, or of dollars; 0 is none",
			eventlog.ErrInvalid)
	}
	if to.Money > 0 {
		model, known := s.Summary().Model, false
		if s.cfg.Cost != nil {
			_, known = s.cfg.Cost(model, event.Usage{})
		}
		if !known {
			return fmt.Errorf(
				"%w: the prices of the model %q are not in config.yaml, so its budget has to be in tokens",
				eventlog.ErrInvalid, model)
		}
	}
	err := s.change(ctx, func() error {
		if own := s.events.Summary().Open.Budget; own != nil && *own == to {
			return nil
		}
		return s.events.Append(event.SessionBudgetChanged{Budget: to})
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	limit, used := s.budget.stateLocked(s.turn)
	s.mu.Unlock()
	if limit.Passed(used) {
		return nil
	}
	if err := (consent.Budget{Requests: s.requests}).GoOn(ctx); err != nil &&
		!errors.Is(err, eventlog.ErrClosed) {
		return fmt.Errorf("go on with the new budget: %w", err)
	}
	return nil
}

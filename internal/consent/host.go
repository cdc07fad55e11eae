package consent

import (
	"context"
	"errors"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// InsideAnswer is the answer to a question about what something confined does. As the cause of a
// cancelled context it is the answer given in another session.
type InsideAnswer struct {
	Allowed bool
	Scope   event.Scope   // of what is allowed
	By      event.Decider // empty: not answered in this session
}

// Error implements error.
func (InsideAnswer) Error() string {
	return "the question was answered in another session of the folder"
}

// AskHost asks whether what is confined may reach a host, and the private address that it leads to,
// if it does, and opens it as far as the answer says. What another session allows once is open for
// the calls of this one, too.
func (q *Requests) AskHost(ctx context.Context, host, address string) InsideAnswer {
	p := agent.Permission{ToolCallID: q.cfg.Opened.onlyCall(), ToolName: "sandbox",
		Kind: agent.KindHost, Action: "reach a host", Resource: host, Target: address}
	if address != "" {
		p.Why = "It is in a private network: " + address + "."
	}
	v, err := q.Ask(ctx, p, event.ByAgent, nil)
	switch {
	case err == nil && v.Decision == event.Allow:
		answer := InsideAnswer{Allowed: true, Scope: v.Scope, By: v.By}
		answer.Allowed = q.cfg.Opened.openHost(ctx, host, answer) == nil
		return answer
	case err == nil && v.By != event.DecidedByAbort:
		return InsideAnswer{By: v.By}
	}
	var other InsideAnswer
	if errors.As(context.Cause(ctx), &other) && other.Allowed && other.Scope == event.Once {
		_ = q.cfg.Opened.openHost(context.WithoutCancel(ctx), host, other) // it is asked about again
	}
	return InsideAnswer{}
}

// openHost opens a host as the answer allows, unless it is open.
func (o *Opened) openHost(ctx context.Context, host string, as InsideAnswer) error {
	isOpen := func(is eventlog.Opened) bool { return is.Kind == event.OpenHost && is.What == host }
	if slices.ContainsFunc(o.List(), isOpen) {
		return nil
	}
	_, err := o.begin(ctx, event.SandboxOpened{
		ID:    string(event.NewID()),
		Kind:  event.OpenHost,
		What:  host,
		Scope: as.Scope,
		By:    as.By,
	}, nil)
	return err
}

// onlyCall is the agent's call that runs; empty if there is none, or more than one.
func (o *Opened) onlyCall() (id string) {
	_ = o.log.Change(context.Background(), func() error { // it does not fail
		if calls, _ := o.runningLocked(); len(calls) == 1 {
			id = calls[0]
		}
		return nil
	})
	return id
}

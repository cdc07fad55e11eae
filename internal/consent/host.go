package consent

import (
	"context"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// AskHost asks whether what is confined may reach a host, and the private address that it leads to, if
// it does, and opens it as far as the answer says. by is empty while the question stands elsewhere.
func (q *Requests) AskHost(ctx context.Context, host, address string) (allowed bool, by event.Decider) {
	p := agent.Permission{ToolCallID: q.cfg.Opened.onlyCall(), ToolName: "sandbox", Kind: agent.KindHost, Action: "reach a host", Resource: host, Target: address}
	if address != "" {
		p.Why = "It is in a private network: " + address + "."
	}
	v, err := q.Ask(ctx, p, event.ByAgent, nil)
	switch {
	case err != nil || v.By == event.DecidedByAbort:
		return false, ""
	case v.Decision != event.Allow:
		return false, v.By
	}
	d := event.SandboxOpened{ID: string(event.NewID()), Kind: event.OpenHost, What: host, Scope: v.Scope, By: v.By}
	if slices.ContainsFunc(q.cfg.Opened.List(), func(is eventlog.Opened) bool { return is.Kind == d.Kind && is.What == host }) {
		return true, v.By
	}
	_, err = q.cfg.Opened.begin(ctx, d, nil)
	return err == nil, v.By
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

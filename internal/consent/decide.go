package consent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// movedReason is why an act is denied whose file is not the one that was judged.
const movedReason = "The path leads elsewhere now than when it was asked about. Nothing was done."

// part is one of the things an act is about, as it was judged.
type part struct {
	agent.Permission
	rule   agent.Ruling
	target string        // where it led then
	grants []event.Grant // what covers it
}

// allowed reports whether a rule allows the part.
func (p part) allowed() bool { return p.rule.Decision == event.Allow && !p.Sensitive }

// newRequest makes the request of an act, with where it leads, and what the policy says
// of each of its parts.
func (q *Requests) newRequest(ctx context.Context, p agent.Permission, by event.Actor) *request {
	r := &request{id: string(event.NewID()), ctx: ctx, byUser: by == event.ByUser, done: make(chan struct{})}
	for _, one := range p.Parts() {
		part := part{Permission: one}
		if policy := q.cfg.Policy; policy != nil {
			part.target = policy.Target(one)
			part.Target = cmp.Or(one.Target, part.target)
			if !r.byUser {
				part.rule = policy.Rule(ctx, part.Permission)
				part.Sensitive = one.Sensitive || part.rule.Sensitive
				part.grants = policy.Grants(part.Permission)
			}
		}
		p.Sensitive = p.Sensitive || part.Sensitive
		if rule := part.rule.Rule; rule != nil && rule.BuiltIn && part.rule.Decision == event.Deny {
			p.Diff = "" // of one of webchat's own secrets, which would be in the log
		}
		r.parts = append(r.parts, part)
	}
	p.Target, p.Also = r.parts[0].Target, slices.Clone(p.Also)
	for i := range p.Also {
		p.Also[i].Target = r.parts[i+1].Target
	}
	p.Digest = digestOf(p)
	r.perm, r.grants = p, commonGrants(r.parts)
	r.ask = event.PermissionRequested{RequestID: r.id, ToolCallID: p.ToolCallID, ToolName: p.ToolName, Kind: string(p.Kind),
		Action: p.Action, Resource: p.Resource, Target: p.Target, Resources: resources(p), Cwd: p.Cwd, Why: reasonToAsk(r.parts), Diff: p.Diff, Digest: p.Digest,
		Sensitive: p.Sensitive, Withheld: p.Withheld, Grants: append([]event.Grant{}, r.grants...),
		ExpiresAt: event.Time(q.cfg.Log.Now().Add(q.cfg.Timeout))}
	return r
}

// commonGrants returns the grants each of which covers all parts that no rule allows.
func commonGrants(parts []part) []event.Grant {
	parts = slices.DeleteFunc(slices.Clone(parts), part.allowed)
	if len(parts) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(parts[0].grants), func(g event.Grant) bool {
		return slices.ContainsFunc(parts[1:], func(p part) bool {
			return !slices.ContainsFunc(p.grants, func(other event.Grant) bool { return other.ID == g.ID })
		})
	})
}

// resources are the things an act is about, if they are several.
func resources(p agent.Permission) (all []event.Resource) {
	if len(p.Also) == 0 {
		return nil
	}
	for _, one := range p.Parts() {
		all = append(all, event.Resource{Kind: string(one.Kind), Action: one.Action, Resource: one.Resource, Target: one.Target})
	}
	return all
}

// targetMoved reports whether a file of a request is another one than was judged.
func (q *Requests) targetMoved(r *request) bool {
	return q.cfg.Policy != nil && slices.ContainsFunc(r.parts, func(p part) bool { return q.cfg.Policy.Target(p.Permission) != p.target })
}

// grantedLocked reports whether the user allowed the act before, for the session or
// for the workspace: each of its parts that no rule allows. The verdict names the first
// of the grants.
func (q *Requests) grantedLocked(r *request) (v agent.Verdict, granted bool) {
	if r.byUser || r.perm.Sensitive {
		return v, false
	}
	for _, p := range r.parts {
		if p.allowed() {
			continue
		}
		g := q.heldLocked(p.grants)
		if g == nil {
			return agent.Verdict{}, false
		}
		if v.Grant == nil {
			v = agent.Verdict{Decision: event.Allow, Scope: g.Scope, By: event.DecidedByGrant, Grant: g}
		}
	}
	return v, v.Grant != nil
}

// heldLocked returns the first of the grants that the user gave; nil: none.
func (q *Requests) heldLocked(grants []event.Grant) *event.Grant {
	given := q.cfg.Log.Summary().Open.Grants
	for _, g := range grants {
		held := slices.ContainsFunc(given, func(x eventlog.Given) bool { return x.ID == g.ID })
		g.Scope = event.ForSession
		if !held && q.cfg.Kept != nil {
			_, held = q.cfg.Kept.Held(g.ID)
			g.Scope = event.ForWorkspace
		}
		if held {
			return &g
		}
	}
	return nil
}

// Decide answers a permission request. The first answer wins and is durable when
// Decide returns nil. [ErrAnswered], [ErrGone] and [eventlog.ErrNotFound] say why a request
// cannot be answered any more, [eventlog.ErrInvalid] what is wrong with the decision; after
// [eventlog.ErrLog] and [ErrKeep] the request is still open. Where an act can be allowed only
// once, a wider scope means once, and the log says so.
func (q *Requests) Decide(ctx context.Context, requestID string, d Decision) error {
	v := agent.Verdict{Decision: d.Decision, Reason: strings.TrimSpace(d.Reason), By: event.DecidedByUser}
	switch {
	case d.Decision == event.Deny && d.Scope == "" && d.Grant == "":
		if v.Reason == "" {
			v.Reason = "The user said no."
		} else {
			v.Reason = "The user said no: " + v.Reason
		}
	case d.Decision == event.Allow && slices.Contains([]event.Scope{"", event.Once, event.ForSession, event.ForWorkspace}, d.Scope):
		v.Scope = event.Once
	default:
		return fmt.Errorf("%w: decide %q or %q; an allow may have a grant, and a scope: %q, %q or %q", eventlog.ErrInvalid,
			event.Allow, event.Deny, event.Once, event.ForSession, event.ForWorkspace)
	}
	q.cfg.Lock.Lock()
	asked := q.open[requestID]
	q.cfg.Lock.Unlock()
	moved := d.Decision == event.Allow && asked != nil && q.targetMoved(asked)
	kept := false
	err := q.answer(ctx, requestID, func(r *request) (event.Data, error) {
		given, err := grantOf(r, d)
		switch {
		case err != nil:
			return nil, err
		case moved:
			v = Denial(event.DecidedByAbort, movedReason)
		case given != nil:
			v.Scope, v.Grant = given.Scope, given
		}
		if v.Scope == event.ForWorkspace {
			if kept, err = q.keepLocked(*given); err != nil {
				return nil, err
			}
		}
		r.verdict = v
		c := completed(r.id, v)
		if v.By == event.DecidedByUser {
			c.Reason = strings.TrimSpace(d.Reason)
		}
		return c, nil
	})
	if err != nil && kept {
		_, undo := q.cfg.Kept.TakeBack(v.Grant.ID)
		err = errors.Join(err, undo)
	}
	if err == nil && moved {
		return fmt.Errorf("request %s: %w: the path leads elsewhere now than when it was asked about; nothing was done", requestID, ErrGone)
	}
	return err
}

// grantOf returns what a decision allows beyond the act, nil for nothing.
func grantOf(r *request, d Decision) (*event.Grant, error) {
	if _, ok := r.ask.(event.PermissionRequested); !ok {
		return nil, fmt.Errorf("%w: request %s is a question, not a permission", eventlog.ErrInvalid, r.id)
	}
	i := 0
	if d.Grant != "" {
		if i = slices.IndexFunc(r.grants, func(g event.Grant) bool { return g.ID == d.Grant }); i < 0 {
			return nil, fmt.Errorf("%w: request %s has no grant %q", eventlog.ErrInvalid, r.id, d.Grant)
		}
	}
	if d.Decision == event.Deny || d.Scope == "" || d.Scope == event.Once || len(r.grants) == 0 {
		return nil, nil
	}
	g := r.grants[i]
	g.Scope = d.Scope
	return &g, nil
}

// keepLocked makes a grant durable for the workspace, while s.mu is free.
func (q *Requests) keepLocked(g event.Grant) (added bool, err error) {
	if q.cfg.Kept == nil {
		return false, fmt.Errorf("%w: nothing can be allowed for the workspace here; allow it for the session", eventlog.ErrInvalid)
	}
	q.cfg.Lock.Unlock()
	added, err = q.cfg.Kept.Keep(g, string(q.cfg.Session), q.cfg.Log.Now())
	q.cfg.Lock.Lock()
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrKeep, err)
	}
	return added, nil
}

// Granted returns what the user allowed for the session, in the order it was given.
func (q *Requests) Granted() []eventlog.Given { return slices.Clone(q.cfg.Log.Summary().Open.Grants) }

// TakeBack ends a grant of the session at once; [eventlog.ErrNotFound] if it has none of that id.
func (q *Requests) TakeBack(grantID string) error {
	return q.cfg.Log.Change(context.Background(), func() error {
		if err := q.cfg.Usable(); err != nil {
			return err
		}
		for _, g := range q.cfg.Log.Summary().Open.Grants {
			if g.ID == grantID {
				return q.cfg.Log.Append(event.PermissionRevoked{Grant: g.Grant})
			}
		}
		return fmt.Errorf("grant %s: %w", grantID, eventlog.ErrNotFound)
	})
}

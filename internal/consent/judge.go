package consent

import (
	"cmp"
	"context"
	"encoding/json"
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

// newRequest makes the request of an act, with where it leads, and what the policy says of each of
// its parts.
func (q *Requests) newRequest(ctx context.Context, p agent.Permission, by event.Actor) *request {
	r := &request{
		id:     string(event.NewID()),
		ctx:    ctx,
		byUser: by == event.ByUser,
		done:   make(chan struct{}),
	}
	r.perm.Page = p.Page
	for _, asked := range p.Parts() {
		part := part{Permission: asked}
		if policy := q.cfg.Policy; policy != nil {
			part.target = policy.Target(asked)
			part.Target = cmp.Or(asked.Target, part.target)
			if !r.free() {
				part.rule = policy.Rule(ctx, part.Permission)
				part.Sensitive = asked.Sensitive || part.rule.Sensitive
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
	why := reasonToAsk(r.parts)
	if p.Says != "" {
		why = strings.TrimSpace(why + " It says: " + p.Says)
	}
	r.ask = event.PermissionRequested{
		RequestID:  r.id,
		ToolCallID: p.ToolCallID,
		ToolName:   p.ToolName,
		Kind:       string(p.Kind),
		Action:     p.Action,
		Resource:   p.Resource,
		Target:     p.Target,
		Resources:  resources(p),
		Cwd:        p.Cwd,
		Why:        why,
		Diff:       p.Diff,
		Digest:     p.Digest,
		Sensitive:  p.Sensitive,
		Secret:     secretOf(r.parts),
		Withheld:   p.Withheld,
		Grants:     append([]event.Grant{}, r.grants...),
	}
	if p.Page {
		ask := r.ask.(event.PermissionRequested)
		ask.Page = p.Server
		r.ask = ask
	}
	return r
}

// secretOf returns the first file of keys or passwords of an act; nil if none is known.
func secretOf(parts []part) *event.Secret {
	for _, p := range parts {
		if p.rule.Secret != nil {
			return p.rule.Secret
		}
	}
	return nil
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
	for _, part := range p.Parts() {
		all = append(all, event.Resource{
			Kind:     string(part.Kind),
			Action:   part.Action,
			Resource: part.Resource,
			Target:   part.Target,
		})
	}
	return all
}

// targetMoved reports whether a file of a request is another one than was judged.
func (q *Requests) targetMoved(r *request) bool {
	return q.cfg.Policy != nil && slices.ContainsFunc(r.parts, func(p part) bool {
		return q.cfg.Policy.Target(p.Permission) != p.target
	})
}

// PermissionFor returns what has to be asked before an action runs: what the action asks for, or an
// agent's action that a rule of the user's has something against. A user's own act needs to be
// asked about only when it is sensitive; nil if it may run.
func (q *Requests) PermissionFor(ctx context.Context, a agent.Action,
	by event.Actor) *agent.Permission {
	ask := a.Ask
	if ask == nil && by == event.ByAgent && a.About != nil && q.objects(ctx, *a.About) {
		ask = a.About
	}
	if ask == nil || by == event.ByUser && !ask.Sensitive && !ask.Page {
		return nil
	}
	return ask
}

// Needless reports whether an agent's act needs no permission and no rule has anything against it:
// neither is the user asked, nor is it logged.
func (q *Requests) Needless(ctx context.Context, p agent.Permission) bool {
	return p.Kind == agent.KindTool && !q.objects(ctx, p)
}

// objects reports whether a rule has something against an act that needs no permission.
func (q *Requests) objects(ctx context.Context, p agent.Permission) bool {
	if q.cfg.Policy == nil {
		return false
	}
	r := q.cfg.Policy.Rule(ctx, p)
	return r.Decision == event.Deny || r.Ask || r.Sensitive
}

// decideWithoutUser decides without the user: by hooks, by a rule or by the mode. The error is
// ctx's.
func (q *Requests) decideWithoutUser(ctx context.Context, r *request,
	before func(context.Context, agent.Permission) (HookVerdict, error)) (v agent.Verdict,
	decided bool, err error) {
	if before != nil {
		hooked, err := before(ctx, r.perm)
		if err != nil || !hooked.Allow {
			return Denial(event.DecidedByHook, hooked.Reason), true, err
		}
	}
	v, decided = q.decideByRuleOrMode(r)
	if decided && v.Decision == event.Deny {
		return v, true, nil
	}
	// A yes of these hooks changes nothing, a no also what a rule or the mode allows.
	hooked, err := q.cfg.Hook(ctx, HookCall{
		RequestID: r.id,
		Event:     PermissionRequested,
		Tool:      r.perm.ToolName,
		Arguments: Describe(r.perm),
	})
	if err != nil || !hooked.Allow {
		return Denial(event.DecidedByHook, hooked.Reason), true, err
	}
	return v, decided, nil
}

// decideByRuleOrMode decides by rules or by the mode: one denied part denies the act, and it is
// allowed only if all parts are. Only the user decides about the user's own act, and a sensitive
// one is never allowed without asking.
func (q *Requests) decideByRuleOrMode(r *request) (v agent.Verdict, decided bool) {
	if r.free() {
		return v, false
	}
	asks, open, held := false, r.perm.Sensitive, false
	for _, p := range r.parts {
		if p.rule.Decision == event.Deny {
			v := Denial(event.DecidedByRule, about(cmp.Or(p.rule.Reason,
				"One of the user's rules denies it."), r.parts, p))
			v.Rule = p.rule.Rule
			return v, true
		}
		asks, open, held = asks || p.rule.Ask, open || !p.allowed(), held || p.rule.Held
	}
	allow := agent.Verdict{Decision: event.Allow, Scope: event.Once, By: event.DecidedByMode}
	switch {
	case !open && !(held && q.cfg.Mode == ModeDeny):
		first := r.parts[0].rule
		allow.By, allow.Reason, allow.Rule = event.DecidedByRule, first.Reason, first.Rule
		return allow, true
	case asks:
		return v, false
	case q.cfg.Mode == ModeDeny:
		return Denial(event.DecidedByMode, "The user denies everything that needs a permission."), true
	case q.cfg.Mode == ModeAllow && !r.perm.Sensitive:
		return allow, true
	}
	return v, false
}

// grantedLocked reports whether the user allowed the act before, for the session or for the
// workspace: each of its parts that no rule allows. The verdict names the first of the grants.
func (q *Requests) grantedLocked(r *request) (v agent.Verdict, granted bool) {
	if r.free() || r.perm.Sensitive {
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

// heldLocked returns the first of the grants that the user gave; nil means none.
func (q *Requests) heldLocked(grants []event.Grant) *event.Grant {
	given := q.cfg.Log.Summary().Open.Grants
	for _, g := range grants {
		held := slices.ContainsFunc(given, func(x eventlog.Given) bool { return x.ID == g.ID })
		only := g.Scope
		g.Scope, g.Covers = event.ForSession, ""
		if !held && q.cfg.Kept != nil && only != event.ForSession {
			_, held = q.cfg.Kept.Held(g.ID)
			g.Scope = event.ForWorkspace
		}
		if held {
			return &g
		}
	}
	return nil
}

// grantOf returns what a decision allows beyond the act, nil for nothing.
func grantOf(r *request, d Decision) (*event.Grant, error) {
	if _, ok := r.ask.(event.PermissionRequested); !ok {
		return nil, fmt.Errorf("%w: request %s is a question, not a permission", eventlog.ErrInvalid,
			r.id)
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
	if d.Grant == "" && g.Scope != "" {
		return nil, nil // it covers more than this act, so it has to be named
	}
	if g.Scope != "" && g.Scope != d.Scope {
		return nil, fmt.Errorf("%w: %q can be allowed for the %s only", eventlog.ErrInvalid, g.Text,
			g.Scope)
	}
	g.Scope, g.Covers = d.Scope, ""
	return &g, nil
}

// keep makes a grant durable for the workspace. added is false if it was held already.
func (q *Requests) keep(g event.Grant) (added bool, err error) {
	if q.cfg.Kept == nil {
		return false,
			fmt.Errorf("%w: nothing can be allowed for the workspace here; allow it for the session",
				eventlog.ErrInvalid)
	}
	if added, err = q.cfg.Kept.Keep(g, string(q.cfg.Session), q.cfg.Log.Now()); err != nil {
		err = fmt.Errorf("%w: %w", ErrKeep, err)
	}
	return added, err
}

// TakeBack ends a grant of the session at once; [eventlog.ErrNotFound] if it has none of that id.
func (q *Requests) TakeBack(grantID string) error {
	return q.cfg.Log.Change(context.Background(), func() error {
		for _, g := range q.cfg.Log.Summary().Open.Grants {
			if g.ID == grantID {
				return q.cfg.Log.Append(event.PermissionRevoked{Grant: g.Grant})
			}
		}
		return fmt.Errorf("grant %s: %w", grantID, eventlog.ErrNotFound)
	})
}

// reasons are why the user is asked about a part, the strongest first; empty if there is none.
func (p part) reasons() (all [4]string) {
	switch {
	case p.Kind == agent.KindHost:
		all[0] = p.Why // the private address that it leads to
	case p.Sensitive:
		all[0] = cmp.Or(p.rule.Why, p.Why, "It may hold keys or passwords, so you are always asked.")
	}
	switch {
	case p.rule.Ask:
		all[1] = p.rule.Reason
	case p.rule.Decision == "":
		all[3] = p.rule.Reason
	}
	if p.CwdUnknown && len(p.grants) == 0 {
		all[2] = "The agent's shell may be in another folder by now, so nothing you allowed before " +
			"applies."
	}
	return all
}

// reasonToAsk is why the user is asked about an act; empty means nothing decides. A reason that is
// not that of all parts names those it is of.
func reasonToAsk(parts []part) string {
	for i := range parts[0].reasons() {
		why, of := "", []part{}
		for _, p := range parts {
			w := p.reasons()[i]
			if why = cmp.Or(why, w); w != "" && w == why {
				of = append(of, p)
			}
		}
		if why != "" {
			return about(why, parts, of...)
		}
	}
	return ""
}

// about begins a reason with the parts it is about, unless these are all.
func about(reason string, all []part, of ...part) string {
	switch {
	case len(of) == len(all):
		return reason
	case len(of) > 1:
		return fmt.Sprintf("%s and %d more: %s", of[0].Resource, len(of)-1, reason)
	}
	return of[0].Resource + ": " + reason
}

// digestOf is what a decision is bound to: what the agent gave for the act, if it did, and all the
// act is about.
func digestOf(p agent.Permission) string {
	if p.Digest == "" {
		p.Digest = agent.Digest(p.ToolName, string(p.Kind), p.Action, p.Resource, p.Target, p.Cwd, p.Diff)
	}
	if len(p.Also) == 0 {
		return p.Digest
	}
	parts := []string{p.Digest}
	for _, r := range p.Parts() {
		parts = append(parts, string(r.Kind), r.Action, r.Resource, r.Target)
	}
	return agent.Digest(parts...)
}

// Describe is what a permission is about, as hooks read it.
func Describe(p agent.Permission) json.RawMessage {
	b, err := json.Marshal(struct {
		Kind      agent.Kind       `json:"kind"`
		Action    string           `json:"action"`
		Resource  string           `json:"resource"`
		Target    string           `json:"target,omitempty"` // where links lead
		Cwd       string           `json:"cwd,omitempty"`
		Diff      string           `json:"diff,omitempty"`
		Resources []event.Resource `json:"resources,omitempty"` // all of them, where there are several
	}{p.Kind, p.Action, p.Resource, p.Target, p.Cwd, p.Diff, resources(p)})
	if err != nil {
		return nil
	}
	return b
}

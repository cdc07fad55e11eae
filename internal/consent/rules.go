package consent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// HookAsker asks hooks about an act.
type HookAsker func(context.Context, agent.Permission) (HookVerdict, error)

// decideWithoutUser decides without the user: by hooks, by a rule or by the mode. The
// error is ctx's.
func (q *Requests) decideWithoutUser(ctx context.Context, r *request, before HookAsker) (v agent.Verdict, decided bool, err error) {
	if before != nil {
		said, err := before(ctx, r.perm)
		if err != nil || !said.Allow {
			return Denial(event.DecidedByHook, said.Reason), true, err
		}
	}
	v, decided = q.decideByRuleOrMode(r)
	if decided && v.Decision == event.Deny {
		return v, true, nil
	}
	// A yes of these hooks changes nothing, a no also what a rule or the mode allows.
	said, err := q.cfg.Hook(ctx, HookCall{RequestID: r.id, Event: PermissionRequested, Tool: r.perm.ToolName, Arguments: Describe(r.perm)})
	if err != nil || !said.Allow {
		return Denial(event.DecidedByHook, said.Reason), true, err
	}
	return v, decided, nil
}

// decideByRuleOrMode decides by rules or by the mode: one denied part denies the act,
// and it is allowed only if all parts are. Only the user decides about the user's own act,
// and a sensitive one is never allowed without asking.
func (q *Requests) decideByRuleOrMode(r *request) (v agent.Verdict, decided bool) {
	if r.byUser {
		return v, false
	}
	asks, open := false, r.perm.Sensitive
	for _, p := range r.parts {
		if p.rule.Decision == event.Deny {
			v := Denial(event.DecidedByRule, about(cmp.Or(p.rule.Reason, "A rule of the user denies it."), r.parts, p))
			v.Rule = p.rule.Rule
			return v, true
		}
		asks, open = asks || p.rule.Ask, open || !p.allowed()
	}
	mode, first := q.cfg.Mode, r.parts[0].rule
	switch {
	case !open:
		return agent.Verdict{Decision: event.Allow, Scope: event.Once, Reason: first.Reason, By: event.DecidedByRule, Rule: first.Rule}, true
	case asks:
		return v, false
	case mode == ModeDeny:
		return Denial(event.DecidedByMode, "The user lets agents do nothing that has to be asked for."), true
	case mode == ModeAllow && !r.perm.Sensitive:
		return agent.Verdict{Decision: event.Allow, Scope: event.Once, By: event.DecidedByMode}, true
	}
	return v, false
}

// reasonToAsk says to the user why an act is asked about; empty: nothing decides. A
// reason that is not that of all parts names those it is of.
func reasonToAsk(parts []part) string {
	for _, reason := range []func(part) string{whySensitive, whyAsked, whyUnknown} {
		why, of := "", []part{}
		for _, p := range parts {
			w := reason(p)
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

func whySensitive(p part) string {
	if !p.Sensitive {
		return ""
	}
	return cmp.Or(p.rule.Why, p.Why, "It may hold keys or passwords, which is always asked.")
}

func whyAsked(p part) string {
	if !p.rule.Ask {
		return ""
	}
	return p.rule.Reason
}

func whyUnknown(p part) string {
	if !p.CwdUnknown {
		return ""
	}
	return "The agent's shell may be in another folder by now, so that nothing allowed before counts."
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

// digestOf is what a decision is bound to: what the agent gave for the act, if it did, and
// all the act is about.
func digestOf(p agent.Permission) string {
	if p.Digest == "" {
		p.Digest = Digest(p.ToolName, string(p.Kind), p.Action, p.Resource, p.Target, p.Cwd, p.Diff)
	}
	if len(p.Also) == 0 {
		return p.Digest
	}
	parts := []string{p.Digest}
	for _, r := range p.Parts() {
		parts = append(parts, string(r.Kind), r.Action, r.Resource, r.Target)
	}
	return Digest(parts...)
}

// Digest is the SHA-256 of the parts, each with its length.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Describe is what a permission is about, as hooks read it.
func Describe(p agent.Permission) json.RawMessage {
	b, err := json.Marshal(struct {
		Kind     agent.Kind `json:"kind"`
		Action   string     `json:"action"`
		Resource string     `json:"resource"`
		Target   string     `json:"target,omitempty"` // where links lead
		Cwd      string     `json:"cwd,omitempty"`
		Diff     string     `json:"diff,omitempty"`
		// all it is about, where that is more than one thing
		Resources []event.Resource `json:"resources,omitempty"`
	}{p.Kind, p.Action, p.Resource, p.Target, p.Cwd, p.Diff, resources(p)})
	if err != nil {
		return nil
	}
	return b
}

// PermissionFor returns what has to be asked before an action runs: what the action asks for,
// or an agent's action that a rule of the user's has something against. A user's own
// act needs to be asked about only when it is sensitive; nil: it may run.
func (q *Requests) PermissionFor(ctx context.Context, a agent.Action, by event.Actor) *agent.Permission {
	ask := a.Ask
	if ask == nil && by == event.ByAgent && a.About != nil && q.cfg.Policy != nil {
		if r := q.cfg.Policy.Rule(ctx, *a.About); r.Decision == event.Deny || r.Ask || r.Sensitive {
			ask = a.About
		}
	}
	if ask == nil || by == event.ByUser && !ask.Sensitive {
		return nil
	}
	return ask
}

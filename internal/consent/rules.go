package consent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/hooks"
)

// HookAsker asks hooks about an act.
type HookAsker func(context.Context, agent.Permission) (hooks.Verdict, error)

// decideWithoutUser decides without the user: by hooks, by a rule or by the mode. The
// error is ctx's.
func (q *Requests) decideWithoutUser(ctx context.Context, r *request, rule agent.Ruling, before HookAsker) (v agent.Verdict, decided bool, err error) {
	if before != nil {
		said, err := before(ctx, r.perm)
		if err != nil || !said.Allow {
			return Denial(event.DecidedByHook, said.Reason), true, err
		}
	}
	v, decided = q.decideByRuleOrMode(r, rule)
	if decided && v.Decision == event.Deny {
		return v, true, nil
	}
	// A yes of these hooks changes nothing, a no also what a rule or the mode allows.
	said, err := q.cfg.Hook(ctx, hooks.Call{RequestID: r.id, Event: hooks.PermissionRequested, Tool: r.perm.ToolName, Arguments: Describe(r.perm)})
	if err != nil || !said.Allow {
		return Denial(event.DecidedByHook, said.Reason), true, err
	}
	return v, decided, nil
}

// decideByRuleOrMode decides by a rule or by the mode. Only the user decides about the
// user's own act, and a sensitive one is never allowed without asking.
func (q *Requests) decideByRuleOrMode(r *request, rule agent.Ruling) (v agent.Verdict, decided bool) {
	mode := q.cfg.Mode
	switch {
	case r.byUser:
		return v, false
	case rule.Decision == event.Deny:
		if rule.Reason == "" {
			rule.Reason = "A rule of the user denies it."
		}
		v := Denial(event.DecidedByRule, rule.Reason)
		v.Rule = rule.Rule
		return v, true
	case rule.Decision == event.Allow && !r.perm.Sensitive:
		return agent.Verdict{Decision: event.Allow, Scope: event.Once, Reason: rule.Reason, By: event.DecidedByRule, Rule: rule.Rule}, true
	case rule.Ask:
		return v, false
	case mode == ModeDeny:
		return Denial(event.DecidedByMode, "The user lets agents do nothing that has to be asked for."), true
	case mode == ModeAllow && !r.perm.Sensitive:
		return agent.Verdict{Decision: event.Allow, Scope: event.Once, By: event.DecidedByMode}, true
	}
	return v, false
}

// reasonToAsk says to the user why an act is asked about; empty: nothing decides.
func reasonToAsk(p agent.Permission, rule agent.Ruling) string {
	switch {
	case p.Sensitive:
		return cmp.Or(rule.Why, "It may hold keys or passwords, which is always asked.")
	case rule.Ask:
		return rule.Reason
	case p.CwdUnknown:
		return "The agent's shell may be in another folder by now, so that nothing allowed before counts."
	}
	return ""
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
	}{p.Kind, p.Action, p.Resource, p.Target, p.Cwd, p.Diff})
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

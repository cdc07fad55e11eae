package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/hooks"
)

// hookAsker asks hooks about an act.
type hookAsker func(context.Context, agent.Permission) (hooks.Verdict, error)

// decideFirst decides what needs nobody: by hooks, by a rule or by the mode. The
// error is ctx's.
func (s *Session) decideFirst(ctx context.Context, r *request, rule agent.Ruling, before hookAsker) (v agent.Verdict, decided bool, err error) {
	if before != nil {
		said, err := before(ctx, r.perm)
		if err != nil || !said.Allow {
			return denial(event.DecidedByHook, said.Reason), true, err
		}
	}
	v, decided = s.decideAlone(r, rule)
	if decided && v.Decision == event.Deny {
		return v, true, nil
	}
	// A yes of these hooks changes nothing, a no also what a rule or the mode allows.
	said, err := s.hook(ctx, hooks.Call{RequestID: r.id, Event: hooks.PermissionRequested, Tool: r.perm.ToolName, Arguments: actOf(r.perm)})
	if err != nil || !said.Allow {
		return denial(event.DecidedByHook, said.Reason), true, err
	}
	return v, decided, nil
}

// decideAlone decides by a rule or by the mode. A user's own act is nobody's to
// decide but the user's, and a sensitive one is never allowed without asking.
func (s *Session) decideAlone(r *request, rule agent.Ruling) (v agent.Verdict, decided bool) {
	mode := s.cfg.Permissions
	switch {
	case r.byUser:
		return v, false
	case rule.Decision == event.Deny:
		if rule.Reason == "" {
			rule.Reason = "A rule of the user denies it."
		}
		v := denial(event.DecidedByRule, rule.Reason)
		v.Rule = rule.Rule
		return v, true
	case rule.Decision == event.Allow && !r.perm.Sensitive:
		return agent.Verdict{Decision: event.Allow, Scope: event.Once, Reason: rule.Reason, By: event.DecidedByRule, Rule: rule.Rule}, true
	case rule.Ask:
		return v, false
	case mode == ModeDeny:
		return denial(event.DecidedByMode, "The user lets agents do nothing that has to be asked for."), true
	case mode == ModeAllow && !r.perm.Sensitive:
		return agent.Verdict{Decision: event.Allow, Scope: event.Once, By: event.DecidedByMode}, true
	}
	return v, false
}

// whyAsked says to the user why an act is asked about; empty: nothing decides.
func whyAsked(p agent.Permission, rule agent.Ruling) string {
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

// digest is the SHA-256 of the parts, each with its length.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
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
	mode := s.m.cfg.Permissions
	switch {
	case r.byUser:
		return v, false
	case rule.Decision == event.Deny:
		if rule.Reason == "" {
			rule.Reason = "A rule of the user denies it."
		}
		return denial(event.DecidedByRule, rule.Reason), true
	case rule.Decision == event.Allow && !r.perm.Sensitive:
		return agent.Verdict{Decision: event.Allow, Scope: event.Once, Reason: rule.Reason, By: event.DecidedByRule}, true
	case rule.Ask:
		return v, false
	case mode == ModeDeny:
		return denial(event.DecidedByMode, "The user lets agents do nothing that has to be asked for."), true
	case mode == ModeAllow && !r.perm.Sensitive:
		return agent.Verdict{Decision: event.Allow, Scope: event.Once, By: event.DecidedByMode}, true
	}
	return v, false
}

// grantedLocked reports what was allowed for the session.
func (s *Session) grantedLocked(p agent.Permission) (v agent.Verdict, granted bool) {
	if _, granted = s.grants[grantKey(p)]; !granted || p.Sensitive {
		return v, false
	}
	return agent.Verdict{Decision: event.Allow, Scope: event.ForSession, By: event.DecidedByUser}, true
}

// whyAsked says to the user why an act is asked about; empty: nothing decides.
func whyAsked(p agent.Permission, rule agent.Ruling) string {
	switch {
	case p.Sensitive:
		return "It may hold keys or passwords, which is always asked."
	case rule.Ask:
		return rule.Reason
	}
	return ""
}

// Granted returns what the user allowed for the session, until the program ends.
func (s *Session) Granted() []agent.Permission {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.grants), func(a, b agent.Permission) int {
		return cmp.Or(cmp.Compare(a.ToolName, b.ToolName), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Cwd, b.Cwd))
	})
}

// grantKey is what an allow for the session is bound to: the exact tool, resource
// and folder, never a part of them.
func grantKey(p agent.Permission) string {
	return digest(p.ToolName, string(p.Kind), p.Resource, p.Cwd)
}

// digest is the SHA-256 of the parts, each with its length.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

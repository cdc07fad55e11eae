package page

import (
	"html/template"
	"strconv"

	"webchat/internal/event"
	"webchat/internal/render"
	"webchat/internal/wording"
)

// Verdict is the answer, as the row begins: who decided, and how.
func (a *Ask) Verdict() string {
	allowed := a.Decision == event.Allow
	word := "Denied"
	if allowed {
		word = "Allowed"
	}
	switch a.By {
	case event.DecidedByUser:
		switch {
		case !allowed:
			return "Denied by you"
		case a.Scope == event.ForWorkspace:
			return "Allowed by you, in this workspace from now on"
		case a.Scope == event.ForSession:
			return "Allowed by you, in this session from now on"
		}
		return "Allowed once by you"
	case event.DecidedByGrant:
		return word + " by your grant"
	case event.DecidedByRule:
		switch r := a.Rule; {
		case r != nil && r.BuiltIn:
			return word + " by the built-in rule"
		case r != nil && r.Number > 0:
			return word + " by rule " + strconv.Itoa(r.Number) + " of your configuration"
		}
		return word + " by a rule"
	case event.DecidedByHook:
		return word + " by your hook"
	case event.DecidedByMode:
		return word + " without asking"
	case event.DecidedByAbort:
		return "Not answered"
	}
	return word
}

// Outcome is the answer without who gave it, for one that came too late.
func (a *Ask) Outcome() string {
	switch {
	case !a.IsPermission() && a.Cancelled, a.By == event.DecidedByAbort:
		return "not answered"
	case !a.IsPermission():
		return "answered"
	case a.Decision != event.Allow:
		return "denied"
	case a.Scope == event.ForWorkspace:
		return "allowed in this workspace from now on"
	case a.Scope == event.ForSession:
		return "allowed in this session from now on"
	}
	return "allowed once"
}

// Covers is what the grant or the rule behind the decision covers, in words.
func (a *Ask) Covers() template.HTML {
	switch {
	case a.Grant != nil:
		return render.Quoted(a.Grant.Text)
	case a.Rule != nil:
		return render.Quoted(a.Rule.Covers)
	}
	return ""
}

// Because is the reason behind a refusal.
func (a *Ask) Because() string {
	switch {
	case a.Decision == event.Allow:
		return ""
	case a.By == event.DecidedByTimeout:
		return "no answer within " + wording.Span(a.Expires.Sub(a.Asked))
	case a.By == event.DecidedByAbort:
		return "the turn was stopped"
	}
	return a.Reason
}

// Icon is the mark of the row.
func (a *Ask) Icon() string {
	switch {
	case a.Open():
		return "shield"
	case !a.IsPermission() && !a.Cancelled, a.Decision == event.Allow:
		return "check"
	}
	return "x"
}

// AllowedByRule reports a decision that needs no row of its own: a rule allowed it, and the
// row of its call says so.
func (a *Ask) AllowedByRule() bool { return a.By == event.DecidedByRule && a.Decision == event.Allow }

package server

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/page"
	"webchat/internal/policy"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

// Consent is what the user's configuration says about what agents may do. The server only shows it.
type Consent struct {
	Mode    consent.Mode
	Timeout time.Duration // how long a question waits
	Rules   []Rule        // in their order
	Hooks   []Hook
}

// Rule is a permission rule as clients see it.
type Rule struct {
	policy.Rule
	Builtin bool `json:"builtin,omitempty"` // it is webchat's own, behind the user's
	// what of its kind it is about, where no other field says so
	Covers string `json:"covers,omitempty"`
}

// Hook is a hook as clients see it.
type Hook struct {
	Event      string `json:"event"`
	Matcher    string `json:"matcher,omitempty"`
	Command    string `json:"command"`
	Timeout    string `json:"timeout"`
	BestEffort bool   `json:"bestEffort"`
}

// grantShape is something the user allowed beyond one act.
type grantShape struct {
	ID        string      `json:"id"`
	Text      string      `json:"text"`
	Scope     event.Scope `json:"scope"`
	Workspace string      `json:"workspace"`
	Session   eventlog.ID `json:"session"` // in which it was given
	At        event.Time  `json:"at"`
}

type permissionList struct {
	Mode    consent.Mode `json:"mode"`
	Timeout string       `json:"timeout"`
	Rules   []Rule       `json:"rules"`
	Grants  []grantShape `json:"grants"` // of the session that was asked about, and of workspaces
}

type hookList struct {
	Hooks []Hook `json:"hooks"`
}

// consents shows what agents may do, and takes back what was allowed.
type consents struct {
	terms    Consent
	sessions *sessions.Manager
	kept     *policy.Kept // nil: nothing is allowed for a workspace
	pages    *page.Pages
}

func (c *consents) list(r *http.Request, _ empty) (permissionList, error) {
	grants, err := c.grants(r)
	return permissionList{c.terms.Mode, c.terms.Timeout.String(), listed(c.terms.Rules), grants},
		err
}

// takeBack ends a grant wherever it holds: in the session of ?session=, and in its workspace.
func (c *consents) takeBack(r *http.Request, _ empty) (empty, error) {
	id, known := chi.URLParam(r, "grantId"), false
	if in := r.URL.Query().Get("session"); in != "" {
		sess, err := c.sessions.Get(r.Context(), eventlog.ID(in))
		if err != nil {
			return empty{}, err
		}
		err = sess.TakeBack(id)
		if known = err == nil; !known && !errors.Is(err, eventlog.ErrNotFound) {
			return empty{}, err
		}
	}
	if c.kept != nil {
		kept, err := c.kept.TakeBack(sessions.UserOf(r.Context()), id)
		if err != nil {
			return empty{}, fmt.Errorf("%w: %w", consent.ErrKeep, err)
		}
		known = known || kept
	}
	if !known {
		return empty{}, fmt.Errorf("grant %s: %w; GET /api/permissions?session= lists them", id,
			eventlog.ErrNotFound)
	}
	return empty{}, nil
}

func (c *consents) hooks(*http.Request, empty) (hookList, error) {
	return hookList{listed(c.terms.Hooks)}, nil
}

func decide(r *http.Request, sess *session.Session, in consent.Decision) (empty, error) {
	switch {
	case in.Decision != event.Allow && in.Decision != event.Deny:
		return empty{}, invalid("invalid", "The decision must be allow or deny.")
	case in.Scope != "" && in.Scope != event.Once && in.Scope != event.ForSession &&
		in.Scope != event.ForWorkspace:
		return empty{}, invalid("invalid", "The scope must be once, session or workspace.")
	}
	return empty{}, sess.Decide(r.Context(), chi.URLParam(r, "requestId"), in)
}

type answerRequest struct {
	Answer      string `json:"answer"`
	WasFreeform bool   `json:"wasFreeform,omitempty"`
}

func answer(r *http.Request, sess *session.Session, in answerRequest) (empty, error) {
	return empty{}, sess.Answer(r.Context(), chi.URLParam(r, "requestId"), in.Answer)
}

// grants lists what was allowed for the session of ?session= and for its workspace; if none is
// given, for all workspaces.
func (c *consents) grants(r *http.Request) ([]grantShape, error) {
	all, workspace := []grantShape{}, ""
	if id := eventlog.ID(r.URL.Query().Get("session")); id != "" {
		sess, err := c.sessions.Get(r.Context(), id)
		if err != nil {
			return nil, err
		}
		workspace = sess.Summary().Workspace
		for _, g := range sess.Summary().Open.Grants {
			all = append(all, grantShape{g.ID, g.Text, event.ForSession, workspace, id,
				event.Time(time.UnixMilli(g.At))})
		}
	}
	if c.kept != nil {
		for _, g := range c.kept.List(sessions.UserOf(r.Context())) {
			if workspace == "" || g.Workspace == workspace {
				all = append(all, grantShape{g.ID, g.Text, event.ForWorkspace, g.Workspace,
					eventlog.ID(g.Session), event.Time(g.At)})
			}
		}
	}
	return all, nil
}

// page is the same for a person.
func (c *consents) page(w http.ResponseWriter, r *http.Request) error {
	grants, err := c.grants(r)
	if err != nil {
		return err
	}
	v := page.Consent{Mode: string(c.terms.Mode), Timeout: c.terms.Timeout}
	for _, rule := range c.terms.Rules {
		v.Rules = append(v.Rules, rule.term())
	}
	for _, g := range grants {
		v.Grants = append(v.Grants, page.Given{
			ID:           g.ID,
			Text:         g.Text,
			ForWorkspace: g.Scope == event.ForWorkspace,
			Workspace:    g.Workspace,
			Session:      string(g.Session),
			At:           time.Time(g.At),
		})
	}
	for _, h := range c.terms.Hooks {
		about := h.Event
		if h.Matcher != "" {
			about += " of " + h.Matcher
		}
		v.Hooks = append(v.Hooks, page.Term{Verdict: "run", About: about, Text: h.Command})
	}
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return c.pages.Consent(b, v)
	})
}

// term is the rule as a line of the page.
func (r Rule) term() page.Term {
	t := page.Term{Verdict: string(r.Decision), About: r.Tool, Text: r.Command + r.Path}
	if t.About == "" {
		t.About = string(r.Kind)
	}
	var more []string
	if r.Prefix != "" {
		t.Text = r.Prefix
		more = append(more, "one command that begins so, without words such as @FILE")
	}
	if r.Cwd != "" {
		more = append(more, "in "+r.Cwd)
	}
	if r.Builtin {
		t.Text += r.Covers
		more = append(more, "built in, behind your rules; sensitive files are asked about")
	}
	t.Note = strings.Join(more, ", ")
	return t
}

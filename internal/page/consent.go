package page

import (
	"io"
	"time"

	"webchat/internal/wording"
)

// Consent is what agents may do, by the user's configuration and answers.
type Consent struct {
	Mode    string        // ask, allow or deny
	Timeout time.Duration // how long a question waits
	Rules   []Term
	Grants  []Given // what the user allowed for the session and for workspaces
	Hooks   []Term
}

// Term is one line of it.
type Term struct {
	Verdict string // allow, ask, deny; for hooks: run
	About   string // a tool, a kind of acts, a moment
	Text    string // the exact command or path; empty: all
	Note    string // what else there is to say
}

// Given is something the user allowed beyond one act.
type Given struct {
	ID, Text           string
	ForWorkspace       bool // else for the session
	Workspace, Session string
	At                 time.Time
}

// When says when it was given.
func (g Given) When() string { return g.At.UTC().Format("2 Jan 2006, 15:04 UTC") }

// Rest says what happens to what no rule decides.
func (c Consent) Rest() string {
	switch c.Mode {
	case "allow":
		return "Everything else is allowed without asking, except keys and passwords, what is outside " +
			"the workspace, and files that run later without a question."
	case "deny":
		return "Everything else is denied."
	}
	return "You are asked before anything else. It is denied if you do not answer within " +
		wording.Span(c.Timeout) + "."
}

// Consent writes the inside of the dialog that shows c.
func (p *Pages) Consent(w io.Writer, c Consent) error { return p.write(w, "consent", c) }

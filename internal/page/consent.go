package page

import (
	"html/template"
	"io"
	"time"

	"webchat/internal/render"
)

// Consent is what agents may do, by the user's configuration and answers.
type Consent struct {
	Mode    string        // ask, allow or deny
	Timeout time.Duration // how long a question waits
	Rules   []Term
	Granted []Term // what the user allowed for the session
	Hooks   []Term
}

// Term is one line of it.
type Term struct {
	Verdict string // allow, ask, deny; for hooks: run
	About   string // a tool, a kind of acts, a moment
	Text    string // the exact command or path; empty: all
}

// Exact is the text with nothing hidden.
func (t Term) Exact() template.HTML { return render.Visible(t.Text) }

// Rest says what happens to what no rule decides.
func (c Consent) Rest() string {
	switch c.Mode {
	case "allow":
		return "Everything else is allowed without asking, but for keys and passwords."
	case "deny":
		return "Everything else is denied."
	}
	return "Everything else asks you, and is denied after " + span(c.Timeout) + "."
}

// Consent writes the inside of the dialog that shows c.
func (p *Pages) Consent(w io.Writer, c Consent) error { return p.write(w, "consent", c) }

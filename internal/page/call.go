package page

import (
	"encoding/json"
	"html/template"
	"slices"
	"strings"
	"time"

	"webchat/internal/displays"
	"webchat/internal/event"
	"webchat/internal/render"
	"webchat/internal/views"
	"webchat/internal/wording"
)

// maxShown is how many bytes of arguments and results an unfolded row has.
const maxShown = 16 << 10

// Call is a tool call: a row, or for a display tool the card of its output.
type Call struct {
	ID, Tool string
	Kind     string // of card: file, terminal, image; empty for a row
	Args     json.RawMessage
	By       event.Actor
	Agent    string          // the helper agent that works in it
	State    string          // starting, running, done, failed
	Output   string          // its id
	Line     string          // what the model read; of a failure, what the user reads of it
	Log      string          // what only the user reads
	Edits    []event.Edit    // what that says of files
	Fault    event.ToolError // why it failed
	Partial  string          // what a foreign tool wrote so far
	// for the answers to questions about it, which does not count as its own time
	Waited   time.Duration
	Took     time.Duration // without what it waited
	Tokens   int64         // that what the model read costs
	Asked    int           // open questions about it
	Refused  bool
	Allowed  answers   // the questions whose answers allowed it
	Rewrites []rewrite // what hooks changed in its arguments

	Given       given // what of the output the user let the agent read
	Telemetry   Telemetry
	Fingerprint *event.Fingerprint
	ShownAt     time.Time
	again       *reread // what stands in the output's place, once it was read again
	former      []revision
	before      *Call // the display of the same before it, and the one after it
	later       *Call
	Progress    event.ToolExecutionProgress
	StartedAt   time.Time
	EndedAt     time.Time // when it was over
	endSeq      int64     // the event by which it was
	DeletedAt   time.Time // when the user deleted its output; zero: not
	Rev         int64     // changes whenever the card does, so that a page may keep the one it has
	Gone        bool      // its turn is no longer kept
	Early       bool      // its start was not seen, a helper agent's was
	Live        bool      // while it is rendered for a page that keeps what it follows
	From        int64     // the first event of its turn
	Element     string
	In          *scope
	Rewritten   json.RawMessage // its arguments as hooks left them; nil: as they came
}

// revision is an output that stood in the place of a call's before.
type revision struct {
	output string
	at     time.Time
	agent  bool // the agent changed the file to this
}

// mostRevisions is how many are remembered of a file, the first among them.
const mostRevisions = 12

// Revisions is what the file was when, oldest first, as far as it can be read: for each its output,
// the time, and what made it. Empty: they are not to be compared.
func (c *Call) Revisions() string {
	if c.Kind != displays.File || !views.Comparable(c.Telemetry.Bytes) {
		return ""
	}
	var all []string
	now := revision{c.Output, c.StartedAt, false}
	if c.again != nil {
		now = revision{c.Output, c.again.at, c.again.agent}
	}
	for i, r := range append(slices.Clone(c.former), now) {
		if _, ok := c.In.Outputs.Output(r.output); !ok {
			continue
		}
		by := "disk"
		switch {
		case i == 0:
			by = "shown"
		case r.agent:
			by = "agent"
		}
		all = append(all, r.output+" "+c.In.clock(r.at)+" "+by)
	}
	return strings.Join(all, ";")
}

// reread is what is known of a file that was read again.
type reread struct {
	telemetry   Telemetry
	fingerprint *event.Fingerprint
	at          time.Time
	agent       bool // the agent had changed it
}

// now is the call as its output is now: that of a file that was read again is compared with the
// first showing, which keeps its figures.
func (c *Call) now() *Call {
	if c.again == nil {
		return c
	}
	d := *c
	d.Telemetry, d.Fingerprint, d.EndedAt, d.before = c.again.telemetry, c.again.fingerprint,
		c.again.at, nil
	if c.Fingerprint != nil && d.Fingerprint != nil {
		d.before = c
	}
	return &d
}

// Reread reports whether the file was read again since it was shown.
func (c *Call) Reread() bool { return c.again != nil }

// Rereadable reports whether what the call showed is a file, or a result in the log, that can be
// read again; its turn is kept.
func (c *Call) Rereadable() bool {
	return c.Done() && !c.Gone && c.Output != "" && c.DeletedAt.IsZero() && toolOf(c.Tool).Rereads
}

// Telemetry is what a display tool says beside its result.
type Telemetry struct {
	OutputType      string `json:"outputType"`
	Bytes           int64  `json:"bytes"`
	Lines           int64  `json:"lines"`
	TokensShown     int64  `json:"tokensShown"`
	TokensSent      int64  `json:"tokensSent"`
	TokensEstimated bool   `json:"tokensEstimated"`
	LeftOut         string `json:"leftOut"` // lines that the model did not get, "A-B"
	ExitCode        *int   `json:"exitCode"`
}

// toolOf is the display tool of a name; the zero tool for others.
func toolOf(name string) displays.Tool {
	t, _ := displays.ToolOf(name)
	return t
}

// Is is the kind of what the call shows.
func (c *Call) Is() displays.Kind { return displays.KindOf(c.Kind) }

// Repeats is the label of calling it again; empty if that does nothing.
func (c *Call) Repeats() string {
	if toolOf(c.Tool).Acts {
		return c.Is().Again
	}
	return ""
}

// Done reports whether it is over.
func (c *Call) Done() bool { return c.State == "done" || c.State == "failed" }

// Since is when it began, without what it waited for answers.
func (c *Call) Since() time.Time { return c.StartedAt.Add(c.Waited) }

// Hidden says that a question or its answer stands for the call.
func (c *Call) Hidden() bool { return c.Asked > 0 || c.Refused }

// El is the id of the row or card.
func (c *Call) El() string { return c.Element + ".r" }

// opened is what the user did to see it, for screen readers: it has no prompt.
func (c *Call) opened() string {
	if c.Is().Plain && !toolOf(c.Tool).Logged {
		return "You ran " + wording.Plain(c.Name())
	}
	return "You opened " + wording.Plain(c.Name())
}

// announced is what is heard once a call has shown something: of what a person opened, that it is
// there.
func announced(c *Call) string {
	if c.By == event.ByUser && c.State == "done" && !c.Is().Plain {
		return wording.Plain(c.Name()) + " is on the Desk"
	}
	return wording.FirstLine(c.Line, 200)
}

// Reading reports whether the call is a file whose beginning is there while the rest is read.
func (c *Call) Reading() bool { return c.Kind == displays.File && c.State == "running" }

// Following is the line below a command that runs, or a file that is read.
func (c *Call) Following() string {
	p, s := c.Progress, "Following · "
	if c.Kind == displays.File {
		s = "Reading · "
	}
	s += wording.Plural(p.Lines, "line")
	if p.ElapsedMs > 0 && p.Bytes > 0 {
		s += " · " + wording.Size(p.Bytes*1000/p.ElapsedMs) + "/s"
	}
	return s
}

// Elapsed is how long it has been running.
func (c *Call) Elapsed() string {
	return wording.Clock(time.Duration(c.Progress.ElapsedMs) * time.Millisecond)
}

// action is a button that resolves what a card says.
type action struct {
	Act, Label, Icon, Data string
	// of what is saved when it is pressed; then it works without scripts, too
	Href  string
	Quiet bool // not the first choice
}

// rewrite is what a hook put in the place of something else.
type rewrite struct {
	Command  string // of the hook
	Was, Now template.HTML
}

// newRewrite returns one, with nothing hidden in either.
func newRewrite(command, was, now string) rewrite {
	return rewrite{
		Command: wording.Plain(command),
		Was:     render.Visible(cut(was)),
		Now:     render.Visible(cut(now)),
	}
}

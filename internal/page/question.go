package page

import (
	"cmp"
	"html/template"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"webchat/internal/event"
	"webchat/internal/render"
	"webchat/internal/wording"
)

// Ask is a question: may the agent act, or what does it want to know. While it
// waits it stands in the dock above the composer, and a row marks its place in the
// transcript.
type Ask struct {
	event.PermissionRequested                          // of a question of the agent's only the ids
	Input                     event.UserInputRequested // that; else zero
	Decided                   event.PermissionCompleted
	Answer                    event.UserInputCompleted
	Answered                  bool
	AnsweredAt                time.Time

	Reached event.BudgetReached // of a question about that
	Beside  []string            // of what it writes, what others change
	Who     string              // the backend that asks
	// ByPrompt says that a backend without a model asks, which does what the prompt says.
	ByPrompt bool
	Asked    time.Time
	In       *scope
	Row      string // the id of its row in the transcript
	About    *Call  // the call it belongs to, once that is known
	Rev      int64  // changes whenever the question does
}

// IsPermission reports which of the two kinds it is.
func (a *Ask) IsPermission() bool { return a.Input.Question == "" }

// ByUser reports whether it is about a call of the user's own, of which no agent reads anything.
func (a *Ask) ByUser() bool {
	return a.Page == "" && a.About != nil && a.About.By == event.ByUser
}

// ofUser reports whether the user asked for the act in so many words.
func (a *Ask) ofUser() bool {
	return a.IsPermission() && a.Page == "" && (a.ByPrompt || a.ByUser())
}

// Cancelled reports whether the agent's question ended without an answer.
func (a *Ask) Cancelled() bool {
	return a.Answer.By == event.DecidedByAbort || a.Answer.By == event.DecidedByTimeout
}

// Expires is when it is denied; zero if it waits.
func (a *Ask) Expires() time.Time { return time.Time(a.ExpiresAt) }

// Timed reports whether it ends by itself.
func (a *Ask) Timed() bool { return !a.Expires().IsZero() }

// Allowed reports whether the act may happen.
func (a *Ask) Allowed() bool { return a.Decided.Decision == event.Allow }

// Head is the question in one line.
func (a *Ask) Head() string {
	if !a.IsPermission() {
		return a.Who + " asks you"
	}
	if a.Later() {
		return "The agent made"
	}
	if a.Host() {
		return a.wants() + " wants"
	}
	if a.Budget() {
		if a.Reached.Of == event.BudgetOfDay {
			return "Past the budget of today"
		}
		return "Past the budget of this session"
	}
	if a.Page != "" {
		return wording.Plain(a.Page) + " (its page) wants to " + wording.Plain(a.Action)
	}
	if a.ofUser() {
		return "You asked to " + wording.Plain(a.Action)
	}
	return a.Who + " asks to " + wording.Plain(a.Action)
}

// What is what would be done in one line.
func (a *Ask) What() string {
	if !a.IsPermission() {
		return wording.Plain(a.Input.Question)
	}
	name := a.Resource
	if a.Kind == "write" {
		name = a.In.inWorkspace(name)
	}
	what := wording.Plain(name)
	if n := len(a.Resources) - 1; n > 0 {
		what += " and " + wording.Count(n) + " more"
	}
	return what
}

// Base is the same without the folders of a file.
func (a *Ask) Base() string {
	if a.Kind != "write" {
		return a.What()
	}
	_, base := splitPath(a.What())
	return base
}

// thing is one of several that an act is about, with nothing hidden.
type thing struct {
	What    template.HTML // with its verb
	Leads   template.HTML // where its links lead, if elsewhere
	Outside bool          // of the workspace
}

// Things are all that the act is about, if they are several.
func (a *Ask) Things() (all []thing) {
	for _, r := range a.Resources {
		t := thing{What: render.Visible(a.In.kept(r.Action + ": " + r.Resource))}
		if a.leads(r.Resource, r.Target) {
			t.Leads, t.Outside = render.Visible(r.Target), a.outside(r.Target)
		}
		all = append(all, t)
	}
	return all
}

// Leads is where the links of a path lead, if it is another place than the path
// says; nothing is hidden in it. Of several things [Ask.Things] says it.
func (a *Ask) Leads() template.HTML {
	if len(a.Resources) > 0 || !a.leads(a.Resource, a.Target) {
		return ""
	}
	return render.Visible(a.In.kept(a.Resource + " → " + a.Target))
}

// leads reports whether a path leads to another place than it says.
func (a *Ask) leads(name, target string) bool {
	return target != "" && target != name && target != filepath.Join(cmp.Or(a.Cwd, a.In.Cwd), name)
}

// Outside reports whether that place is outside of the workspace.
func (a *Ask) Outside() bool { return a.outside(a.Target) }

func (a *Ask) outside(target string) bool {
	rel, err := filepath.Rel(a.In.Cwd, target)
	return err != nil || !filepath.IsLocal(rel)
}

// Length says how long the command or the change is.
func (a *Ask) Length() string {
	text := cmp.Or(a.Diff, a.Resource)
	if len(a.Resources) > 0 {
		text = a.Diff
		for _, r := range a.Resources {
			text = r.Resource + "\n" + text
		}
	}
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	return wording.Plural(lines, "line") + ", " +
		wording.Plural(utf8.RuneCountInString(text), "character")
}

// hidden is a character that would not be seen as it is, and what it does.
type hidden struct{ Code, Does string }

// mostHidden is how many kinds of them are named.
const mostHidden = 4

var tag = regexp.MustCompile(`class="vis">([^<]+)<`)

// Hides are the characters that would not be seen as they are, each once.
func (a *Ask) Hides() (all []hidden) {
	shown := render.Visible(a.Cwd) + a.Leads()
	for _, t := range a.Things() {
		shown += t.What + t.Leads
	}
	if len(a.Resources) == 0 {
		shown += render.Visible(a.Resource)
	}
	for _, m := range tag.FindAllStringSubmatch(string(shown), -1) {
		h := hidden{m[1], does(m[1])}
		switch {
		case slices.Contains(all, h):
		case len(all) == mostHidden:
			return append(all, hidden{Does: "and others, each shown as its code."})
		default:
			all = append(all, h)
		}
	}
	return all
}

// does says what a character of a code does to what is read.
func does(code string) string {
	r, _ := strconv.ParseInt(strings.TrimPrefix(code, "U+"), 16, 32)
	switch {
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x61c:
		return "reverses the text after it on the screen."
	case r >= 0x200b && r <= 0x200d, r == 0x2060, r == 0xfeff, r == 0xad:
		return "is invisible."
	case r == 0x1b:
		return "starts a terminal control sequence."
	case strings.HasPrefix(code, "0x"):
		return "is a byte that is not text."
	}
	return "looks like something else."
}

// WhyAsk is why it is asked.
func (a *Ask) WhyAsk() string { return cmp.Or(a.Why, "No rule and nothing you allowed covers it.") }

// Reveals names the file of keys or passwords that it is about, in a sentence without its end;
// empty if none is known.
func (a *Ask) Reveals() string {
	if a.Secret == nil {
		return ""
	}
	return wording.Plain(a.Secret.File) + " " + a.Secret.Looks
}

// Short is what a grant covers, without the text that stands above.
func (a *Ask) Short(g event.Grant) string {
	if head, _, ok := strings.Cut(g.Text, ": `"); ok && strings.HasPrefix(g.Text, "this ") &&
		strings.Contains(head, ", exactly") {
		return head
	}
	return g.Text
}

// Wider says what the wider grants leave out.
func (a *Ask) Wider() string {
	switch len(a.Grants) {
	case 0, 1:
		return ""
	case 2:
		return "The wider choice still asks about secrets, paths outside this folder and hidden " +
			"characters."
	}
	return "The wider choices still ask about secrets, paths outside this folder and hidden " +
		"characters."
}

// Searched is what a search looks for, taken from its call; else empty.
func (a *Ask) Searched() template.HTML {
	if a.About == nil {
		return ""
	}
	return render.Visible(a.In.kept(a.About.arguments().searches(a.About.Tool)))
}

// Left is the time until it is denied.
func (a *Ask) Left() string { return wording.Clock(max(0, a.Expires().Sub(a.In.Now()))) }

// Drain is the width of the bar that empties until then.
func (a *Ask) Drain() string {
	whole, left := a.Expires().Sub(a.Asked), a.Expires().Sub(a.In.Now())
	if whole <= 0 || left <= 0 {
		return "0%"
	}
	return strconv.FormatInt(int64(min(100, 100*left/whole)), 10) + "%"
}

// Because is the reason behind a refusal.
func (a *Ask) Because() string {
	switch {
	case a.Allowed():
		return ""
	case a.Decided.By == event.DecidedByTimeout:
		return "no answer within " + wording.Span(a.Expires().Sub(a.Asked))
	}
	return a.Decided.Reason // of an end, too: of the turn, or of webchat
}

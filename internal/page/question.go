package page

import (
	"cmp"
	"html/template"
	"path/filepath"
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
	Request, Call string
	Who           string // the backend that asks
	Answered      bool

	// A permission.
	Tool, Kind, Action, Resource, Target, Cwd, Why, Digest string
	Diff                                                   string
	Resources                                              []event.Resource // all it is about, if they are several
	Withheld                                               []string         // names of variables the command does not get
	Sensitive                                              bool             // it can only be allowed once
	Grants                                                 []event.Grant
	Decision                                               event.Decision
	Scope                                                  event.Scope
	Grant                                                  *event.Grant // what was given, or what allows it
	Rule                                                   *event.Rule  // that decided
	Reason                                                 string
	By                                                     event.Decider
	Asked, Expires                                         time.Time

	// An agent's question.
	Question  string
	Detail    template.HTML // what it is about, such as a plan
	Choices   []string
	Freeform  bool
	Answer    string
	Cancelled bool

	In    *scope
	Row   string // the id of its row in the transcript
	About *Call  // the call it belongs to, once that is known
	Rev   int64  // changes whenever the question does
}

// Open reports whether it waits for an answer.
func (a *Ask) Open() bool { return !a.Answered }

// IsPermission tells the two kinds apart.
func (a *Ask) IsPermission() bool { return a.Question == "" }

// thing is one of several that an act is about, with nothing hidden.
type thing struct {
	What    template.HTML // with its verb
	Leads   template.HTML // where its links lead, if elsewhere
	Outside bool          // of the workspace
}

// Things are all that the act is about, if they are several.
func (a *Ask) Things() (all []thing) {
	for _, r := range a.Resources {
		t := thing{What: render.Visible(r.Action + ": " + r.Resource)}
		if a.leads(r.Resource, r.Target) {
			t.Leads, t.Outside = render.Visible(r.Target), a.outside(r.Target)
		}
		all = append(all, t)
	}
	return all
}

// Length says how long the command or the change is.
func (a *Ask) Length() string {
	text := a.Diff
	if text == "" {
		text = a.Resource
	}
	if len(a.Resources) > 0 {
		var all strings.Builder
		for _, r := range a.Resources {
			all.WriteString(r.Resource + "\n")
		}
		text = all.String() + a.Diff
	}
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	return wording.Plural(lines, "line") + ", " + wording.Plural(utf8.RuneCountInString(text), "character")
}

// What is the same in one line.
func (a *Ask) What() string {
	if !a.IsPermission() {
		return wording.Plain(a.Question)
	}
	what := wording.Plain(a.Resource)
	if n := len(a.Resources) - 1; n > 0 {
		what += " and " + wording.Count(n) + " more"
	}
	return what
}

// Leads is where the links of a path lead, if it is another place than the path
// says; nothing is hidden in it. Of several things Command says it.
func (a *Ask) Leads() template.HTML {
	if len(a.Resources) > 0 || !a.leads(a.Resource, a.Target) {
		return ""
	}
	return render.Visible(a.Resource + " → " + a.Target)
}

// leads reports whether a path leads to another place than it says.
func (a *Ask) leads(name, target string) bool {
	return target != "" && target != name && target != filepath.Join(cmp.Or(a.Cwd, a.In.Cwd), name)
}

// Outside reports whether that place is outside of the workspace.
func (a *Ask) Outside() bool { return a.outside(a.Target) }

func (a *Ask) outside(target string) bool {
	rel, err := filepath.Rel(a.In.Cwd, target)
	return err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Held are the names of the variables the command does not get.
func (a *Ask) Held() template.HTML { return render.Visible(strings.Join(a.Withheld, ", ")) }

// Changes are what a write would change.
func (a *Ask) Changes() template.HTML { return render.Diff(a.Diff) }

// Hides says how many characters would not be seen as they are.
func (a *Ask) Hides() string {
	n := strings.Count(string(render.Visible(a.Cwd)), `class="vis"`)
	for _, t := range append(a.Things(), thing{Leads: a.Leads()}) {
		n += strings.Count(string(t.What+t.Leads), `class="vis"`)
	}
	if len(a.Resources) == 0 {
		n += strings.Count(string(render.Visible(a.Resource)), `class="vis"`)
	}
	if n == 0 {
		return ""
	}
	if n == 1 {
		return "1 invisible character is shown as its code."
	}
	return wording.Count(n) + " invisible characters are shown as their codes."
}

// Searched is what a search looks for, taken from its call; else empty.
func (a *Ask) Searched() template.HTML {
	if a.About == nil {
		return ""
	}
	return render.Visible(a.About.Searches())
}

// Rewrites are what hooks changed in the call the question is about.
func (a *Ask) Rewrites() []rewrite {
	if a.About == nil {
		return nil
	}
	return a.About.Rewrites
}

// Left is the time until it is denied.
func (a *Ask) Left() string { return wording.Clock(max(0, a.Expires.Sub(a.In.Now()))) }

// Drain is the width of the bar that empties until then.
func (a *Ask) Drain() string {
	whole, left := a.Expires.Sub(a.Asked), a.Expires.Sub(a.In.Now())
	if whole <= 0 || left <= 0 {
		return "0%"
	}
	return itoa(int64(min(100, 100*left/whole))) + "%"
}

// Timed reports whether it ends by itself.
func (a *Ask) Timed() bool { return !a.Expires.IsZero() }

// Head is the question in one line.
func (a *Ask) Head() string {
	if !a.IsPermission() {
		return a.Who + " asks you"
	}
	return a.Who + " asks to " + wording.Plain(a.Action)
}

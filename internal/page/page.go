package page

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"webchat/internal/displays"
	"webchat/internal/event"
	"webchat/internal/render"
	"webchat/internal/render/markdown"
	"webchat/internal/tokens"
	"webchat/internal/veil"
	"webchat/internal/views"
	"webchat/internal/wording"
	"webchat/web"
)

// Config is what pages need to know. Outputs is needed; the rest has a default.
type Config struct {
	Outputs   Outputs
	Home      string        // the user's home folder, written as ~; empty: unknown
	Base      string        // path before all of the server's paths, such as /webchat; usually empty
	OutputTTL time.Duration // 0: 30 minutes
	Budget    int64         // bytes that all outputs together may take; 0: unknown
	Turns     int           // how many turns a page shows, fewer when long ones are opened; 0: 40
	Location  *time.Location
	Now       func() time.Time
	Prices    func(model string) tokens.Prices
	// Limit is the budget of sessions without one of their own.
	Limit event.Budget
	// NoModel are the backends that answer without a model.
	NoModel []string
	// Models are those of sessions that name none, by their backends; of others they are the
	// agents' own.
	Models map[string]string
	// Elsewhere are the backends whose agents run in another program, where they are
	// prompted.
	Elsewhere []string
	// Title is what a session is called; empty if there is none of that id. nil: nothing is known.
	Title func(sessionID string) string
	// Editor is the address that opens a file in the user's editor, with {path} and {line};
	// empty: none.
	Editor string
	// ConfigFile is the path of the configuration file, for who runs the server; empty: unknown.
	ConfigFile string
	// Shared says that people sign in as themselves.
	Shared bool
	// Unveiled says that what looks like a secret is shown as it is.
	Unveiled bool

	started time.Time // when what holds the outputs started
}

// Outputs is what a page needs of the stored outputs. It is called often, and
// concurrently.
type Outputs interface {
	// Output returns what is stored under an id; false when its life is over or
	// it never was. If it had to make room, EvictedAt says when.
	Output(id string) (views.Output, bool)
}

// Pages writes pages and makes projectors.
type Pages struct {
	*Config
	tmpl    func() *template.Template // parsed when first asked for
	small   func() *template.Template // what signs in and errors need, which the first page often is
	lines   int                       // of an output that are shown; 0: those of a card
	file    *Pages                    // those of a file that stands alone
	replays *Pages                    // those of a replay
}

// New makes pages, whose templates are parsed when they are asked for first: all of them take
// longer than all else that a start waits for.
func New(cfg Config) (*Pages, error) {
	if cfg.Outputs == nil {
		return nil, errors.New("page: no outputs given")
	}
	if cfg.OutputTTL <= 0 {
		cfg.OutputTTL = 30 * time.Minute
	}
	if cfg.Turns <= 0 {
		cfg.Turns = 40
	}
	if cfg.Location == nil {
		cfg.Location = time.Local
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Prices == nil {
		cfg.Prices = func(string) tokens.Prices { return tokens.Prices{} }
	}
	cfg.started = cfg.Now()
	p := &Pages{Config: &cfg, tmpl: cfg.parsed(""),
		small: cfg.parsed("", "templates/layout.html", "templates/sprite.html", "templates/parts.html",
			"templates/pages/small.html")}
	p.file = cfg.apart("export", exportLines)
	p.replays = cfg.apart("replay", headLines)
	return p, nil
}

// apart returns pages whose templates in a folder replace others of the same name.
func (c *Config) apart(folder string, lines int) *Pages {
	return &Pages{Config: c, tmpl: c.parsed(folder), lines: lines}
}

// parsed are the templates of some files, of all without any, and in place of others those in a
// folder, unless its name is empty.
func (c *Config) parsed(folder string, files ...string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		if len(files) == 0 {
			files = []string{"templates/*.html", "templates/pages/*.html", "templates/fragments/*.html"}
		}
		if folder != "" {
			files = append(files, "templates/"+folder+"/*.html")
		}
		t, err := web.Parse(template.New("page").Funcs(c.functions(folder != "")), files...)
		if err != nil { // a defect that tests find
			panic(fmt.Errorf("parse templates: %w", err))
		}
		reveal(t)
		return t
	})
}

// functions are those of the templates; a file that is kept holds no secret in its texts either.
func (c *Config) functions(keeps bool) template.FuncMap {
	whole := func(s string) string { return s }
	if keeps {
		whole = c.hide
	}
	shown := func(v any) any {
		if s, ok := textOf(v); ok && keeps {
			return whole(s)
		}
		return v
	}
	return template.FuncMap{
		"base":     func() string { return c.Base },
		"tables":   tables,
		"clock":    c.clock,
		"seconds":  func(t time.Time) string { return t.In(c.Location).Format("15:04:05") },
		"took":     wording.Took,
		"tilde":    func(path string) string { return wording.Tilde(path, c.Home) },
		"stamp":    func(t time.Time) string { return event.Time(t).String() },
		"count":    wording.Count[int64],
		"plural":   wording.Plural[int64],
		"plain":    wording.Plain,
		"spans":    spans,
		"markdown": func(text string) template.HTML { return markdown.HTML(whole(text)) },
		"visible":  func(text string) template.HTML { return render.Visible(whole(text)) },
		"quoted":   func(text string) template.HTML { return render.Quoted(whole(text)) },
		"veiled":   func() bool { return !c.Unveiled },
		"revealed": func(v any) any { return revealed(shown(v)) },
		"exact":    func(v any) any { return exact(shown(v)) },
	}
}

// tables is what the ES modules know of what can be shown, as JSON.
func tables() (string, error) {
	all, err := json.Marshal(map[string]any{"tools": displays.Tools, "kinds": displays.Kinds,
		"views": views.All})
	return string(all), err
}

// clock is a moment as a clock shows it.
func (c *Config) clock(t time.Time) string { return t.In(c.Location).Format("15:04") }

// noModel reports whether a backend answers without a model.
func (c *Config) noModel(backend string) bool { return slices.Contains(c.NoModel, backend) }

// elsewhere reports whether the agents of a backend run in another program.
func (c *Config) elsewhere(backend string) bool { return slices.Contains(c.Elsewhere, backend) }

// answers names who answers, for the composer.
func (c *Config) answers(backend, model string) string {
	switch {
	case model != "":
		return model
	case c.noModel(backend):
		return "No model"
	}
	return cmp.Or(c.Models[backend], "the default model")
}

func (p *Pages) write(w io.Writer, name string, data any) error {
	return execute(p.tmpl(), w, name, data)
}

func execute(t *template.Template, w io.Writer, name string, data any) error {
	if err := t.ExecuteTemplate(w, name, data); err != nil {
		return fmt.Errorf("write page %s: %w", name, err)
	}
	return nil
}

// render executes a fragment. Its data are this package's own, so it cannot
// fail for what a session holds; a template that does not fit is a defect that
// the tests of every kind of event find.
func (p *Pages) render(name string, data any) string {
	var b strings.Builder
	if err := p.write(&b, name, data); err != nil {
		panic(err)
	}
	return b.String()
}

// layout is what every page needs.
type layout struct {
	Static  string // folder of the static files
	Page    string // session, home, auth or error
	Session string
	Folder  string // the path of the page's workspace
	Editor  string // the address that opens a file in the user's editor
	Probe   bool   // signed out as far as the server could see
	Shared  bool   // people sign in as themselves
	Title   string
	Begins  string // the scripts to begin with
}

func (p *Pages) layout(page, title string) layout {
	return layout{Static: p.Base + web.Static(), Editor: p.Editor, Page: page, Title: title,
		Begins: strings.Join(web.Begins, " ")}
}

// Auth writes the page that signs in, with the link's token in the fragment of its address.
func (p *Pages) Auth(w io.Writer) error { return p.auth(w, false) }

// AuthInPlace writes it for a signed-out reader who asked for another page: a script first looks
// whether they are signed in after all, because a link from another site comes without its cookie.
func (p *Pages) AuthInPlace(w io.Writer) error { return p.auth(w, true) }

func (p *Pages) auth(w io.Writer, probe bool) error {
	l := p.layout("auth", "Sign in · webchat")
	l.Probe, l.Shared = probe, p.Config.Shared
	return execute(p.small(), w, "auth", l)
}

// Prepare parses the templates that the other pages need.
func (p *Pages) Prepare() { p.tmpl() }

// Problem is what a page of an error says.
type Problem struct {
	Status  int
	Heading string // what happened
	Text    string // what to do
}

// Error writes a page of an error.
func (p *Pages) Error(w io.Writer, e Problem) error {
	return execute(p.small(), w, "error", struct {
		layout
		Problem
	}{p.layout("error", e.Heading+" · webchat"), e})
}

// kept is a text of a page that is saved, or of a replay: what looks like a secret is dots there
// also in messages and questions.
func (p *Pages) kept(text string) string {
	if p.lines == 0 {
		return text
	}
	return p.hide(text)
}

// hide puts dots in place of what looks like a secret, unless that is shown.
func (c *Config) hide(text string) string {
	if c.Unveiled {
		return text
	}
	return veil.Hide(text)
}

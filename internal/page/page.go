package page

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
	"time"

	"webchat/internal/event"
	"webchat/web"
)

// Config is what pages need to know. Outputs is needed; the rest has a default.
type Config struct {
	Outputs   Outputs
	Home      string        // the user's home folder, written as ~; empty: unknown
	Base      string        // path before all of the server's paths, such as /webchat; usually empty
	OutputTTL time.Duration // 0: 30 minutes
	Budget    int64         // bytes that all outputs together may take; 0: not said
	Turns     int           // how many turns a page shows, fewer when long ones are opened; 0: 40
	Location  *time.Location
	Now       func() time.Time
	// Price is what a million tokens given to a model cost, and a million of its answers,
	// in dollars; 0 is unknown.
	Price func(model string) (in, out float64)
	// NoModel are the backends that answer without a model.
	NoModel []string
	// Elsewhere are the backends whose agents run in another program, where they are
	// prompted.
	Elsewhere []string
	// Editor is the address that opens a file in the user's editor, with {path} and {line}; empty: none.
	Editor string

	fold ProjectorConfig
}

// Pages writes pages and makes projectors.
type Pages struct {
	cfg    Config
	tmpl   *template.Template
	export func() *template.Template // the same for a file that stands alone, parsed when it is first asked for
}

// New parses the templates.
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
	if cfg.Price == nil {
		cfg.Price = func(string) (in, out float64) { return 0, 0 }
	}
	t, err := parse(cfg.Base)
	if err != nil {
		return nil, fmt.Errorf("parse templates: %w", err)
	}
	p := &Pages{cfg: cfg, tmpl: t, export: sync.OnceValue(func() *template.Template {
		x, err := parse(cfg.Base, "templates/export/*.html")
		if err != nil { // a defect that the tests of exports find
			panic(fmt.Errorf("parse the templates of an export: %w", err))
		}
		return x
	})}
	p.cfg.fold = ProjectorConfig{
		CardConfig: CardConfig{Outputs: cfg.Outputs, OutputTTL: cfg.OutputTTL, Budget: cfg.Budget, Location: cfg.Location, Now: cfg.Now, Started: cfg.Now()},
		Turns:      cfg.Turns, Price: cfg.Price, NoModel: cfg.NoModel, Elsewhere: cfg.Elsewhere, Write: p.write,
	}
	return p, nil
}

func parse(base string, also ...string) (*template.Template, error) {
	t := template.New("page").Funcs(template.FuncMap{"base": func() string { return base }, "revealed": revealed, "exact": exact})
	t, err := web.Parse(t, append([]string{"templates/*.html", "templates/pages/*.html", "templates/fragments/*.html"}, also...)...)
	if err == nil {
		reveal(t)
	}
	return t, err
}

// Projector returns what folds a session: feed it the log from its start
// (or from the start of a turn), then the events in flight, then what comes.
func (p *Pages) Projector(sessionID string) *Projector {
	return NewProjector(&p.cfg.fold, sessionID)
}

// ProjectorFrom returns a projector that keeps every turn from the one of event
// seq on, however many there are; 1 keeps all. It is for one page: what follows a
// session for long is a [Pages.Projector].
func (p *Pages) ProjectorFrom(sessionID string, seq int64) *Projector {
	pr := p.Projector(sessionID)
	pr.KeepFrom(seq)
	return pr
}

// Look writes the pane of a preview, which is in no log: of the entries that it would
// have there.
func (p *Pages) Look(w io.Writer, sessionID, target string, entries ...event.Entry) error {
	pr := p.Projector(sessionID)
	pr.Load(entries...)
	return pr.Preview(w, target)
}

// layout is what every page needs.
type layout struct {
	Static  string // folder of the static files
	Page    string // session, home, auth or error
	Session string
	Folder  string // the path of the page's workspace
	Editor  string // the address that opens a file in the user's editor
	Probe   bool   // signed out as far as the server could see
	Title   string
	Modules string // the scripts to begin with
}

func (p *Pages) layout(page, title string) layout {
	return layout{Static: p.cfg.Base + web.Static(), Editor: p.cfg.Editor, Page: page, Title: title, Modules: strings.Join(web.Modules(), " ")}
}

func (p *Pages) write(w io.Writer, name string, data any) error {
	if err := p.tmpl.ExecuteTemplate(w, name, data); err != nil {
		return fmt.Errorf("write page %s: %w", name, err)
	}
	return nil
}

// Auth writes the page that signs in: with the link's token in the fragment of
// its address, or as what a signed-out reader gets in place of any page.
// probe says that the reader asked for another page: a script first looks
// whether it is signed in after all, because a link from another site comes
// without its cookie.
func (p *Pages) Auth(w io.Writer, probe bool) error {
	l := p.layout("auth", "Sign in · webchat")
	l.Probe = probe
	return p.write(w, "auth", l)
}

// Problem is what a page of an error says.
type Problem struct {
	Status  int
	Heading string // what happened
	Text    string // what to do
	Request string // an id to find it in the server's log, if any
}

// Error writes a page of an error.
func (p *Pages) Error(w io.Writer, e Problem) error {
	return p.write(w, "error", struct {
		layout
		Problem
	}{p.layout("error", e.Heading+" · webchat"), e})
}
